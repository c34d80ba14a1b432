"""Conversations: lists, details and workspace isolation."""

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest

from support.service import Person, Service, assert_error
from support.telemetry import make_span


@pytest.fixture
async def eve(service: Service) -> Person:
    """Another person, whose list of conversations is read whole."""
    return await service.sign_up()


def _turn(session: str, minute: int, **fields: Any) -> dict[str, Any]:
    return make_span(sessionId=session, startTime=f"2026-03-10T12:{minute:02}:00Z", **fields)


async def test_a_conversation_aggregates_its_traces(eve: Person) -> None:
    call = {"kind": "llm", "model": "m", "cost": 0.25, "inputTokens": 3, "outputTokens": 4}
    turns = [
        _turn("talk", 5, agentName="b", status="error", input="third", output="last"),
        _turn("talk", 1, agentName="a", userId="ann", input="first", output="x", **call),
        _turn("talk", 3, agentName="a", input="second", output="y", **call),
        _turn("other", 9),
        make_span(),
    ]
    await eve.data("POST", "/spans", json={"spans": turns})
    listed = await eve.data("GET", "/spans/sessions")
    assert [s["sessionId"] for s in listed] == ["other", "talk"]
    assert listed[1] == {
        "sessionId": "talk",
        "userId": "ann",
        "agentNames": ["a", "b"],
        "firstAt": "2026-03-10T12:01:00Z",
        "lastAt": "2026-03-10T12:05:00.500000Z",
        "traceCount": 3,
        "errorCount": 1,
        "totalTokens": 14,
        "cost": 0.5,
        "inputPreview": "first",
        "outputPreview": "last",
    }
    one = await eve.data("GET", "/spans/sessions/talk")
    assert [t["inputPreview"] for t in one.pop("traces")] == ["first", "second", "third"]
    assert one == listed[1]


TURNS = [
    _turn("one", 0, agentName="a", userId="u", attributes={"tenant": "acme"}),
    _turn("one", 30, agentName="b"),
    _turn("two", 40, agentName="b", environment="prod"),
    _turn("Talk-1", 41, userId="bob@example.com"),
    # The user is known in one trace only, but the whole conversation is found.
    _turn("Talk-1", 42),
    _turn("talk-2", 43, userId="eve"),
]
ODD_NAMES = ["a/b", "größe 👍", "x?y#z", "100%", "it's"]


@pytest.fixture(scope="module")
async def few(shared_service: Service) -> Person:
    """A person with a few conversations in one hour; some with odd names were on another day."""
    person = await shared_service.sign_up()
    odd = [make_span(sessionId=name, startTime="2025-03-10T12:00:00Z") for name in ODD_NAMES]
    await person.data("POST", "/spans", json={"spans": [*TURNS, *odd]})
    return person


async def counts(person: Person, **filters: str) -> dict[str, int]:
    params = {"startDate": "2026-03-01", **filters}
    found = await person.data("GET", "/spans/sessions", params=params)
    return {s["sessionId"]: s["traceCount"] for s in found}


async def test_filters_apply_to_the_traces_of_a_conversation(few: Person) -> None:
    talks = {"Talk-1": 2, "talk-2": 1}
    assert await counts(few) == {"one": 2, "two": 1, **talks}
    assert await counts(few, agentId="b") == {"one": 1, "two": 1}
    assert await counts(few, userId="u") == {"one": 1}
    assert await counts(few, environment="prod") == {"two": 1}
    late = {"startDate": "2026-03-10T12:30:00Z"}
    assert await counts(few, **late) == {"one": 1, "two": 1, **talks}
    assert await counts(few, endDate="2026-03-10T12:30:00Z") == {"one": 1}
    assert await counts(few, startDate="2026-03-11") == {}
    [agent] = [a for a in (await few.data("GET", "/spans/filters"))["agents"] if a["name"] == "a"]
    assert await counts(few, agentId=agent["id"]) == {"one": 1}
    filters = '[{"field": "attribute:tenant", "op": "eq", "value": "acme"}]'
    assert await counts(few, filters=filters) == {"one": 1}


async def test_the_total_counts_the_conversations_of_all_pages(few: Person) -> None:
    answer = await few.call("GET", "/spans/sessions", params={"limit": 2, "skip": 1})
    assert len(answer.json()["data"]) == 2
    assert answer.json()["pagination"]["total"] == 4 + len(ODD_NAMES)


async def test_conversations_are_found_by_session_and_user(few: Person) -> None:
    assert await counts(few, search="TALK") == {"Talk-1": 2, "talk-2": 1}
    assert await counts(few, search="bob@") == {"Talk-1": 2}
    assert await counts(few, search="eve") == {"talk-2": 1}
    assert await counts(few, search="nobody") == {}


