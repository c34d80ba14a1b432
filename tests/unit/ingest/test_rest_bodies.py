"""Request bodies of the REST endpoints: which rows are rejected, and which bodies are refused."""

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from spanwise.ingest.rest_bodies import (
    MAX_REJECTED,
    load_json,
    parse_logs,
    parse_signal,
    parse_signals,
    parse_spans,
)
from spanwise.model.errors import Invalid
from support.spans import iso, span

AHEAD = iso(datetime.now(UTC) + timedelta(days=3))
TOO_OLD = "1999-12-31T23:59:59Z"


def without(field: str) -> dict[str, Any]:
    made = span()
    del made[field]
    return made


BAD_SPANS: list[tuple[dict[str, Any], str]] = [
    (without("traceId"), "traceId: is required"),
    (without("spanId"), "spanId: is required"),
    (without("name"), "name: is required"),
    (without("startTime"), "startTime: is required"),
    (span(traceId="abc"), "traceId: "),
    (span(traceId="0" * 32), "traceId: must not be all zeros"),
    (span(spanId="0" * 16), "spanId: must not be all zeros"),
    (span(startTime="yesterday"), "startTime: must be an ISO 8601 time"),
    (span(startTime=TOO_OLD), "startTime: must lie after 1999 and at most two days ahead"),
    (span(startTime=AHEAD), "startTime: must lie after 1999"),
    (span(endTime=AHEAD), "endTime: must lie after 1999"),
    (span(startTime="2026-01-01T00:00:01Z", endTime="2026-01-01T00:00:00Z"), "endTime: must not"),
    (span(durationMs=1e30, endTime=None), "durationMs: must end at most two days ahead"),
    (span(durationMs=-1), "durationMs: "),
    (span(cost=1_000_000), "cost: Input should be less than 1000000"),
    (span(cost=-0.01), "cost: "),
    (span(inputTokens=-1), "inputTokens: "),
    (span(outputTokens=2**32), "outputTokens: "),
    (span(cachedTokens=2**63), "cachedTokens: "),
    (span(reasoningTokens=2**64), "reasoningTokens: "),
    (span(kind="unheard-of"), "kind: "),
    (span(sessionId="x" * 513), "sessionId: "),
]


@pytest.mark.parametrize(("bad", "reason"), BAD_SPANS, ids=[reason for _, reason in BAD_SPANS])
def test_only_the_span_that_cannot_be_stored_is_rejected(bad: dict[str, Any], reason: str) -> None:
    first, last = span(), span()
    # Through JSON, where integers beyond 64 bits become floats.
    parsed = parse_spans(load_json(json.dumps({"spans": [first, bad, last]}).encode(), 100), 10)
    assert [item.span_id for item in parsed.items] == [first["spanId"], last["spanId"]]
    [rejection] = parsed.rejections
    assert rejection.index == 1
    assert rejection.reason.startswith(reason)
    assert fields_refused(parse_spans, bad) == [reason.partition(":")[0]]


def fields_refused(parse: Callable[[Any, int], object], body: Any) -> list[str]:
    with pytest.raises(Invalid) as raised:
        parse(body, 10)
    return [each.field for each in raised.value.details]


def test_every_problem_of_a_row_is_in_its_reason() -> None:
    [rejection] = parse_spans({"spans": [span(), span(cost=-1, traceId="abc")]}, 10).rejections
    assert "traceId: " in rejection.reason
    assert "cost: " in rejection.reason


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
def test_a_field_of_the_wrong_type_refuses_the_whole_batch(field: str, value: Any) -> None:
    batch = [span(), span(**{field: value}), span(startTime=TOO_OLD)]
    assert fields_refused(parse_spans, {"spans": batch}) == [f"spans[1].{field}"]


def test_a_row_that_is_not_an_object_refuses_the_whole_batch() -> None:
    assert fields_refused(parse_spans, {"spans": [span(), 5]}) == ["spans[1]"]


def test_rows_have_their_index_in_a_large_batch() -> None:
    batch = [span() for _ in range(350)]
    for index in (5, 120, 349):
        batch[index]["cost"] = -1
    parsed = parse_spans({"spans": batch}, 1000)
    assert [rejection.index for rejection in parsed.rejections] == [5, 120, 349]
    assert [item.span_id for item in parsed.items] == [
        row["spanId"] for row in batch if row.get("cost") != -1
    ]
    assert fields_refused(lambda body, _: parse_spans(body, 1000), {"spans": [*batch, 5]}) == [
        "spans[350]"
    ]


def test_a_batch_with_too_many_invalid_rows_is_refused() -> None:
    good, bad = span(), {"traceId": "a" * 32}
    parsed = parse_spans({"spans": [good, *[bad] * MAX_REJECTED]}, 10_000)
    assert (len(parsed.items), len(parsed.rejections)) == (1, MAX_REJECTED)
    with pytest.raises(Invalid, match=r"more than 1,000 spans are invalid; spans\[1\]\.spanId"):
        parse_spans({"spans": [good, *[bad] * (MAX_REJECTED + 1)]}, 10_000)


