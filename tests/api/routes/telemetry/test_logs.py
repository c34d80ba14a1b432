"""Logs: levels, search, dates, pages, resends and workspace isolation."""

from typing import Any

import pytest

from support.ids import new_trace_id
from support.service import Person, Service, assert_error
from support.telemetry import make_span


@pytest.fixture
async def ann(service: Service) -> Person:
    return await service.sign_up()


def _log(message: str = "hello", **fields: Any) -> dict[str, Any]:
    return {"message": message, "timestamp": "2026-03-10T12:00:00Z", **fields}


async def _record(person: Person, *logs: dict[str, Any]) -> None:
    answer = await person.data("POST", "/logs", json={"logs": list(logs)})
    assert answer == {"accepted": len(logs)}


async def _messages(person: Person, **filters: Any) -> set[str]:
    return {log["message"] for log in await person.data("GET", "/logs", params=filters)}


async def test_every_field_of_a_log_is_returned(ann: Person) -> None:
    await ann.data("POST", "/spans", json=make_span(agentName="planner"))
    [agent] = (await ann.data("GET", "/spans/filters"))["agents"]
    sent = {
        "timestamp": "2026-03-10T12:00:00.123456Z",
        "level": "warn",
        "message": "größer\nals 👍 erwartet",
        "traceId": new_trace_id(),
        "spanId": "00f067aa0ba902b7",
        "agentName": "planner",
        "attributes": {"n": 1, "x": 1.5, "ok": True, "list": [1, "two"], "map": {"ä": "ö"}},
    }
    assert await ann.data("POST", "/logs", json=sent) == {"accepted": 1}
    [log] = await ann.data("GET", "/logs")
    assert log.pop("id").startswith("log_")
    assert log == {**sent, "agentId": agent["id"]}


async def test_only_the_message_of_a_log_is_required(ann: Person) -> None:
    await ann.data("POST", "/logs", json={"message": ""})
    [log] = await ann.data("GET", "/logs")
    assert (log["level"], log["message"], log["traceId"]) == ("info", "", None)


async def test_the_level_filter_includes_higher_levels(ann: Person) -> None:
    levels = ["trace", "debug", "info", "warn", "error", "fatal"]
    await _record(ann, *(_log(level, level=level) for level in levels))
    for place, level in enumerate(levels):
        assert await _messages(ann, level=level) == set(levels[place:])
    listed = await ann.data("GET", "/logs")
    assert all(log["level"] == log["message"] for log in listed)
    assert_error(await ann.call("GET", "/logs", params={"level": "loud"}), 400, "level")


async def test_a_search_finds_messages_with_all_the_words(ann: Person) -> None:
    texts = ["Connection refused by db-1", "connection closed", "Über GRÖSSE: 評価 42%"]
    await _record(ann, *(_log(text) for text in texts))
    assert await _messages(ann, search="CONNECTION") == {texts[0], texts[1]}
    assert await _messages(ann, search="refused, connection!") == {texts[0]}
    assert await _messages(ann, search="über grösse") == {texts[2]}
    assert await _messages(ann, search="評価") == {texts[2]}
    # Only whole words match, and punctuation is not a word.
    assert await _messages(ann, search="connect") == set()
    assert await _messages(ann, search="%") == set()
    assert await _messages(ann, search="' OR 1=1 --") == set()


async def test_a_resent_log_counts_once(ann: Person) -> None:
    trace_id = new_trace_id()
    log = _log(traceId=trace_id, attributes={"a": 1})
    for _ in range(3):
        await _record(ann, log, log)
    await _record(ann, {**log, "attributes": {"a": 2}})
    await _record(ann, {**log, "level": "error"})
    answer = await ann.call("GET", f"/logs/trace/{trace_id}")
    assert answer.json()["pagination"]["total"] == 3
    assert len({log["id"] for log in answer.json()["data"]}) == 3


async def test_the_agent_filter_accepts_id_or_name(ann: Person) -> None:
    await ann.data("POST", "/spans", json=make_span(agentName="planner"))
    [agent] = (await ann.data("GET", "/spans/filters"))["agents"]
    await _record(
        ann,
        _log("by name", agentName="planner"),
        _log("by id", agentId=agent["id"]),
        _log("another", agentId="another"),
    )
    mine = {"by name", "by id"}
    assert await _messages(ann, agentId="planner") == mine
    assert await _messages(ann, agentId=agent["id"]) == mine
    assert await _messages(ann, agentId="another") == {"another"}
    assert await _messages(ann, agentId="nobody") == set()


