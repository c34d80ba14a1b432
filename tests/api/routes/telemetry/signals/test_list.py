"""Listing signals: filters, pages, dates, isolation, and fields that come from traces."""

from pathlib import Path
from typing import Any

import pytest

from support.ids import new_trace_id
from support.service import Person, Service, assert_error, start_service
from support.telemetry import make_span


@pytest.fixture
async def ann(service: Service) -> Person:
    return await service.sign_up()


async def _ids(person: Person, **filters: Any) -> set[str]:
    return {s["id"] for s in await person.data("GET", "/signals", params=filters)}


async def _record(person: Person, *signals: dict[str, Any]) -> None:
    batch = [{"signalName": "rating", "value": 1, **signal} for signal in signals]
    await person.data("POST", "/signals/batch", json=batch)


ABOUT = {
    "agentName": "planner",
    "sessionId": "session 1",
    "userId": "user 1",
    "experimentId": "exp_1",
    "variant": "b",
}
FILTERS = {
    "agentId": "planner",
    "sessionId": "session 1",
    "userId": "user 1",
    "experimentId": "exp_1",
    "variant": "b",
}


@pytest.mark.parametrize("signal_first", [True, False])
async def test_missing_fields_of_a_signal_come_from_its_trace_in_either_order(
    ann: Person, *, signal_first: bool
) -> None:
    trace_id = new_trace_id()
    if signal_first:
        await _record(ann, {"id": "with", "traceId": trace_id}, {"id": "without"})
        [before] = await ann.data("GET", f"/signals/trace/{trace_id}")
        assert {before[name] for name in FILTERS} == {None}
        assert await _ids(ann, agentId="planner") == set()
    await ann.data("POST", "/spans", json=make_span(trace_id, **ABOUT))
    if not signal_first:
        await _record(ann, {"id": "with", "traceId": trace_id}, {"id": "without"})
    [agent] = (await ann.data("GET", "/spans/filters"))["agents"]
    for name, value in {**FILTERS, "agentId": agent["id"]}.items():
        assert await _ids(ann, **{name: value}) == {"with"}, name
        assert await _ids(ann, **{name: "another"}) == set(), name
        [summary] = await ann.data("GET", "/signals/summary", params={name: value})
        assert summary["count"] == 1, name
    assert await _ids(ann, agentId="planner") == {"with"}
    assert await _ids(ann, **FILTERS) == {"with"}
    [signal] = await ann.data("GET", f"/signals/trace/{trace_id}")
    assert {name: signal[name] for name in FILTERS} == {**FILTERS, "agentId": agent["id"]}


async def test_fields_of_a_signal_take_precedence_over_its_trace(ann: Person) -> None:
    trace_id = new_trace_id()
    await ann.data("POST", "/spans", json=make_span(trace_id, **ABOUT))
    own = {"agentId": "other", "sessionId": "s", "userId": "u", "experimentId": "e"}
    await _record(ann, {"id": "own", "traceId": trace_id, **own})
    [signal] = await ann.data("GET", "/signals")
    assert {name: signal[name] for name in own} == own
    # The trace has a variant of another experiment, so none of this one is known.
    assert signal["variant"] is None
    for name, value in FILTERS.items():
        assert await _ids(ann, **{name: value}) == set(), name
    for name, value in own.items():
        assert await _ids(ann, **{name: value}) == {"own"}, name


async def test_a_signal_of_the_same_experiment_gets_the_variant_of_its_trace(ann: Person) -> None:
    trace_id = new_trace_id()
    await ann.data("POST", "/spans", json=make_span(trace_id, **ABOUT))
    await _record(ann, {"id": "a", "traceId": trace_id, "experimentId": "exp_1"})
    assert await _ids(ann, experimentId="exp_1", variant="b") == {"a"}


async def test_a_late_span_that_changes_the_trace_changes_its_signals(ann: Person) -> None:
    trace_id = new_trace_id()
    root = make_span(trace_id)
    await ann.data("POST", "/spans", json=root)
    await _record(ann, {"id": "a", "traceId": trace_id})
    assert await _ids(ann, sessionId="late") == set()
    late = make_span(trace_id, parentSpanId=root["spanId"], sessionId="late")
    await ann.data("POST", "/spans", json=late)
    assert await _ids(ann, sessionId="late") == {"a"}


async def test_an_agent_may_be_given_by_id_and_is_found_by_id_or_name(ann: Person) -> None:
    await ann.data("POST", "/spans", json=make_span(agentName="planner"))
    [agent] = (await ann.data("GET", "/spans/filters"))["agents"]
    await _record(
        ann, {"id": "by id", "agentId": agent["id"]}, {"id": "name", "agentId": "planner"}
    )
    both = {"by id", "name"}
    assert await _ids(ann, agentId=agent["id"]) == both
    assert await _ids(ann, agentId="planner") == both
    signals = await ann.data("GET", "/signals")
    assert {s["agentId"] for s in signals} == {agent["id"]}


