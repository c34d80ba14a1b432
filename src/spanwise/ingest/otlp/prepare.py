"""OTLP requests: decoded and checked, then framed for the engine.

The engine reads the spans themselves. Python looks at each request, resource and scope; of spans
it has the ids and starts checked all at once, and looks at those alone that have events or are
invalid: a loop over attributes would cost more than storing them does. What needs no change goes
on as the bytes that came.
"""

import operator
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import chain, compress, count
from typing import Any, TypeVar

from google.protobuf.message import DecodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, ScopeLogs

from spanwise.ingest.commit.journal import Kind, Record
from spanwise.ingest.otlp import coding_agents
from spanwise.ingest.otlp import json_attributes as documents
from spanwise.ingest.otlp import span_events as events
from spanwise.ingest.otlp.frames import Part, Scope, frame, make_head, split_scopes
from spanwise.ingest.otlp.truncation import MAX_VALUE_BYTES, cut_record, cut_span
from spanwise.ingest.rest import signals
from spanwise.ingest.rest.bodies import NewSignal, to_unix_nano
from spanwise.model.errors import Invalid
from spanwise.model.times import EARLIEST, EARLIEST_STORED, LATEST_STORED, MAX_AHEAD

MAX_ITEMS = 10_000
# A rolling year. Rows are stored by months, and each of them takes the engine some 15 ms for which
# readers wait: 323 in one request took seconds.
MAX_MONTHS = 13
TRACE_ID_BYTES = 16
SPAN_ID_BYTES = 8
_PARENT_ID_BYTES = {8, 0}
# W3C Trace Context: ids of zeros alone are invalid.
_NO_TRACE_ID, _NO_SPAN_ID = bytes(TRACE_ID_BYTES), bytes(SPAN_ID_BYTES)

_EARLIEST_NANO = to_unix_nano(EARLIEST_STORED)
_LATEST_NANO = to_unix_nano(LATEST_STORED)
_AHEAD_NANO = int(MAX_AHEAD.total_seconds()) * 10**9
_DAY_NANO = 86_400 * 10**9
# Nearer to one another than this, times cannot be of more than `MAX_MONTHS` months.
_LEAST_NANO = (MAX_MONTHS - 1) * 28 * _DAY_NANO
_START_OF = operator.attrgetter("start_time_unix_nano")

# The place of a span in its request, and why it cannot be stored.
Rejection = tuple[int, str]

M = TypeVar("M", bound=Message)


@dataclass(frozen=True)
class Prepared:
    """A request that is ready for the journal, and what of it had to be left out."""

    records: tuple[Record, ...]
    accepted: int
    rejected: int = 0
    reason: str = ""


def decode(message: type[M], body: bytes) -> M:
    try:
        return message.FromString(body)
    except DecodeError as error:
        raise Invalid(f"the body is not a valid {message.DESCRIPTOR.name}: {error}") from None


def prepare_traces(
    request: ExportTraceServiceRequest,
    workspace: str,
    body: bytes | None = None,
    *,
    has_calls: bool = False,
) -> Prepared:
    """Make a request ready; `body` is what it was decoded from, when that was protobuf."""
    scopes = [scope for resource in request.resource_spans for scope in resource.scope_spans]
    total = _count(len(scope.spans) for scope in scopes)
    _refuse_many_months(chain.from_iterable(scope.spans for scope in scopes), _START_OF)
    raw = iter(_raw_scopes(scopes, body))
    frames: list[Part] = []
    found: list[NewSignal] = []
    rejections: list[Rejection] = []
    seen = 0
    for resource in request.resource_spans:
        head = make_head(workspace, resource.resource)
        for scope in resource.scope_spans:
            data = next(raw)
            is_agent = coding_agents.is_agent(scope.scope.name, head)
            has_calls |= is_agent
            changes, problems = _change_spans(scope, data, found, is_agent=is_agent)
            rejections += [(seen + index, problem) for index, problem in problems]
            seen += len(scope.spans)
            frames += frame(data.parts(changes), head)
    if total and len(rejections) == total:
        raise Invalid(
            "no span has a valid traceId (16 bytes), spanId (8 bytes), parentSpanId (8 bytes or "
            "none) and start time (after 1999, at most two days ahead); logs go to /v1/logs, not "
            f"to /v1/traces. {_describe(rejections)}"
        )
    kind = Kind.CALLS if has_calls else Kind.TRACES
    prepared = _prepared(kind, frames, total, rejections)
    if found:
        record = signals.prepare_signals(workspace, found).record
        prepared = replace(prepared, records=(*prepared.records, record))
    return prepared


