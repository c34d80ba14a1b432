"""Exports are validated: invalid spans are rejected with a reason, and long values are cut."""

import io
import time
from typing import Any

import pytest
from google.protobuf.proto import parse_length_prefixed
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, ScopeLogs
from opentelemetry.proto.trace.v1.trace_pb2 import ScopeSpans, Span

from spanwise.ingest.otlp.prepare import Prepared, prepare_logs, prepare_traces
from spanwise.ingest.records.record import Kind
from spanwise.model.errors import Invalid
from support.otlp import SECOND, make_logs, make_span, make_traces, pairs

DAY = 86_400 * SECOND
MARKER = "… [cut at 1 MiB]"


def prepare(*spans: Span) -> Prepared:
    return prepare_traces(make_traces(spans), "wsp_1")


def prepare_records(*records: LogRecord) -> Prepared:
    request = make_logs()
    request.resource_logs[0].scope_logs[0].log_records.extend(records)
    return prepare_logs(request, "wsp_1")


def spans_of(prepared: Prepared) -> list[Span]:
    """Return the spans that go into the journal."""
    payload, found = bytes(prepared.records[0].payload), list[Span]()
    stream = io.BytesIO(payload)
    while stream.tell() < len(payload):
        found += parse_length_prefixed(ScopeSpans, stream).spans
    return found


def months_back(count: int) -> list[int]:
    return [time.time_ns() - 31 * DAY * number for number in range(count)]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"trace_id": b""}, "traceId must be 16 bytes"),
        ({"trace_id": b"x" * 15}, "traceId must be 16 bytes"),
        ({"trace_id": b"x" * 20}, "traceId must be 16 bytes"),
        ({"trace_id": bytes(16)}, "traceId must be 16 bytes and not all zeros"),
        ({"span_id": b""}, "spanId must be 8 bytes"),
        ({"span_id": b"x" * 9}, "spanId must be 8 bytes"),
        ({"span_id": bytes(8)}, "spanId must be 8 bytes and not all zeros"),
        ({"parent": b"x"}, "parentSpanId must be 8 bytes or none"),
        ({"start": 1}, "the start time must lie after 1999"),
        ({"start": 29 * 365 * DAY}, "the start time must lie after 1999"),
        ({"start": time.time_ns() + 3 * DAY}, "at most two days ahead"),
        ({"start": 231 * 365 * DAY}, "at most two days ahead"),
    ],
)
def test_an_invalid_span_is_rejected_and_refused_when_alone(
    fields: dict[str, Any], problem: str
) -> None:
    good = make_span()
    prepared = prepare(good, make_span(**fields))
    assert (prepared.accepted, prepared.rejected) == (1, 1)
    assert problem in prepared.reason
    assert spans_of(prepared) == [good]
    with pytest.raises(Invalid, match=r"traceId \(16 bytes\)") as refusal:
        prepare(make_span(**fields))
    assert problem in refusal.value.message


def test_the_reason_has_each_problem_with_the_index_of_its_first_span() -> None:
    old, nameless = make_span(start=SECOND), make_span(span_id=b"")
    request = make_traces([make_span(), old, old])
    request.MergeFrom(make_traces([nameless, make_span()]))
    prepared = prepare_traces(request, "wsp_1")
    assert (prepared.accepted, prepared.rejected) == (2, 3)
    assert prepared.reason == (
        "the start time must lie after 1999 and at most two days ahead: 2 of the spans, the first "
        "at index 1; spanId must be 8 bytes and not all zeros: 1 of the spans, the first at index 3"
    )


@pytest.mark.parametrize("offset", [-DAY, DAY])
def test_a_clock_that_is_a_day_off_is_accepted(offset: int) -> None:
    assert prepare(make_span(start=time.time_ns() + offset)).rejected == 0


