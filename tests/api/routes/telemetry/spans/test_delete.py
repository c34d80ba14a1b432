"""Deleting a trace: gone everywhere at once, until it is sent again.

`crash/test_deletion.py` tests that it stays deleted.
"""

import asyncio
from typing import Any

import pytest

from spanwise.storage.telemetry.rollup.rollup import Rollup
from support.ids import new_trace_id
from support.service import Person, Service, assert_error
from support.telemetry import make_span

LLM = {"kind": "llm", "model": "made-up", "inputTokens": 10, "outputTokens": 5, "cost": 0.5}


@pytest.fixture
async def ann(service: Service) -> Person:
    return await service.sign_up()


def _whole_trace(trace_id: str) -> list[dict[str, Any]]:
    about = {"sessionId": "s", "agentName": "planner", "input": "a zebra crossing"}
    root = make_span(trace_id, **about)
    child = make_span(trace_id, parentSpanId=root["spanId"], **LLM)
    next_day = {"startTime": "2026-03-11T00:10:00Z"}
    late = make_span(trace_id, parentSpanId=root["spanId"], kind="tool", toolName="t", **next_day)
    return [root, child, late]


async def _send_all(person: Person, *trace_ids: str) -> None:
    """Send whole traces, each with a signal and a log record."""
    spans = [span for trace_id in trace_ids for span in _whole_trace(trace_id)]
    signals = [{"id": id_, "signalName": "n", "value": 1, "traceId": id_} for id_ in trace_ids]
    log = {"message": "a log", "timestamp": "2026-03-10T12:00:00Z"}
    logs = [{**log, "traceId": trace_id} for trace_id in trace_ids]
    # At the same time, to be one batch.
    await asyncio.gather(
        person.data("POST", "/spans", json={"spans": spans}),
        person.data("POST", "/signals/batch", json=signals),
        person.data("POST", "/logs", json={"logs": logs}),
    )


async def _traces_seen(person: Person, trace_id: str) -> dict[str, int]:
    """Count the occurrences of a trace per endpoint."""
    traces = await person.data("GET", "/spans/traces")
    found = await person.data("GET", "/spans/traces", params={"search": "zebra"})
    logs = await person.data("GET", "/logs")
    signals = await person.data("GET", "/signals", params={"agentId": "planner"})
    sessions = await person.data("GET", "/spans/sessions")
    return {
        "traces": sum(t["traceId"] == trace_id for t in traces),
        "search": sum(t["traceId"] == trace_id for t in found),
        "logs": sum(g["traceId"] == trace_id for g in logs),
        "signals": sum(s["traceId"] == trace_id for s in signals),
        "summary": sum(s["count"] for s in await person.data("GET", "/signals/summary")),
        "in sessions": sum(s["traceCount"] for s in sessions),
    }


async def test_a_deleted_trace_is_gone_everywhere_and_the_others_remain(
    service: Service, ann: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone, kept, rootless = new_trace_id(), new_trace_id(), new_trace_id()
    await _send_all(ann, gone, kept)
    orphan = make_span(rootless, parentSpanId="00f067aa0ba902b7", kind="llm", model="gone with it")
    await ann.data("POST", "/spans", json=orphan)
    period = {"startDate": "2026-03-01", "endDate": "2026-03-31"}

    async def totals() -> tuple[int, float]:
        metrics = await ann.data("GET", "/analytics/metrics", params=period)
        return metrics["totalTraces"], metrics["estimatedCost"]

    # A rollup that has the trace already.
    eager = Rollup(service.services.engine, quiet_seconds=0)
    monkeypatch.setattr(service.services.telemetry.analytics, "_rollup", eager)
    await service.services.ingest.pipeline.wait_until_visible()
    await eager.maintenance.update()
    assert await totals() == (2, 1)

    answer = await ann.data("DELETE", f"/spans/traces/{gone.upper()}")
    assert answer == {"id": gone, "deleted": True}
    await ann.data("DELETE", f"/spans/traces/{rootless}")
    assert await _traces_seen(ann, gone) == {
        "traces": 0,
        "search": 0,
        "logs": 0,
        "signals": 0,
        "summary": 1,
        "in sessions": 1,
    }
    assert set((await _traces_seen(ann, kept)).values()) == {1}
    for path in ("/spans/traces", "/signals/trace", "/logs/trace"):
        assert_error(await ann.call("GET", f"{path}/{gone}"), 404)
    assert_error(await ann.call("GET", f"/spans/traces/{rootless}"), 404)
    assert_error(await ann.call("DELETE", f"/spans/traces/{gone}"), 404)
    whole = await ann.data("GET", f"/spans/traces/{kept}")
    assert (len(whole["spans"]), len(whole["signals"]), whole["logCount"]) == (3, 1, 1)
    assert (await ann.data("GET", "/spans/filters"))["models"] == ["made-up"]

    assert await totals() == (1, 0.5)
    await eager.maintenance.update()
    assert await totals() == (1, 0.5)
    await ann.data("DELETE", f"/spans/traces/{kept}")
    assert not any((await ann.data("GET", "/spans/filters")).values())


async def test_a_trace_resent_after_its_deletion_has_only_the_new_span(ann: Person) -> None:
    """Requests in one batch keep their order."""
    trace_id = new_trace_id()
    await _send_all(ann, trace_id)
    for number in range(3):
        again = make_span(trace_id, name=f"try {number}", **LLM)
        await asyncio.gather(
            ann.data("DELETE", f"/spans/traces/{trace_id}"),
            ann.data("POST", "/spans", json=make_span()),
        )
        await ann.data("POST", "/spans", json=again)
    whole = await ann.data("GET", f"/spans/traces/{trace_id}")
    assert (whole["name"], whole["spanCount"], len(whole["spans"])) == ("try 2", 1, 1)
    assert (whole["signals"], whole["logCount"]) == ([], 0)
    [listed] = [t for t in await ann.data("GET", "/spans/traces") if t["traceId"] == trace_id]
    assert (listed["name"], listed["spanCount"], listed["cost"]) == ("try 2", 1, 0.5)


async def test_a_trace_of_another_workspace_cannot_be_deleted(
    service: Service, ann: Person
) -> None:
    bob = await service.sign_up()
    trace_id = new_trace_id()
    await _send_all(ann, trace_id)
    assert_error(await bob.call("DELETE", f"/spans/traces/{trace_id}"), 404)
    assert_error(await ann.call("DELETE", "/spans/traces/abc"), 400, "traceId")
    # Two workspaces may have traces with the same id.
    await _send_all(bob, trace_id)
    await bob.data("DELETE", f"/spans/traces/{trace_id}")
    assert set((await _traces_seen(ann, trace_id)).values()) == {1}
    assert set((await _traces_seen(bob, trace_id)).values()) == {0}