async def test_pages_are_complete_in_both_orders(ann: Person) -> None:
    times = [f"2026-03-10T12:{n // 3:02}:00Z" for n in range(105)]
    await _record(ann, *(_log(f"{n:03}", timestamp=time) for n, time in enumerate(times)))
    for order in ("asc", "desc"):
        seen: list[dict[str, Any]] = []
        for skip in (0, 50, 100):
            query = {"skip": skip, "order": order}
            answer = await ann.call("GET", "/logs", params=query)
            page = answer.json()["pagination"]
            assert page == {"total": 105, "limit": 50, "skip": skip, "hasMore": skip < 100}
            seen += answer.json()["data"]
        assert {log["message"] for log in seen} == {f"{n:03}" for n in range(105)}
        # Ids sort as the times do.
        ids = [log["id"] for log in seen]
        assert ids == sorted(ids, reverse=order == "desc")


async def test_date_ranges_include_both_ends(ann: Person) -> None:
    await _record(
        ann,
        _log("first", timestamp="2026-03-10T00:00:00Z"),
        _log("last", timestamp="2026-03-10T23:59:59.999999Z"),
        _log("next", timestamp="2026-03-11T00:00:00Z"),
    )
    day = {"startDate": "2026-03-10", "endDate": "2026-03-10"}
    assert await _messages(ann, **day) == {"first", "last"}
    assert await _messages(ann, endDate="2026-03-11T00:00:00Z") == {"first", "last"}
    assert await _messages(ann, startDate="2026-03-11") == {"next"}
    wrong = {"startDate": "2026-03-12", "endDate": "2026-03-11"}
    assert_error(await ann.call("GET", "/logs", params=wrong), 400, "startDate")


async def test_a_batch_with_invalid_logs_names_them_and_stores_none(ann: Person) -> None:
    good = _log()
    cases: list[tuple[Any, str]] = [
        ({"level": "info"}, "message"),
        ({"message": 5}, "message"),
        (_log(level="loud"), "level"),
        (_log(traceId="abc"), "traceId"),
        (_log(spanId="0" * 32), "spanId"),
        (_log(timestamp=12), "timestamp"),
        (_log(timestamp="1700000000"), "timestamp"),
        (_log(attributes=[]), "attributes"),
        ({"logs": [good, {"message": None}]}, "logs[1].message"),
        ({"logs": "text"}, "logs"),
        ({"logs": [good] * 10_001}, "logs"),
        ([good], "body"),
    ]
    for body, field in cases:
        assert_error(await ann.call("POST", "/logs", json=body), 400, field)
    assert await _messages(ann) == set()


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ({"level": "info"}, "message: is required"),
        (_log(level="loud"), "level: "),
        (_log(traceId="abc"), "traceId: "),
        (_log(timestamp="1999-12-31T23:59:59Z"), "timestamp: must lie between 2000 and 2099"),
        (_log(timestamp="2100-01-01T00:00:00Z"), "timestamp: must lie between 2000 and 2099"),
        (_log("x" * (2**20 + 1)), "message: "),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_only_the_log_that_cannot_be_stored_is_rejected(
    ann: Person, bad: dict[str, Any], reason: str
) -> None:
    data = await ann.data("POST", "/logs", json={"logs": [_log("a"), bad, _log("b")]})
    assert (data["accepted"], data["rejected"]) == (2, 1)
    [row] = data["details"]
    assert row["index"] == 1
    assert row["reason"].startswith(reason)
    assert await _messages(ann) == {"a", "b"}


async def test_logs_of_an_unknown_trace_are_404(service: Service, ann: Person) -> None:
    trace_id = new_trace_id()
    assert_error(await ann.call("GET", f"/logs/trace/{trace_id}"), 404)
    assert_error(await ann.call("GET", "/logs/trace/abc"), 400, "traceId")
    await ann.data("POST", "/spans", json=make_span(trace_id))
    assert await ann.data("GET", f"/logs/trace/{trace_id}") == []
    await _record(ann, _log("mine", traceId=trace_id), _log("other", traceId=new_trace_id()))
    [log] = await ann.data("GET", f"/logs/trace/{trace_id.upper()}")
    assert log["message"] == "mine"
    assert await _messages(ann, traceId=trace_id) == {"mine"}
    bob = await service.sign_up()
    assert await _messages(bob) == set()
    assert await _messages(bob, traceId=trace_id) == set()
    assert_error(await bob.call("GET", f"/logs/trace/{trace_id}"), 404)
