"""Listing signals: filters, pages, dates, isolation, and fields that come from traces."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import pytest

from support.ids import new_trace_id
from support.service import Person, Service, assert_error
from support.telemetry import make_span

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
OWN = {"agentId": "other", "sessionId": "s", "userId": "u", "experimentId": "e"}
NAMES = ["größe", "評価", "a'b\"c\\", "100% _x", "{workspace:String}", "👍🏽", " "]


async def _ids(person: Person, **filters: Any) -> set[str]:
    return {s["id"] for s in await person.data("GET", "/signals", params=filters)}


async def _record(person: Person, *signals: dict[str, Any]) -> None:
    batch = [{"signalName": "rating", "value": 1, **signal} for signal in signals]
    await person.data("POST", "/signals/batch", json=batch)


@dataclass
class Data:
    """Two people, and traces of the first one by what happened to them.

    `bob` has a trace with the id of `foreign`, and nothing else.
    """

    ann: Person
    bob: Person
    helper: str
    traces: dict[str, str]


@pytest.fixture(scope="module")
async def data(shared_service: Service) -> Data:
    ann, bob = await shared_service.sign_up(), await shared_service.sign_up()
    helper = (await ann.data("POST", "/agents", json={"name": "helper"}))["id"]
    kinds = ("signal first", "span first", "own", "same experiment", "late", "foreign", "bare")
    traces = {kind: new_trace_id() for kind in kinds}
    late_root = make_span(traces["late"])
    await asyncio.gather(
        ann.data("POST", "/spans", json=late_root),
        _record(
            ann,
            {"id": "signal first", "traceId": traces["signal first"]},
            {"id": "late", "traceId": traces["late"]},
            {"id": "without"},
        ),
    )
    [before] = await ann.data("GET", f"/signals/trace/{traces['signal first']}")
    assert {before[name] for name in FILTERS} == {None}
    assert await _ids(ann, agentId="planner") == set()
    assert await _ids(ann, sessionId="late") == set()
    late = make_span(traces["late"], parentSpanId=late_root["spanId"], sessionId="late")
    described = ("signal first", "span first", "own", "same experiment")
    spans = [make_span(traces[kind], **ABOUT) for kind in described]
    spans += [late, make_span(traces["bare"])]
    await ann.data("POST", "/spans", json={"spans": spans})
    await bob.data("POST", "/spans", json=make_span(traces["foreign"], **ABOUT))
    times = ("2026-03-10T00:00:00Z", "2026-03-10T23:59:59.999999Z", "2026-03-11T00:00:00Z")
    dated = zip(
        ("first", "last", "next", "zone"), (*times, "2026-03-11T01:00:00+02:00"), strict=True
    )
    await _record(
        ann,
        {"id": "span first", "traceId": traces["span first"]},
        {"id": "own", "traceId": traces["own"], **OWN},
        {"id": "same", "traceId": traces["same experiment"], "experimentId": "exp_1"},
        {"id": "foreign", "traceId": traces["foreign"]},
        {"id": "by id", "agentId": helper},
        {"id": "by name", "agentId": "helper"},
        *({"id": id_, "signalName": "dated", "timestamp": at} for id_, at in dated),
        *({"id": name, "signalName": name} for name in NAMES),
        *(
            {"id": f"{n:03}", "signalName": "page", "timestamp": f"2026-03-10T12:{n // 2:02}:00Z"}
            for n in range(101)
        ),
    )
    return Data(ann, bob, helper, traces)


async def test_missing_fields_of_a_signal_come_from_its_trace_in_either_order(data: Data) -> None:
    ann, found = data.ann, {"signal first", "span first", "same"}
    agents = (await ann.data("GET", "/spans/filters"))["agents"]
    [planner] = [agent["id"] for agent in agents if agent["name"] == "planner"]
    for name, value in {**FILTERS, "agentId": planner}.items():
        assert await _ids(ann, **{name: value}) == found, name
        assert await _ids(ann, **{name: "another"}) == set(), name
    assert await _ids(ann, agentId="planner") == found
    assert await _ids(ann, **FILTERS) == found
    [summary] = await ann.data("GET", "/signals/summary", params=FILTERS)
    assert summary["count"] == len(found)
    [signal] = await ann.data("GET", f"/signals/trace/{data.traces['signal first']}")
    assert {name: signal[name] for name in FILTERS} == {**FILTERS, "agentId": planner}


async def test_fields_of_a_signal_take_precedence_over_its_trace(data: Data) -> None:
    [signal] = await data.ann.data("GET", f"/signals/trace/{data.traces['own']}")
    assert {name: signal[name] for name in OWN} == OWN
    # The trace has a variant of another experiment, so none of this one is known.
    assert signal["variant"] is None
    for name, value in OWN.items():
        assert await _ids(data.ann, **{name: value}) == {"own"}, name


async def test_conditions_select_signals(person: Person) -> None:
    trace = new_trace_id()
    await person.data("POST", "/spans", json=make_span(trace, userId="ada"))
    await _record(
        person,
        {"id": "bad", "value": -1, "traceId": trace, "comment": "Much too slow"},
        {"id": "good", "value": 1, "userId": "bob", "metadata": {"by": "human", "n": 3}},
        {"id": "other", "value": 0.5, "signalName": "score", "metadata": {"by": "judge"}},
    )
    for condition, expected in (
        ({"field": "value", "op": "lt", "value": 0}, {"bad"}),
        ({"field": "signalName", "op": "ne", "value": "rating"}, {"other"}),
        ({"field": "comment", "op": "contains", "value": "TOO"}, {"bad"}),
        ({"field": "userId", "op": "in", "value": ["ada", "eve"]}, {"bad"}),
        ({"field": "userId", "op": "exists", "value": False}, {"other"}),
        ({"field": "attribute:by", "op": "ne", "value": "human"}, {"bad", "other"}),
        ({"field": "attribute:n", "op": "gte", "value": 3}, {"good"}),
    ):
        wanted = {"filters": json.dumps([condition])}
        assert await _ids(person, **wanted) == expected, condition
        summaries = await person.data("GET", "/signals/summary", params=wanted)
        assert sum(summary["count"] for summary in summaries) == len(expected), condition
    wanted = {"signalName": "rating", "filters": '[{"field": "value", "op": "gt", "value": 0}]'}
    assert (await person.data("GET", "/signals/histogram", params=wanted))["count"] == 1
    wrong = await person.call("GET", "/signals", params={"filters": '[{"field": "model"}]'})
    assert_error(wrong, 400, "filters.0")


async def test_a_late_span_that_changes_the_trace_changes_its_signals(data: Data) -> None:
    assert await _ids(data.ann, sessionId="late") == {"late"}


async def test_an_agent_may_be_given_by_id_and_is_found_by_id_or_name(data: Data) -> None:
    for agent in (data.helper, "helper"):
        signals = await data.ann.data("GET", "/signals", params={"agentId": agent})
        assert {s["id"] for s in signals} == {"by id", "by name"}
        assert {s["agentId"] for s in signals} == {data.helper}


async def test_another_workspace_adds_and_sees_nothing(data: Data) -> None:
    [signal] = await data.ann.data("GET", "/signals", params={"traceId": data.traces["foreign"]})
    assert (signal["id"], signal["sessionId"]) == ("foreign", None)
    bob = data.bob
    assert await bob.data("GET", f"/signals/trace/{data.traces['foreign']}") == []
    assert await bob.data("GET", "/signals") == []
    assert await bob.data("GET", "/signals", params={"traceId": data.traces["own"]}) == []
    assert await bob.data("GET", "/signals", params={"agentId": "planner"}) == []
    assert await bob.data("GET", "/signals/summary") == []
    assert_error(await bob.call("GET", f"/signals/trace/{data.traces['own']}"), 404)


async def test_signals_of_an_unknown_trace_are_404(data: Data) -> None:
    ann, known = data.ann, data.traces["own"]
    assert_error(await ann.call("GET", f"/signals/trace/{new_trace_id()}"), 404)
    for wrong in ("abc", "g" * 32, "0" * 31, "0" * 33):
        assert_error(await ann.call("GET", f"/signals/trace/{wrong}"), 400, "traceId")
    assert await ann.data("GET", f"/signals/trace/{data.traces['bare']}") == []
    [signal] = await ann.data("GET", f"/signals/trace/{known.upper()}")
    assert signal["traceId"] == known
    assert await _ids(ann, traceId=known.upper()) == {"own"}
    assert await _ids(ann, traceId="nothing") == set()


async def test_pages_are_newest_first_and_complete(data: Data) -> None:
    ann, only = data.ann, {"signalName": "page"}
    seen: list[str] = []
    for skip in (0, 40, 80, 120):
        answer = await ann.call("GET", "/signals", params={**only, "limit": 40, "skip": skip})
        page = answer.json()
        seen += [s["id"] for s in page["data"]]
        assert page["pagination"] == {
            "total": 101,
            "limit": 40,
            "skip": skip,
            "hasMore": skip + 40 < 101,
        }
    assert seen == [f"{n:03}" for n in reversed(range(101))]
    answer = await ann.call("GET", "/signals", params={**only, "limit": 1000})
    assert answer.json()["pagination"]["limit"] == 100
    for wrong in ({"limit": 0}, {"skip": -1}, {"limit": "x"}):
        assert_error(await ann.call("GET", "/signals", params=wrong), 400, *wrong)


async def test_date_ranges_include_both_ends(data: Data) -> None:
    async def within(**dates: str) -> set[str]:
        return await _ids(data.ann, signalName="dated", **dates)

    day = {"first", "last", "zone"}
    assert await within(startDate="2026-03-10", endDate="2026-03-10") == day
    end = "2026-03-11T00:00:00Z"
    assert await within(startDate="2026-03-10T00:00:00Z", endDate=end) == day
    assert await within(startDate="2026-03-10T00:00:00.000001Z", endDate=end) == {"last", "zone"}
    assert await within(startDate="2026-03-11") == {"next"}
    wrong = await data.ann.call("GET", "/signals", params={"startDate": "2026-02-30"})
    assert_error(wrong, 400, "startDate")


async def test_names_with_special_characters_are_matched_exactly(data: Data) -> None:
    for name in NAMES:
        assert await _ids(data.ann, signalName=name) == {name}
    assert await _ids(data.ann, signalName="Größe") == set()