async def test_any_text_is_a_valid_session_id(few: Person) -> None:
    for name in ODD_NAMES:
        one = await few.data("GET", f"/spans/sessions/{quote(name, safe='')}")
        assert one["sessionId"] == name
    assert_error(await few.call("GET", "/spans/sessions/unknown"), 404)


async def test_another_workspace_sees_no_conversation(few: Person, eve: Person) -> None:
    await eve.data("POST", "/spans", json=_turn("two", 1, name="eve's"))
    assert_error(await eve.call("GET", "/spans/sessions/one"), 404)
    [session] = await eve.data("GET", "/spans/sessions")
    assert session["traceCount"] == 1
    one = await few.data("GET", "/spans/sessions/two")
    assert [t["name"] for t in one["traces"]] == ["answer"]


async def test_conversations_are_sorted(eve: Person) -> None:
    call = {"kind": "llm", "model": "m"}
    turns = [
        _turn("cheap", 50, **call, cost=1, status="error"),
        _turn("long", 0, **call, cost=2),
        _turn("long", 40, **call, cost=2),
        _turn("busy", 10, **call, cost=3, status="error"),
        _turn("busy", 11, status="error"),
        _turn("busy", 12),
    ]
    await eve.data("POST", "/spans", json={"spans": turns})
    expected = {
        "time": ["cheap", "long", "busy"],
        "cost": ["long", "busy", "cheap"],
        "traces": ["busy", "long", "cheap"],
        "duration": ["long", "busy", "cheap"],
        "errors": ["busy", "cheap", "long"],
    }
    for sort, names in expected.items():
        for order in ("desc", "asc"):
            params = {"sort": sort, "order": order}
            found = await eve.data("GET", "/spans/sessions", params=params)
            wanted = names if order == "desc" else names[::-1]
            assert [session["sessionId"] for session in found] == wanted, params
    params = {"sort": "cost", "limit": "1", "skip": "1"}
    [second] = await eve.data("GET", "/spans/sessions", params=params)
    assert (second["sessionId"], second["traceCount"]) == ("busy", 3)
    assert_error(await eve.call("GET", "/spans/sessions", params={"sort": "name"}), 400, "sort")


async def test_the_conversation_that_ended_last_is_first(eve: Person) -> None:
    now = datetime.now(UTC)

    def turn(session: str, hours: float, duration: timedelta) -> dict[str, Any]:
        start = now - timedelta(hours=hours)
        milliseconds = duration / timedelta(milliseconds=1)
        return make_span(sessionId=session, startTime=start.isoformat(), durationMs=milliseconds)

    minute = timedelta(minutes=1)
    turns = [
        *(turn(f"short {n}", n, minute) for n in range(1, 6)),
        turn("slow", 3.5, timedelta(hours=2)),
        # Longer than the range that is searched first.
        turn("days", 60, timedelta(hours=57.4)),
    ]
    await eve.data("POST", "/spans", json={"spans": turns})
    listed = [
        session
        for skip in (0, 2, 4)
        for session in await eve.data("GET", "/spans/sessions", params={"limit": 2, "skip": skip})
    ]
    assert [session["sessionId"] for session in listed] == [
        *("short 1", "slow", "short 2", "days", "short 3", "short 4")
    ]
    assert [s["lastAt"] for s in listed] == sorted((s["lastAt"] for s in listed), reverse=True)


async def test_conversations_of_earlier_months_follow_those_of_the_last_days(eve: Person) -> None:
    """A page is searched in the last day, in the last 30 days, then in the whole period."""
    now = datetime.now(UTC)
    ended = {"1": 1, "2": 2, "20": 20, "29": 29, "long": 25, "40": 40, "90": 90}
    turns = [
        make_span(
            sessionId=session,
            startTime=(now - timedelta(days=days, hours=1)).isoformat(),
            endTime=(now - timedelta(days=days)).isoformat(),
        )
        for session, days in ended.items()
        if session != "long"
    ]
    # Began before the last 30 days, and ended in them.
    start, end = ((now - timedelta(days=days)).isoformat() for days in (35, ended["long"]))
    turns.append(make_span(sessionId="long", startTime=start, endTime=end))
    await eve.data("POST", "/spans", json={"spans": turns})
    expected = sorted(ended, key=ended.__getitem__)
    for limit in (1, 3, 6, 8):
        found = await eve.data("GET", "/spans/sessions", params={"limit": limit})
        assert [session["sessionId"] for session in found] == expected[:limit]