@pytest.mark.parametrize(
    "body",
    [
        {"spans": [{}] * 10_000},
        {"spans": [span(), *[{}] * 9_999]},
        {"spans": [span(events=[{}] * 100_000)]},
        {"logs": [{}] * 10_000},
        [{}] * 1000,
    ],
    ids=["spans", "spans after a valid one", "events", "logs", "signals"],
)
def test_many_invalid_rows_are_refused_soon(body: Any) -> None:
    parse = parse_logs if "logs" in body else parse_spans
    started = time.thread_time()
    with pytest.raises(Invalid):
        parse_signals(body) if isinstance(body, list) else parse(body, 10_000)
    # Describing all their problems takes a second or more.
    assert time.thread_time() - started < 0.3


def log(**fields: Any) -> dict[str, Any]:
    return {"message": "hello", "timestamp": "2026-03-10T12:00:00Z", **fields}


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ({"level": "info"}, "message: is required"),
        (log(level="loud"), "level: "),
        (log(traceId="abc"), "traceId: "),
        (log(spanId="0" * 32), "spanId: "),
        (log(timestamp=TOO_OLD), "timestamp: must lie between 2000 and 2099"),
        (log(timestamp="2100-01-01T00:00:00Z"), "timestamp: must lie between 2000 and 2099"),
        (log(timestamp="1700000000"), "timestamp: "),
        (log(message="x" * (2**20 + 1)), "message: "),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_only_the_log_that_cannot_be_stored_is_rejected(bad: dict[str, Any], reason: str) -> None:
    parsed = parse_logs({"logs": [log(message="a"), bad, log(message="b")]}, 10)
    assert [item.message for item in parsed.items] == ["a", "b"]
    [rejection] = parsed.rejections
    assert rejection.index == 1
    assert rejection.reason.startswith(reason)
    assert fields_refused(parse_logs, bad) == [reason.partition(":")[0]]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"message": 5}, "message"),
        (log(timestamp=12), "timestamp"),
        (log(attributes=[]), "attributes"),
        ({"logs": [log(), {"message": None}]}, "logs[1].message"),
        ({"logs": "text"}, "logs"),
        ({"logs": [log()] * 11}, "logs"),
        ([log()], "body"),
    ],
)
def test_logs_of_the_wrong_shape_are_refused(body: Any, field: str) -> None:
    assert fields_refused(parse_logs, body) == [field]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"value": True}, "value"),
        ({"value": "1"}, "value"),
        ({"value": None}, "value"),
        ({"value": 1.1e15}, "value"),
        ({"value": -1e308}, "value"),
        ({"value": ...}, "value"),
        ({"signalName": ...}, "signalName"),
        ({"signalName": ""}, "signalName"),
        ({"signalName": 5}, "signalName"),
        ({"signalName": "n" * 129}, "signalName"),
        ({"traceId": "abc"}, "traceId"),
        ({"traceId": "g" * 32}, "traceId"),
        ({"spanId": "0" * 32}, "spanId"),
        ({"timestamp": 1_700_000_000}, "timestamp"),
        ({"timestamp": "1700000000"}, "timestamp"),
        ({"timestamp": "yesterday"}, "timestamp"),
        ({"timestamp": "2201-01-01T00:00:00Z"}, "timestamp"),
        ({"metadata": [1]}, "metadata"),
        ({"metadata": json.loads('{"a":' * 70 + "1" + "}" * 70)}, "metadata"),
        ({"id": ""}, "id"),
        ({"id": 7}, "id"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_an_invalid_signal_is_refused_with_the_field(body: dict[str, Any], field: str) -> None:
    fields = {"signalName": "n", "value": 1, **body}
    given = {name: value for name, value in fields.items() if value is not ...}
    assert fields_refused(lambda each, _: parse_signal(each), given) == [field]


@pytest.mark.parametrize(
    "text",
    [
        b'{"value": 1e999}',
        b'{"value": NaN}',
        b'{"value": Infinity}',
        b'{"value": 1',
        b'{"signalName": "\xff"}',
        b'{"signalName": "\\ud800"}',
        b"",
    ],
)
def test_anything_but_json_is_refused(text: bytes) -> None:
    assert fields_refused(lambda body, _: load_json(body, 100), text) == ["body"]


def test_a_batch_of_signals_with_invalid_ones_is_refused_and_names_each() -> None:
    signals: list[Any] = [{"signalName": "n", "value": n} for n in range(10)]
    signals[3] = {"signalName": "n", "value": True}
    signals[5] = {"value": 1}
    signals[8] = "not a signal"
    assert fields_refused(lambda body, _: parse_signals(body), signals) == [
        "signals[3].value",
        "signals[5].signalName",
        "signals[8]",
    ]


@pytest.mark.parametrize(
    "body",
    [[], {"signals": []}, {}, {"signals": {}}, "text", 1, [{"signalName": "n", "value": 1}] * 1001],
    ids=lambda body: str(body)[:20],
)
def test_a_batch_of_signals_is_a_list_of_1_to_1000(body: Any) -> None:
    assert fields_refused(lambda each, _: parse_signals(each), body) == ["signals"]
