"""Validates decoded OTLP requests and frames them as records for the journal.

The engine parses the spans. Python handles requests, resources and scopes, validates the ids and
times of all spans of a scope at once, and visits only spans that have events or are invalid: a loop
over all attributes would take longer than storing them. Unchanged spans keep their bytes.
"""

import operator
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import compress, count
from typing import Any

from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, ScopeLogs

from spanwise.ingest.otlp import coding_agents, evaluations
from spanwise.ingest.otlp.embedded_values import (
    extract_embedded_values,
    may_have_embedded_values,
)
from spanwise.ingest.otlp.instrumentation_fixes import Correction, find_corrections
from spanwise.ingest.otlp.limits import (
    EARLIEST_NANO,
    MAX_AHEAD_NANO,
    SPAN_ID_BYTES,
    TRACE_ID_BYTES,
    hours_of,
    refuse_many_months,
)
from spanwise.ingest.otlp.message_order import number_messages
from spanwise.ingest.otlp.span_events import add_event_attributes
from spanwise.ingest.otlp.truncation import MAX_VALUE_BYTES, truncate_record, truncate_span
from spanwise.ingest.records.frames import Part, Scope, frame, make_head, split_scopes
from spanwise.ingest.records.record import Kind, Record
from spanwise.ingest.records.rows import encode_signals
from spanwise.ingest.rest_bodies import NewSignal
from spanwise.model.errors import Invalid

_PARENT_ID_BYTES = {SPAN_ID_BYTES, 0}
# Invalid according to W3C Trace Context.
_NO_TRACE_ID, _NO_SPAN_ID = bytes(TRACE_ID_BYTES), bytes(SPAN_ID_BYTES)

_START_OF = operator.attrgetter("start_time_unix_nano")

# The index of a span in its request, and why it is invalid.
Rejection = tuple[int, str]


@dataclass(frozen=True)
class Prepared:
    """Records for the journal, and what was rejected."""

    records: tuple[Record, ...]
    accepted: int
    rejected: int = 0
    reason: str = ""


def prepare_traces(
    request: ExportTraceServiceRequest,
    workspace: str,
    body: bytes | None = None,
    *,
    largest_item: int = sys.maxsize,
    has_calls: bool = False,
) -> Prepared:
    """Prepare spans; `body` is the encoded request, if there is one."""
    scopes = [scope for resource in request.resource_spans for scope in resource.scope_spans]
    total = sum(len(scope.spans) for scope in scopes)
    starts = [start for scope in scopes for start in map(_START_OF, scope.spans)]
    refuse_many_months(starts)
    raw = iter(raw_scopes(scopes, body))
    frames: list[Part] = []
    signals: list[NewSignal] = []
    rejections: list[Rejection] = []
    seen = 0
    for resource in request.resource_spans:
        head = None
        for scope in resource.scope_spans:
            data = next(raw)
            if not (size := len(scope.spans)):
                continue
            head = head or make_head(workspace, resource.resource)
            corrections = find_corrections(scope.scope.name, head)
            has_calls |= coding_agents.add_call_id in corrections
            changes, problems = _change_spans(
                scope, data, starts[seen : seen + size], largest_item, signals, corrections
            )
            rejections += [(seen + index, problem) for index, problem in problems]
            seen += size
            frames += frame(data.parts(changes), head)
    if total and len(rejections) == total:
        raise Invalid(
            "no span has a valid traceId (16 bytes), spanId (8 bytes), parentSpanId (8 bytes or "
            "none) and start time (after 1999, at most two days ahead); logs go to /v1/logs, not "
            f"to /v1/traces. {describe_rejections(rejections)}"
        )
    kind = Kind.CALLS if has_calls else Kind.TRACES
    record = Record(kind, bytearray().join(frames), workspace=workspace, hours=hours_of(starts))
    return _with_signals(to_prepared(record, total, rejections), workspace, signals)