async def test_a_trace_of_another_workspace_adds_nothing(service: Service, ann: Person) -> None:
    bob = await service.sign_up()
    trace_id = new_trace_id()
    await bob.data("POST", "/spans", json=make_span(trace_id, **ABOUT))
    await _record(ann, {"id": "a", "traceId": trace_id})
    assert await _ids(ann, agentId="planner") == set()
    [signal] = await ann.data("GET", "/signals")
    assert signal["sessionId"] is None
    assert await bob.data("GET", f"/signals/trace/{trace_id}") == []


async def test_another_workspace_sees_no_signal(service: Service, ann: Person) -> None:
    trace_id = new_trace_id()
    await _record(ann, {"traceId": trace_id, "agentId": "planner"})
    bob = await service.sign_up()
    assert await bob.data("GET", "/signals") == []
    assert await bob.data("GET", "/signals", params={"traceId": trace_id}) == []
    assert await bob.data("GET", "/signals", params={"agentId": "planner"}) == []
    assert await bob.data("GET", "/signals/summary") == []
    assert_error(await bob.call("GET", f"/signals/trace/{trace_id}"), 404)


async def test_signals_of_an_unknown_trace_are_404(ann: Person) -> None:
    trace_id = new_trace_id()
    assert_error(await ann.call("GET", f"/signals/trace/{trace_id}"), 404)
    for wrong in ("abc", "g" * 32, "0" * 31, "0" * 33):
        assert_error(await ann.call("GET", f"/signals/trace/{wrong}"), 400, "traceId")
    await ann.data("POST", "/spans", json=make_span(trace_id))
    assert await ann.data("GET", f"/signals/trace/{trace_id}") == []
    await _record(ann, {"id": "a", "traceId": trace_id.upper()})
    [signal] = await ann.data("GET", f"/signals/trace/{trace_id.upper()}")
    assert signal["traceId"] == trace_id
    assert await _ids(ann, traceId=trace_id.upper()) == {"a"}
    assert await _ids(ann, traceId="nothing") == set()


async def test_pages_are_newest_first_and_complete(ann: Person) -> None:
    await _record(
        ann, *({"id": f"{n:03}", "timestamp": f"2026-03-10T12:{n // 2:02}:00Z"} for n in range(101))
    )
    seen: list[str] = []
    for skip in (0, 40, 80, 120):
        answer = await ann.call("GET", "/signals", params={"limit": 40, "skip": skip})
        page = answer.json()
        seen += [s["id"] for s in page["data"]]
        assert page["pagination"] == {
            "total": 101,
            "limit": 40,
            "skip": skip,
            "hasMore": skip + 40 < 101,
        }
    assert seen == [f"{n:03}" for n in reversed(range(101))]
    answer = await ann.call("GET", "/signals", params={"limit": 1000})
    assert answer.json()["pagination"]["limit"] == 100
    for wrong in ({"limit": 0}, {"skip": -1}, {"limit": "x"}):
        assert_error(await ann.call("GET", "/signals", params=wrong), 400, *wrong)


async def test_date_ranges_include_both_ends(ann: Person) -> None:
    await _record(
        ann,
        {"id": "first", "timestamp": "2026-03-10T00:00:00Z"},
        {"id": "last", "timestamp": "2026-03-10T23:59:59.999999Z"},
        {"id": "next", "timestamp": "2026-03-11T00:00:00Z"},
        {"id": "zone", "timestamp": "2026-03-11T01:00:00+02:00"},
    )
    day = {"first", "last", "zone"}
    assert await _ids(ann, startDate="2026-03-10", endDate="2026-03-10") == day
    end = "2026-03-11T00:00:00Z"
    assert await _ids(ann, startDate="2026-03-10T00:00:00Z", endDate=end) == day
    assert await _ids(ann, startDate="2026-03-10T00:00:00.000001Z", endDate=end) == {"last", "zone"}
    assert await _ids(ann, startDate="2026-03-11") == {"next"}
    for wrong in ("2026-02-30", "soon", "2026-13-01"):
        assert_error(
            await ann.call("GET", "/signals", params={"startDate": wrong}), 400, "startDate"
        )


async def test_names_with_special_characters_are_matched_exactly(ann: Person) -> None:
    names = ["größe", "評価", "a'b\"c\\", "100% _x", "{workspace:String}", "👍🏽", " "]
    await _record(ann, *({"signalName": name, "id": name} for name in names))
    for name in names:
        assert await _ids(ann, signalName=name) == {name}
    assert await _ids(ann, signalName="Größe") == set()


async def test_signals_and_their_trace_fields_survive_a_restart(tmp_path: Path) -> None:
    first, second = new_trace_id(), new_trace_id()
    async with start_service(tmp_path) as service:
        ann = await service.sign_up()
        await ann.data("POST", "/spans", json=make_span(first, **ABOUT))
        await _record(ann, {"id": "a", "traceId": first}, {"id": "b", "traceId": second})
    async with start_service(tmp_path) as service:
        ann = await service.log_in(ann.email)
        assert await _ids(ann, agentId="planner") == {"a"}
        await ann.data("POST", "/spans", json=make_span(second, **ABOUT))
        assert await _ids(ann, agentId="planner") == {"a", "b"}