def prepare_logs(
    request: ExportLogsServiceRequest, workspace: str, body: bytes | None = None
) -> Prepared:
    scopes = [scope for resource in request.resource_logs for scope in resource.scope_logs]
    total = _count(len(scope.log_records) for scope in scopes)
    _refuse_many_months(chain.from_iterable(scope.log_records for scope in scopes), _time_of)
    raw = _raw_scopes(scopes, body)
    left = iter(raw)
    frames = []
    has_agent = any(coding_agents.may_be_coding_agent(scope.has) for scope in raw)
    for resource in request.resource_logs:
        head = make_head(workspace, resource.resource)
        for scope in resource.scope_logs:
            data = next(left)
            has_agent |= coding_agents.is_agent(scope.scope.name, head)
            frames += frame(data.parts(_cut_logs(scope, data)), head)
    prepared = _prepared(Kind.LOGS, frames, total)
    calls = coding_agents.to_spans(request) if has_agent else ExportTraceServiceRequest()
    if calls.resource_spans:
        # Records whose times no clock shows are logs alone.
        with suppress(Invalid):
            records = prepare_traces(calls, workspace, has_calls=True).records
            prepared = replace(prepared, records=(*prepared.records, *records))
    return prepared


def _time_of(record: LogRecord) -> int:
    return record.time_unix_nano or record.observed_time_unix_nano


def _cut_logs(scope: ScopeLogs, raw: Scope) -> dict[int, bytes | None]:
    """Cut values that are too long; return the records that had to change."""
    if raw.size <= MAX_VALUE_BYTES:
        return {}
    return {
        index: record.SerializeToString()
        for index, record in enumerate(scope.log_records)
        if cut_record(record)
    }


def prepare_metrics(
    request: ExportMetricsServiceRequest, workspace: str, body: bytes | None = None
) -> Prepared:
    scopes = [scope for resource in request.resource_metrics for scope in resource.scope_metrics]
    total = _count(len(scope.metrics) for scope in scopes)
    raw = iter(_raw_scopes(scopes, body))
    frames = [
        part
        for resource in request.resource_metrics
        for _ in resource.scope_metrics
        for part in frame(next(raw).parts({}), make_head(workspace, resource.resource))
    ]
    return _prepared(Kind.METRICS, frames, total)


