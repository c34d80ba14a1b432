"""Logs: levels, search, dates, pages, resends and workspace isolation."""

import asyncio
import json
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from support.ids import new_trace_id
from support.service import Person, Service, assert_error
from support.telemetry import make_span


def _log(message: str = "hello", **fields: Any) -> dict[str, Any]:
    return {"message": message, "timestamp": "2026-03-10T12:00:00Z", **fields}


async def _record(person: Person, *logs: dict[str, Any]) -> None:
    answer = await person.data("POST", "/logs", json={"logs": list(logs)})
    assert answer == {"accepted": len(logs)}


async def _messages(person: Person, **filters: Any) -> set[str]:
    return {log["message"] for log in await person.data("GET", "/logs", params=filters)}


NOW = str(time.time_ns())
LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"]
TEXTS = ["Connection refused by db-1", "connection closed", "Über GRÖSSE: 評価 42%"]
WHOLE = {
    "timestamp": "2026-03-10T12:00:00.123456Z",
    "level": "warn",
    "message": "größer\nals 👍 erwartet",
    "traceId": new_trace_id(),
    "spanId": "00f067aa0ba902b7",
    "agentName": "planner",
    "attributes": {"n": 1, "x": 1.5, "ok": True, "list": [1, "two"], "map": {"ä": "ö"}},
}
# Each test has a month of its own.
MONTHS = {
    name: {"startDate": f"2024-{number:02}-01", "endDate": f"2024-{number:02}-28"}
    for number, name in enumerate(("levels", "words", "agents", "pages", "dates"), 1)
}


def _log_of(month: str, message: str, at: str = "10T12:00:00Z", **fields: Any) -> dict[str, Any]:
    day = MONTHS[month]["startDate"].removesuffix("01")
    return _log(message, timestamp=f"{day}{at}", **fields)


@dataclass
class Data:
    """A person with logs, the id of an agent, and traces with and without logs."""

    ann: Person
    planner: str
    resent: str
    bare: str
    with_log: str


@pytest.fixture(scope="module")
async def data(shared_service: Service) -> Data:
    ann = await shared_service.sign_up()
    planner = (await ann.data("POST", "/agents", json={"name": "planner"}))["id"]
    resent, bare, with_log = (new_trace_id() for _ in range(3))
    log = _log(traceId=resent, attributes={"a": 1})
    await asyncio.gather(
        ann.data("POST", "/spans", json={"spans": [make_span(bare), make_span(with_log)]}),
        ann.data("POST", "/logs", json=WHOLE),
        ann.data("POST", "/logs", json={"message": ""}),
        _record(
            ann,
            *(_log_of("levels", level, level=level) for level in LEVELS),
            *(_log_of("words", text) for text in TEXTS),
            _log_of("agents", "by name", agentName="planner"),
            _log_of("agents", "by id", agentId=planner),
            _log_of("agents", "another", agentId="another"),
            *(_log_of("pages", f"{n:03}", f"10T12:{n // 3:02}:00Z") for n in range(105)),
            _log_of("dates", "first", "10T00:00:00Z"),
            _log_of("dates", "last", "10T23:59:59.999999Z"),
            _log_of("dates", "next", "11T00:00:00Z"),
            _log("mine", traceId=with_log),
        ),
        *(_record(ann, log, log) for _ in range(3)),
        _record(ann, {**log, "attributes": {"a": 2}}),
        _record(ann, {**log, "level": "error"}),
    )
    return Data(ann, planner, resent, bare, with_log)


async def test_every_field_of_a_log_is_returned(data: Data) -> None:
    [log] = await data.ann.data("GET", "/logs", params={"traceId": WHOLE["traceId"]})
    assert log.pop("id").startswith("log_")
    assert log == {**WHOLE, "agentId": data.planner}


async def test_only_the_message_of_a_log_is_required(data: Data) -> None:
    hour_ago = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    [log] = await data.ann.data("GET", "/logs", params={"startDate": hour_ago})
    assert (log["level"], log["message"], log["traceId"]) == ("info", "", None)


async def test_the_level_filter_includes_higher_levels(data: Data) -> None:
    for place, level in enumerate(LEVELS):
        assert await _messages(data.ann, level=level, **MONTHS["levels"]) == set(LEVELS[place:])
    listed = await data.ann.data("GET", "/logs", params=MONTHS["levels"])
    assert all(log["level"] == log["message"] for log in listed)
    assert_error(await data.ann.call("GET", "/logs", params={"level": "loud"}), 400, "level")