@pytest.mark.parametrize("end", [2**64 - 1, time.time_ns() + 3 * DAY], ids=["largest", "later"])
def test_an_impossible_end_time_gives_no_duration(end: int) -> None:
    span = make_span()
    span.end_time_unix_nano = end
    [stored] = spans_of(prepare(make_span(), span))[1:]
    assert stored.end_time_unix_nano == stored.start_time_unix_nano == span.start_time_unix_nano


def test_values_over_a_mebibyte_are_cut_with_a_marker() -> None:
    long = "ü" * 2**20
    span = make_span(notes=long, nested={"list": [long]}, short="x")
    span.events.add(name="note", time_unix_nano=time.time_ns(), attributes=pairs({"text": long}))
    span.links.add(attributes=pairs({"text": long}))
    [stored] = spans_of(prepare(span))
    values = {attribute.key: attribute.value for attribute in stored.attributes}
    kept = {
        "attribute": values["notes"].string_value,
        "nested": values["nested"].kvlist_value.values[0].value.array_value.values[0].string_value,
        "event": stored.events[0].attributes[0].value.string_value,
        "link": stored.links[0].attributes[0].value.string_value,
    }
    for place, text in kept.items():
        assert text.endswith(MARKER), place
        assert len(text.encode()) < 2**20 + 50, place
    assert values["short"].string_value == "x"


def test_long_log_messages_are_cut_with_a_marker() -> None:
    prepared = prepare_logs(make_logs("x" * (2**20 + 10)), "wsp_1")
    scope = parse_length_prefixed(ScopeLogs, io.BytesIO(prepared.records[0].payload))
    assert scope.log_records[0].body.string_value.endswith(MARKER)


def test_items_of_more_than_13_months_are_refused() -> None:
    # Spans with an impossible start time are rejected as usual, and belong to no month.
    good = prepare(*(make_span(start=start) for start in months_back(13)), make_span(start=1))
    assert (good.accepted, good.rejected) == (13, 1)
    with pytest.raises(Invalid, match="300 months; at most 13"):
        prepare(*(make_span(start=start) for start in months_back(300)))
    with pytest.raises(Invalid, match="at most 13"):
        prepare_records(*(LogRecord(time_unix_nano=start) for start in months_back(300)))


@pytest.mark.parametrize(
    "values",
    [
        {"name": "good", "score.value": float("nan")},
        {"name": "", "score.value": 1.0},
        {"name": "x" * 5000, "score.value": 1.0},
        {"name": "good", "score.value": 1.0, "explanation": 5},
        {"name": "good", "score.value": 1.0, "explanation": "x" * 100_000},
    ],
)
@pytest.mark.parametrize("moment", [0, 1, 2**64 - 1])
def test_an_odd_evaluation_event_does_not_reject_its_span(
    values: dict[str, Any], moment: int
) -> None:
    span = make_span()
    span.events.add(
        name="gen_ai.evaluation.result",
        time_unix_nano=moment,
        attributes=pairs({f"gen_ai.evaluation.{key}": value for key, value in values.items()}),
    )
    prepared = prepare(span)
    assert (prepared.accepted, prepared.rejected) == (1, 0)


def test_a_log_record_with_an_odd_trace_id_is_accepted() -> None:
    prepared = prepare_logs(make_logs(trace_id=b"odd"), "wsp_1")
    assert (prepared.accepted, prepared.rejected) == (1, 0)


@pytest.mark.parametrize("has_time", [False, True])
def test_a_call_of_a_coding_agent_without_a_time_is_only_a_log(*, has_time: bool) -> None:
    request = make_logs()
    request.resource_logs[0].resource.attributes.extend(pairs({"service.name": "claude-code"}))
    [record] = request.resource_logs[0].scope_logs[0].log_records
    record.time_unix_nano = time.time_ns() if has_time else 0
    record.event_name = "claude_code.api_request"
    record.attributes.extend(pairs({"session.id": "s", "model": "m", "input_tokens": 1}))
    kinds = [record.kind for record in prepare_logs(request, "wsp_1").records]
    assert kinds == ([Kind.LOGS, Kind.CALLS] if has_time else [Kind.LOGS])
