"""Rows of a batch that cannot be stored are reported, and the others are stored."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from support.service import Person, Service, assert_error
from support.spans import iso, span

TOO_OLD = "1999-12-31T23:59:59Z"


@pytest.fixture
async def ann(service: Service) -> Person:
    return await service.sign_up()


async def _stored(person: Person) -> int:
    answer = await person.call("GET", "/spans/traces")
    total: int = answer.json()["pagination"]["total"]
    return total


async def test_spans_that_are_too_old_are_reported_and_the_others_stored(ann: Person) -> None:
    batch = [span(startTime=TOO_OLD) if n % 5 else span() for n in range(250)]
    answer = await ann.call("POST", "/spans", json={"spans": batch})
    assert answer.status_code == 201
    data = answer.json()["data"]
    assert (data["accepted"], data["rejected"]) == (50, 200)
    assert [row["index"] for row in data["details"]] == [n for n in range(250) if n % 5][:100]
    reason = "startTime: must lie after 1999 and at most two days ahead"
    assert {row["reason"] for row in data["details"]} == {reason}
    assert await _stored(ann) == 50


def _with(**fields: Any) -> dict[str, Any]:
    return {**span(), **fields}


def _without(field: str) -> dict[str, Any]:
    made = span()
    del made[field]
    return made


AHEAD = datetime.now(UTC) + timedelta(days=3)
BAD_ROWS: list[tuple[dict[str, Any], str]] = [
    (_without("traceId"), "traceId: is required"),
    (_without("spanId"), "spanId: is required"),
    (_without("name"), "name: is required"),
    (_without("startTime"), "startTime: is required"),
    (_with(traceId="abc"), "traceId: "),
    (_with(traceId="0" * 32), "traceId: must not be all zeros"),
    (_with(spanId="0" * 16), "spanId: must not be all zeros"),
    (_with(startTime="yesterday"), "startTime: must be an ISO 8601 time"),
    (_with(startTime=iso(AHEAD)), "startTime: must lie after 1999"),
    (_with(endTime=iso(AHEAD)), "endTime: must lie after 1999"),
    (_with(startTime="2026-01-01T00:00:01Z", endTime="2026-01-01T00:00:00Z"), "endTime: must not"),
    (_with(durationMs=1e30, endTime=None), "durationMs: must end at most two days ahead"),
    (_with(durationMs=-1), "durationMs: "),
    (_with(cost=1e30), "cost: Input should be less than 1000000"),
    (_with(cost=1_000_000), "cost: "),
    (_with(cost=-0.01), "cost: "),
    (_with(inputTokens=-1), "inputTokens: "),
    (_with(outputTokens=2**32), "outputTokens: "),
    (_with(cachedTokens=2**63), "cachedTokens: "),
    (_with(reasoningTokens=2**64), "reasoningTokens: "),
    (_with(kind="unheard-of"), "kind: "),
    (_with(sessionId="x" * 513), "sessionId: "),
]


@pytest.mark.parametrize(("bad", "reason"), BAD_ROWS, ids=[reason for _, reason in BAD_ROWS])
async def test_only_the_row_that_cannot_be_stored_is_rejected(
    ann: Person, bad: dict[str, Any], reason: str
) -> None:
    data = await ann.data("POST", "/spans", json={"spans": [span(), bad, span()]})
    assert (data["accepted"], data["rejected"]) == (2, 1)
    [row] = data["details"]
    assert row["index"] == 1
    assert row["reason"].startswith(reason)
    assert await _stored(ann) == 2
    assert_error(await ann.call("POST", "/spans", json=bad), 400, reason.partition(":")[0])


async def test_every_problem_of_a_row_is_in_its_reason(ann: Person) -> None:
    bad = _with(cost=-1, traceId="abc")
    data = await ann.data("POST", "/spans", json={"spans": [span(), bad]})
    assert "traceId: " in data["details"][0]["reason"]
    assert "cost: " in data["details"][0]["reason"]


async def test_a_request_without_acceptable_rows_is_refused(ann: Person) -> None:
    batch = [span(startTime=TOO_OLD) for _ in range(150)]
    answer = await ann.call("POST", "/spans", json={"spans": batch})
    assert_error(answer, 400, *(f"spans[{n}].startTime" for n in range(100)))
    assert await _stored(ann) == 0


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", 5),
        ("traceId", None),
        ("startTime", 1_700_000_000),
        ("cost", "0.1"),
        ("cost", True),
        ("inputTokens", 1.5),
        ("kind", 5),
        ("attributes", []),
        ("events", "text"),
    ],
)
async def test_a_field_of_the_wrong_type_refuses_the_whole_batch(
    ann: Person, field: str, value: Any
) -> None:
    batch = [span(), _with(**{field: value}), span(startTime=TOO_OLD)]
    answer = await ann.call("POST", "/spans", json={"spans": batch})
    assert_error(answer, 400, f"spans[1].{field}")
    assert await _stored(ann) == 0


async def test_a_row_that_is_not_an_object_refuses_the_whole_batch(ann: Person) -> None:
    assert_error(await ann.call("POST", "/spans", json={"spans": [span(), 5]}), 400, "spans[1]")
    assert await _stored(ann) == 0


async def test_a_batch_without_rejections_returns_only_the_accepted_count(ann: Person) -> None:
    assert await ann.data("POST", "/spans", json={"spans": [span()]}) == {"accepted": 1}


async def test_a_cost_of_hundreds_of_thousands_is_kept_exactly(ann: Person) -> None:
    sent = _with(kind="llm", cost=999_999.25)
    await ann.data("POST", "/spans", json=sent)
    trace = await ann.data("GET", f"/spans/traces/{sent['traceId']}")
    assert trace["cost"] == 999_999.25