async def test_conditions_select_logs(person: Person) -> None:
    def log(text: str, severity: int, **attributes: Any) -> dict[str, Any]:
        values = [{"key": key, "value": value} for key, value in attributes.items()]
        body = {"stringValue": text}
        return {"timeUnixNano": NOW, "severityNumber": severity, "body": body, "attributes": values}

    logs = [
        log("Paid", 9, tenant={"stringValue": "acme"}, n={"intValue": "7"}),
        log("Refused", 17, tenant={"stringValue": "globex"}, ok={"boolValue": False}),
    ]
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]}
    exported = {"resourceLogs": [{"resource": resource, "scopeLogs": [{"logRecords": logs}]}]}
    assert (await person.call("POST", "/otlp/v1/logs", json=exported)).is_success
    await _record(person, _log("Late", traceId=new_trace_id(), agentName="planner", level="debug"))
    for condition, expected in (
        ({"field": "level", "op": "in", "value": ["info", "debug"]}, {"Paid", "Late"}),
        ({"field": "level", "op": "ne", "value": "error"}, {"Paid", "Late"}),
        ({"field": "message", "op": "contains", "value": "FUS"}, {"Refused"}),
        ({"field": "agent", "value": "planner"}, {"Late"}),
        ({"field": "service", "value": "shop"}, {"Paid", "Refused"}),
        ({"field": "traceId", "op": "exists"}, {"Late"}),
        ({"field": "attribute:tenant", "op": "ne", "value": "acme"}, {"Refused", "Late"}),
        ({"field": "attribute:n", "op": "gt", "value": 6.5}, {"Paid"}),
        ({"field": "attribute:ok", "value": False}, {"Refused"}),
        ({"field": "attribute:ok", "op": "exists", "value": False}, {"Paid", "Late"}),
    ):
        assert await _messages(person, filters=json.dumps([condition])) == expected, condition
    wrong = json.dumps([{"field": "model", "value": "gpt-4o"}])
    response = await person.call("GET", "/logs", params={"filters": wrong})
    assert_error(response, 400, "filters")
    assert "logs have no model, but agent, level" in response.text


async def test_a_search_finds_messages_with_all_the_words(data: Data) -> None:
    async def found(search: str) -> set[str]:
        return await _messages(data.ann, search=search, **MONTHS["words"])

    assert await found("CONNECTION") == {TEXTS[0], TEXTS[1]}
    assert await found("refused, connection!") == {TEXTS[0]}
    assert await found("über grösse") == {TEXTS[2]}
    assert await found("評価") == {TEXTS[2]}
    # Only whole words match, and punctuation is not a word.
    assert await found("connect") == set()
    assert await found("%") == set()
    assert await found("' OR 1=1 --") == set()


async def test_a_resent_log_counts_once(data: Data) -> None:
    answer = await data.ann.call("GET", f"/logs/trace/{data.resent}")
    assert answer.json()["pagination"]["total"] == 3
    assert len({log["id"] for log in answer.json()["data"]}) == 3


async def test_the_agent_filter_accepts_id_or_name(data: Data) -> None:
    async def of(agent: str) -> set[str]:
        return await _messages(data.ann, agentId=agent, **MONTHS["agents"])

    mine = {"by name", "by id"}
    assert await of("planner") == mine
    assert await of(data.planner) == mine
    assert await of("another") == {"another"}
    assert await of("nobody") == set()


async def test_pages_are_complete_in_both_orders(data: Data) -> None:
    for order in ("asc", "desc"):
        seen: list[dict[str, Any]] = []
        for skip in (0, 50, 100):
            query = {"skip": skip, "order": order, **MONTHS["pages"]}
            answer = await data.ann.call("GET", "/logs", params=query)
            page = answer.json()["pagination"]
            assert page == {"total": 105, "limit": 50, "skip": skip, "hasMore": skip < 100}
            seen += answer.json()["data"]
        assert {log["message"] for log in seen} == {f"{n:03}" for n in range(105)}
        # Ids sort as the times do.
        ids = [log["id"] for log in seen]
        assert ids == sorted(ids, reverse=order == "desc")


async def test_date_ranges_include_both_ends(data: Data) -> None:
    month = MONTHS["dates"]
    day = {"startDate": "2024-05-10", "endDate": "2024-05-10"}
    assert await _messages(data.ann, **day) == {"first", "last"}
    end = {**month, "endDate": "2024-05-11T00:00:00Z"}
    assert await _messages(data.ann, **end) == {"first", "last"}
    assert await _messages(data.ann, **{**month, "startDate": "2024-05-11"}) == {"next"}
    wrong = {"startDate": "2026-03-12", "endDate": "2026-03-11"}
    assert_error(await data.ann.call("GET", "/logs", params=wrong), 400, "startDate")


async def test_logs_that_cannot_be_stored_are_reported_and_the_others_stored(
    person: Person,
) -> None:
    """`unit/ingest/test_rest_bodies.py` tests which logs those are."""
    good = _log()
    refused: list[tuple[Any, str]] = [
        (_log(level="loud"), "level"),
        ({"logs": [good, {"message": None}]}, "logs[1].message"),
        ({"logs": [good] * 10_001}, "logs"),
    ]
    for body, field in refused:
        assert_error(await person.call("POST", "/logs", json=body), 400, field)
    assert await _messages(person) == set()
    batch = [_log("a"), _log(traceId="abc"), _log("b")]
    data = await person.data("POST", "/logs", json={"logs": batch})
    assert (data["accepted"], data["rejected"]) == (2, 1)
    [row] = data["details"]
    assert row["index"] == 1
    assert row["reason"].startswith("traceId: ")
    assert await _messages(person) == {"a", "b"}


async def test_logs_of_an_unknown_trace_are_404(data: Data, person: Person) -> None:
    ann, trace_id = data.ann, data.with_log
    assert_error(await ann.call("GET", f"/logs/trace/{new_trace_id()}"), 404)
    assert_error(await ann.call("GET", "/logs/trace/abc"), 400, "traceId")
    assert await ann.data("GET", f"/logs/trace/{data.bare}") == []
    [log] = await ann.data("GET", f"/logs/trace/{trace_id.upper()}")
    assert log["message"] == "mine"
    assert await _messages(ann, traceId=trace_id) == {"mine"}
    assert await _messages(person) == set()
    assert await _messages(person, traceId=trace_id) == set()
    assert_error(await person.call("GET", f"/logs/trace/{trace_id}"), 404)