def _with_signals(prepared: Prepared, workspace: str, signals: Sequence[NewSignal]) -> Prepared:
    if not signals:
        return prepared
    record = encode_signals(workspace, [signal.complete() for signal in signals])
    return replace(prepared, records=(*prepared.records, record))


def prepare_logs(
    request: ExportLogsServiceRequest,
    workspace: str,
    body: bytes | None = None,
    *,
    largest_item: int = sys.maxsize,
) -> Prepared:
    scopes = [scope for resource in request.resource_logs for scope in resource.scope_logs]
    total = sum(len(scope.log_records) for scope in scopes)
    refuse_many_months([_time_of(record) for scope in scopes for record in scope.log_records])
    raw = raw_scopes(scopes, body)
    left = iter(raw)
    frames = []
    signals: list[NewSignal] = []
    may_have_calls = any(coding_agents.may_be_coding_agent(scope.has) for scope in raw)
    for resource in request.resource_logs:
        head = None
        for scope in resource.scope_logs:
            data = next(left)
            if not scope.log_records:
                continue
            head = head or make_head(workspace, resource.resource)
            may_have_calls |= coding_agents.is_claude_code(scope.scope.name, head)
            if evaluations.may_be_in(data.has):
                signals += evaluations.find_in_records(scope.log_records)
            frames += frame(data.parts(_change_logs(scope, data, largest_item)), head)
    prepared = to_prepared(Record(Kind.LOGS, bytearray().join(frames)), total)
    prepared = _with_signals(prepared, workspace, signals)
    calls = coding_agents.derive_spans(request) if may_have_calls else ExportTraceServiceRequest()
    if calls.resource_spans:
        # Records with implausible times are stored as logs only.
        with suppress(Invalid):
            records = prepare_traces(calls, workspace, has_calls=True).records
            prepared = replace(prepared, records=(*prepared.records, *records))
    return prepared


def _time_of(record: LogRecord) -> int:
    return record.time_unix_nano or record.observed_time_unix_nano


def _change_logs(scope: ScopeLogs, raw: Scope, largest_item: int) -> dict[int, bytes | None]:
    """Truncate long values and number messages; return the changed records by index."""
    may_have_messages = raw.has(b"gen_ai.") and len(scope.log_records) > 1
    may_be_long = min(raw.size, largest_item) > MAX_VALUE_BYTES
    if not may_be_long and not may_have_messages:
        return {}
    numbered = number_messages(scope.log_records) if may_have_messages else set()
    return {
        index: record.SerializeToString()
        for index, record in enumerate(scope.log_records)
        if truncate_record(record) or index in numbered
    }


def raw_scopes(scopes: Sequence[Message], body: bytes | None) -> list[Scope]:
    """Return the bytes of scopes without fields that OTLP does not define.

    The engine's message has one more field, with which a sender could name another workspace.
    """
    raw = (
        [Scope.of(scope.SerializeToString()) for scope in scopes]
        if body is None
        else split_scopes(body)
    )
    for index, scope in enumerate(scopes):
        if len(UnknownFieldSet(scope)):
            scope.DiscardUnknownFields()
            raw[index] = Scope.of(scope.SerializeToString())
    return raw


def to_prepared(
    record: Record, total: int, rejections: Sequence[Rejection] = (), items: str = "spans"
) -> Prepared:
    rejected = len(rejections)
    reason = describe_rejections(rejections, items)
    return Prepared((record,) if total else (), total - rejected, rejected, reason)


def describe_rejections(rejections: Sequence[Rejection], items: str = "spans") -> str:
    """Describe how many items have which problem, and the index of the first."""
    by_problem: dict[str, list[int]] = {}
    for index, problem in rejections:
        by_problem.setdefault(problem, []).append(index)
    return "; ".join(
        f"{problem}: {len(indexes):,} of the {items}, the first at index {indexes[0]}"
        for problem, indexes in by_problem.items()
    )


# --- spans --------------------------------------------------------------------------------------