def _raw_scopes(scopes: Sequence[Message], body: bytes | None) -> list[Scope]:
    """Return the bytes of scopes, free of fields that OTLP does not know.

    The engine's message has one of its own: a sender that wrote it could name another workspace.
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


def _prepared(
    kind: Kind,
    frames: list[Part],
    total: int,
    rejections: Sequence[Rejection] = (),
) -> Prepared:
    records = (Record(kind, bytearray().join(frames)),) if total else ()
    rejected = len(rejections)
    return Prepared(records, total - rejected, rejected, _describe(rejections))


def _describe(rejections: Sequence[Rejection]) -> str:
    """Say how many spans have which problem, and where the first of each stands."""
    by_problem: dict[str, list[int]] = {}
    for index, problem in rejections:
        by_problem.setdefault(problem, []).append(index)
    return "; ".join(
        f"{problem}: {len(places):,} of the spans, the first at index {places[0]}"
        for problem, places in by_problem.items()
    )


def _count(sizes: Iterable[int]) -> int:
    total = sum(sizes)
    if total > MAX_ITEMS:
        raise Invalid(f"the request holds {total:,} items; at most {MAX_ITEMS:,} are taken")
    return total


def _refuse_many_months(items: Iterable[Any], time_of: Callable[[Any], int]) -> None:
    """Refuse a request with rows of too many months. Times that no clock shows do not count."""
    times = [*map(time_of, items)]
    if len(times) <= MAX_MONTHS or max(times) - min(times) < _LEAST_NANO:
        return
    days = {at // _DAY_NANO for at in times if _EARLIEST_NANO <= at < _LATEST_NANO}
    months = {f"{EARLIEST + timedelta(days=day):%Y-%m}" for day in days}
    if len(months) > MAX_MONTHS:
        raise Invalid(
            f"the request holds items of {len(months):,} months; at most {MAX_MONTHS} are taken"
        )


# --- spans --------------------------------------------------------------------------------------


def _change_spans(
    scope: Any,  # noqa: ANN401 -- ScopeSpans
    raw: Scope,
    found: list[NewSignal],
    *,
    is_agent: bool,
) -> tuple[dict[int, bytes | None], list[Rejection]]:
    """Say which spans of a scope go on otherwise than they came, and how; None is not at all.

    Returns why those are left out as well. Evaluation results among the events are added to
    `found`.
    """
    changes: dict[int, bytes | None] = {}
    rejections: list[Rejection] = []
    is_folded = documents.may_be_folded(scope.scope.name, raw.has)
    may_be_long = raw.size > MAX_VALUE_BYTES and any(
        end - start > MAX_VALUE_BYTES for start, _, end in raw.items()
    )
    latest = time.time_ns() + _AHEAD_NANO
    must_see_all = is_folded or may_be_long or is_agent
    places = range(len(scope.spans)) if must_see_all else _find_special(scope.spans, latest)
    for index in places:
        span = scope.spans[index]
        if problem := _problem_of(span, latest):
            changes[index] = None
            rejections.append((index, problem))
            continue
        is_changed = _drop_impossible_end(span, latest)
        is_changed |= events.summarize(span) if span.events else False
        is_changed |= documents.unfold(span) if is_folded else False
        is_changed |= coding_agents.name_call(span) if is_agent else False
        is_changed |= cut_span(span) if may_be_long else False
        if is_changed:
            changes[index] = span.SerializeToString()
        found += events.evaluations(span)
    return changes, rejections


def _problem_of(span: Any, latest: int) -> str:  # noqa: ANN401 -- Span
    """Say why a span cannot be stored; empty when it can."""
    if len(span.trace_id) != TRACE_ID_BYTES or span.trace_id == _NO_TRACE_ID:
        return "traceId must be 16 bytes and not all zeros"
    if len(span.span_id) != SPAN_ID_BYTES or span.span_id == _NO_SPAN_ID:
        return "spanId must be 8 bytes and not all zeros"
    if len(span.parent_span_id) not in _PARENT_ID_BYTES:
        return "parentSpanId must be 8 bytes or none"
    if not _EARLIEST_NANO <= span.start_time_unix_nano <= latest:
        return "the start time must lie after 1999 and at most two days ahead"
    return ""


def _drop_impossible_end(span: Any, latest: int) -> bool:  # noqa: ANN401 -- Span
    """Take an end that no clock can have shown for none: the span has no duration then."""
    if span.end_time_unix_nano <= latest:
        return False
    span.end_time_unix_nano = span.start_time_unix_nano
    return True


_LOOKED_AT = operator.attrgetter(
    "trace_id",
    "span_id",
    "parent_span_id",
    "start_time_unix_nano",
    "end_time_unix_nano",
    "events",
)


def _find_special(spans: Sequence[Any], latest: int) -> Iterable[int]:
    """Say which spans have events or may be invalid, without a loop in Python over the others."""
    if not spans:
        return ()
    columns = [*zip(*map(_LOOKED_AT, spans), strict=True)]
    return compress(count(), columns[-1]) if _are_valid(columns, latest) else range(len(spans))


def _are_valid(columns: Sequence[Sequence[Any]], latest: int) -> bool:
    """Return whether every span in the columns is valid; `_problem_of` says what is not."""
    trace_ids, span_ids, parent_ids, starts, ends, _ = columns
    return (
        set(map(len, trace_ids)) == {TRACE_ID_BYTES}
        and set(map(len, span_ids)) == {SPAN_ID_BYTES}
        and set(map(len, parent_ids)) <= _PARENT_ID_BYTES
        and _NO_TRACE_ID not in trace_ids
        and _NO_SPAN_ID not in span_ids
        and min(starts) >= _EARLIEST_NANO
        and max(starts) <= latest
        and max(ends) <= latest
    )
