"""Checks that responses match the ledger, whatever happened to the process."""

from typing import Any

import httpx

from crash.ledger import Expectation, Ledger

PAGE = 100


def read_all(http: httpx.Client, path: str) -> list[dict[str, Any]]:
    """Read all items of a list page by page, and check the total."""
    items: list[dict[str, Any]] = []
    while True:
        response = http.get(path, params={"limit": PAGE, "skip": len(items)}).raise_for_status()
        answer = response.json()
        items += answer["data"]
        if not answer["pagination"]["hasMore"]:
            assert answer["pagination"]["total"] == len(items), path
            return items


def check_promises(http: httpx.Client, ledger: Ledger) -> dict[str, int]:
    """Compare every list, total and sum with the ledger; returns the counts."""
    traces = check_traces(http, ledger)
    signals = read_all(http, "/signals")
    _check_set("signals", [s["id"] for s in signals], *ledger.signal_ids())
    logs = read_all(http, "/logs")
    _check_set("logs", [line["message"] for line in logs], *ledger.log_messages())
    (summary,) = http.get("/signals/summary").json()["data"] or [{"count": 0, "sum": 0}]
    assert summary["count"] == summary["sum"] == len(signals)
    return {"traces": traces, "signals": len(signals), "logs": len(logs)}


def check_traces(http: httpx.Client, ledger: Ledger) -> int:
    listed = read_all(http, "/spans/traces")
    stored = {trace["traceId"]: trace for trace in listed}
    assert len(stored) == len(listed), "a trace is listed twice"
    expected = ledger.traces()
    assert stored.keys() <= expected.keys(), "a trace was stored that was never sent"
    lost = [
        trace_id
        for trace_id, trace in expected.items()
        if trace_id not in stored and any(span.is_root for span in trace.kept.values())
    ]
    assert not lost, f"{len(lost)} acknowledged traces are lost, {lost[0]} among them"
    for trace_id, trace in stored.items():
        _check_trace(trace, expected[trace_id])
    _check_totals(http, listed)
    return len(listed)


def _check_trace(trace: dict[str, Any], expected: Expectation) -> None:
    trace_id = trace["traceId"]
    assert len(expected.kept) <= trace["spanCount"] <= len(expected.possible), trace_id
    least = sum(span.input_tokens for span in expected.kept.values())
    most = sum(span.input_tokens for span in expected.possible.values())
    assert least <= trace["inputTokens"] <= most, trace_id


def _check_totals(http: httpx.Client, listed: list[dict[str, Any]]) -> None:
    """Compare analytics totals with the list, beyond today: clocks may be a day ahead."""
    period = {"startDate": "2020-01-01", "endDate": "2100-01-01", "granularity": "monthly"}
    metrics = http.get("/analytics/metrics", params=period).raise_for_status().json()["data"]
    assert metrics["totalTraces"] == len(listed)
    assert metrics["totalTokens"] == sum(trace["totalTokens"] for trace in listed)
    cost = sum(trace["cost"] for trace in listed)
    assert abs(metrics["estimatedCost"] - cost) < 1e-6 * (1 + cost)


def _check_set(what: str, found: list[str], kept: set[str], possible: set[str]) -> None:
    assert len(found) == len(set(found)), f"{what}: duplicates"
    assert kept <= set(found), f"{what}: {len(kept - set(found))} acknowledged ones are lost"
    assert set(found) <= possible, f"{what}: stored but never sent"
