"""Deleting a trace: gone everywhere at once, permanently, until it is sent again."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from spanwise.storage.telemetry.rollup.rollup import Rollup
from support.ids import new_trace_id
from support.service import Person, Service, assert_error, start_service
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


async def _send_all(person: Person, trace_id: str) -> None:
    await person.data("POST", "/spans", json={"spans": _whole_trace(trace_id)})
    signal = {"id": trace_id, "signalName": "n", "value": 1, "traceId": trace_id}
    await person.data("POST", "/signals", json=signal)
    log = {"message": "a log", "traceId": trace_id, "timestamp": "2026-03-10T12:00:00Z"}
    await person.data("POST", "/logs", json=log)


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


async def test_a_deleted_trace_is_gone_everywhere_and_the_others_remain(ann: Person) -> None:
    gone, kept = new_trace_id(), new_trace_id()
    await _send_all(ann, gone)
    await _send_all(ann, kept)
    answer = await ann.data("DELETE", f"/spans/traces/{gone.upper()}")
    assert answer == {"id": gone, "deleted": True}
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
    assert_error(await ann.call("DELETE", f"/spans/traces/{gone}"), 404)
    whole = await ann.data("GET", f"/spans/traces/{kept}")
    assert (len(whole["spans"]), len(whole["signals"]), whole["logCount"]) == (3, 1, 1)


async def test_values_of_a_deleted_trace_leave_the_filter_menus(ann: Person) -> None:
    trace_id = new_trace_id()
    await _send_all(ann, trace_id)
    assert (await ann.data("GET", "/spans/filters"))["models"] == ["made-up"]
    await ann.data("DELETE", f"/spans/traces/{trace_id}")
    filters = await ann.data("GET", "/spans/filters")
    assert not any(filters.values())


async def test_existing_rollups_exclude_a_deleted_trace(
    service: Service, ann: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone, kept = new_trace_id(), new_trace_id()
    await _send_all(ann, gone)
    await _send_all(ann, kept)
    period = {"startDate": "2026-03-01", "endDate": "2026-03-31"}

    async def totals() -> tuple[int, float]:
        metrics = await ann.data("GET", "/analytics/metrics", params=period)
        return metrics["totalTraces"], metrics["estimatedCost"]

    eager = Rollup(service.services.engine, quiet_seconds=0)
    monkeypatch.setattr(service.services.analytics, "_rollup", eager)
    await service.services.pipeline.wait_until_visible()
    await eager.maintenance.update()
    assert await totals() == (2, 1)
    await ann.data("DELETE", f"/spans/traces/{gone}")
    assert await totals() == (1, 0.5)
    await eager.maintenance.update()
    assert await totals() == (1, 0.5)


async def test_a_deleted_trace_sent_again_has_only_the_new_spans(
    ann: Person,
) -> None:
    trace_id = new_trace_id()
    await _send_all(ann, trace_id)
    await ann.data("DELETE", f"/spans/traces/{trace_id}")
    await ann.data("POST", "/spans", json=make_span(trace_id, name="again", **LLM))
    [trace] = await ann.data("GET", "/spans/traces")
    assert (trace["name"], trace["spanCount"], trace["cost"]) == ("again", 1, 0.5)
    whole = await ann.data("GET", f"/spans/traces/{trace_id}")
    assert (len(whole["spans"]), whole["signals"], whole["logCount"]) == (1, [], 0)


async def test_a_trace_resent_after_its_deletion_has_only_the_new_span(ann: Person) -> None:
    """Requests in one batch keep their order."""
    trace_id = new_trace_id()
    await _send_all(ann, trace_id)
    for number in range(5):
        again = make_span(trace_id, name=f"try {number}")
        await asyncio.gather(
            ann.data("DELETE", f"/spans/traces/{trace_id}"),
            ann.data("POST", "/spans", json=make_span()),
        )
        await ann.data("POST", "/spans", json=again)
    whole = await ann.data("GET", f"/spans/traces/{trace_id}")
    assert (whole["name"], whole["spanCount"], len(whole["spans"])) == ("try 4", 1, 1)


async def test_a_trace_without_a_root_can_be_deleted(ann: Person) -> None:
    trace_id = new_trace_id()
    await ann.data("POST", "/spans", json=make_span(trace_id, parentSpanId="00f067aa0ba902b7"))
    await ann.data("DELETE", f"/spans/traces/{trace_id}")
    assert_error(await ann.call("GET", f"/spans/traces/{trace_id}"), 404)


async def test_another_workspace_cannot_delete_a_trace(service: Service, ann: Person) -> None:
    bob = await service.sign_up()
    trace_id = new_trace_id()
    await _send_all(ann, trace_id)
    assert_error(await bob.call("DELETE", f"/spans/traces/{trace_id}"), 404)
    # Two workspaces may have traces with the same id.
    await _send_all(bob, trace_id)
    await bob.data("DELETE", f"/spans/traces/{trace_id}")
    assert set((await _traces_seen(ann, trace_id)).values()) == {1}
    assert set((await _traces_seen(bob, trace_id)).values()) == {0}


async def test_deleting_needs_a_full_access_key_and_a_valid_id(
    service: Service, ann: Person
) -> None:
    trace_id = new_trace_id()
    await _send_all(ann, trace_id)
    for scope in ("read", "ingest"):
        secret = (await ann.new_key(scopes=[scope]))["key"]
        answer = await service.call_with_key(secret, "DELETE", f"/spans/traces/{trace_id}")
        assert_error(answer, 403)
    assert_error(await ann.call("DELETE", "/spans/traces/abc"), 400, "traceId")
    assert (await _traces_seen(ann, trace_id))["traces"] == 1


async def test_a_deleted_trace_stays_deleted_after_a_restart(tmp_path: Path) -> None:
    trace_id = new_trace_id()
    async with start_service(tmp_path) as service:
        ann = await service.sign_up()
        await _send_all(ann, trace_id)
        await ann.data("DELETE", f"/spans/traces/{trace_id}")
    async with start_service(tmp_path) as service:
        ann = await service.log_in(ann.email)
        assert set((await _traces_seen(ann, trace_id)).values()) == {0}
        await _send_all(ann, trace_id)
        assert set((await _traces_seen(ann, trace_id)).values()) == {1}