def _change_spans(
    scope: Any,  # noqa: ANN401 -- ScopeSpans
    raw: Scope,
    starts: Sequence[int],
    largest_item: int,
    signals: list[NewSignal],
    corrections: Sequence[Correction],
) -> tuple[dict[int, bytes | None], list[Rejection]]:
    """Return changed spans by index, with None for rejected ones, and why those were rejected.

    Adds evaluation results to `signals`.
    """
    changes: dict[int, bytes | None] = {}
    rejections: list[Rejection] = []
    has_embedded = may_have_embedded_values(scope.scope.name, raw.has)
    may_be_long = min(raw.size, largest_item) > MAX_VALUE_BYTES
    latest = time.time_ns() + MAX_AHEAD_NANO
    has_evaluations = evaluations.may_be_in(raw.has)
    must_check_all = has_embedded or may_be_long or corrections or has_evaluations
    indexes = (
        range(len(scope.spans))
        if must_check_all
        else _find_spans_to_check(scope.spans, starts, latest)
    )
    for index in indexes:
        span = scope.spans[index]
        if problem := _find_problem(span, latest):
            changes[index] = None
            rejections.append((index, problem))
            continue
        is_changed = _drop_impossible_end(span, latest)
        is_changed |= add_event_attributes(span) if span.events else False
        is_changed |= extract_embedded_values(span) if has_embedded else False
        for correct in corrections:
            is_changed |= correct(span)
        is_changed |= truncate_span(span) if may_be_long else False
        if is_changed:
            changes[index] = span.SerializeToString()
        signals += evaluations.find_in_span(span) if has_evaluations else ()
    return changes, rejections


def _find_problem(span: Any, latest: int) -> str:  # noqa: ANN401 -- Span
    """Return why a span is invalid, or an empty string."""
    if len(span.trace_id) != TRACE_ID_BYTES or span.trace_id == _NO_TRACE_ID:
        return "traceId must be 16 bytes and not all zeros"
    if len(span.span_id) != SPAN_ID_BYTES or span.span_id == _NO_SPAN_ID:
        return "spanId must be 8 bytes and not all zeros"
    if len(span.parent_span_id) not in _PARENT_ID_BYTES:
        return "parentSpanId must be 8 bytes or none"
    if not EARLIEST_NANO <= span.start_time_unix_nano <= latest:
        return "the start time must lie after 1999 and at most two days ahead"
    return ""


def _drop_impossible_end(span: Any, latest: int) -> bool:  # noqa: ANN401 -- Span
    """Replace an implausible end by the start: the span then has no duration."""
    if span.end_time_unix_nano <= latest:
        return False
    span.end_time_unix_nano = span.start_time_unix_nano
    return True


_CHECKED_FIELDS = operator.attrgetter(
    "trace_id",
    "span_id",
    "parent_span_id",
    "end_time_unix_nano",
    "events",
)


def _find_spans_to_check(spans: Sequence[Any], starts: Sequence[int], latest: int) -> Iterable[int]:
    """Return the spans that have events or may be invalid, without a loop over the others."""
    columns = [*zip(*map(_CHECKED_FIELDS, spans), strict=True)]
    are_valid = _are_valid(columns, starts, latest)
    return compress(count(), columns[-1]) if are_valid else range(len(spans))


def _are_valid(columns: Sequence[Sequence[Any]], starts: Sequence[int], latest: int) -> bool:
    """Return whether every span is valid; `_find_problem` finds which one is not."""
    trace_ids, span_ids, parent_ids, ends, _ = columns
    return (
        set(map(len, trace_ids)) == {TRACE_ID_BYTES}
        and set(map(len, span_ids)) == {SPAN_ID_BYTES}
        and set(map(len, parent_ids)) <= _PARENT_ID_BYTES
        and _NO_TRACE_ID not in trace_ids
        and _NO_SPAN_ID not in span_ids
        and min(starts) >= EARLIEST_NANO
        and max(starts) <= latest
        and max(ends) <= latest
    )
