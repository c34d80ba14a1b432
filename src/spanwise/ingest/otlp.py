"""OTLP requests: decoded and checked, then framed for the engine.

The engine reads the spans themselves. Python looks at each request, resource and scope; of a span
it only checks the ids and whether there are events, because a loop over attributes would cost more
than storing them does.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import orjson
from google.protobuf.message import DecodeError, Message
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue

from spanwise.ingest import events, signals
from spanwise.ingest.bodies import NewSignal
from spanwise.ingest.journal import Kind, Record
from spanwise.ingest.versions import next_version
from spanwise.model.errors import Invalid

MAX_ITEMS = 10_000
TRACE_ID_BYTES = 16
SPAN_ID_BYTES = 8
MAX_VALUE_BYTES = 2**20
CUT_MARKER = "… [cut at 1 MiB]"

# Clocks may be off by a day; what lies further ahead, or before this service's time, is no time.
_EARLIEST_NANO = 946_684_800 * 10**9
_AHEAD_NANO = 2 * 86_400 * 10**9

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


def prepare_traces(request: ExportTraceServiceRequest, workspace: str) -> Prepared:
    version = next_version()
    total = _count(len(scope.spans) for r in request.resource_spans for scope in r.scope_spans)
    if request.ByteSize() > MAX_VALUE_BYTES:
        cut_long_values(request)
    frames: list[bytes] = []
    found: list[NewSignal] = []
    rejected = 0
    for resource in request.resource_spans:
        suffix = _suffix(workspace, version, resource.resource.attributes)
        for scope in resource.scope_spans:
            rejected += _check_spans(scope.spans, found)
            frames.append(_frame(scope.SerializeToString(), suffix))
    if total and rejected == total:
        raise Invalid(
            "no span has a valid traceId (16 bytes), spanId (8 bytes) and start time (after 1999, "
            "at most two days ahead); logs go to /v1/logs, not to /v1/traces"
        )
    prepared = _prepared(Kind.TRACES, version, frames, total, rejected)
    if found:
        record = signals.prepare_signals(workspace, found).record
        prepared = replace(prepared, records=(*prepared.records, record))
    return prepared


def prepare_logs(request: ExportLogsServiceRequest, workspace: str) -> Prepared:
    total = _count(len(s.log_records) for r in request.resource_logs for s in r.scope_logs)
    version = next_version()
    frames = [
        _frame(scope.SerializeToString(), _suffix(workspace, version, resource.resource.attributes))
        for resource in request.resource_logs
        for scope in resource.scope_logs
    ]
    return _prepared(Kind.LOGS, version, frames, total)


def prepare_metrics(request: ExportMetricsServiceRequest, workspace: str) -> Prepared:
    total = _count(len(s.metrics) for r in request.resource_metrics for s in r.scope_metrics)
    version = next_version()
    frames = [
        _frame(scope.SerializeToString(), _suffix(workspace, version, resource.resource.attributes))
        for resource in request.resource_metrics
        for scope in resource.scope_metrics
    ]
    return _prepared(Kind.METRICS, version, frames, total)


def _prepared(
    kind: Kind, version: int, frames: list[bytes], total: int, rejected: int = 0
) -> Prepared:
    records = (Record(kind, b"".join(frames), version),) if total else ()
    reason = "invalid traceId, spanId or start time" if rejected else ""
    return Prepared(records, total - rejected, rejected, reason)


def _count(sizes: Iterable[int]) -> int:
    total = sum(sizes)
    if total > MAX_ITEMS:
        raise Invalid(f"the request holds {total:,} items; at most {MAX_ITEMS:,} are taken")
    return total


def _check_spans(spans: Any, found: list[NewSignal]) -> int:  # noqa: ANN401 -- protobuf's container
    """Take out spans with invalid ids or times, and say how many; note what events tell."""
    bad = []
    latest = time.time_ns() + _AHEAD_NANO
    for index, span in enumerate(spans):
        if (
            len(span.trace_id) != TRACE_ID_BYTES
            or len(span.span_id) != SPAN_ID_BYTES
            or not _EARLIEST_NANO <= span.start_time_unix_nano <= latest
        ):
            bad.append(index)
        elif span.events:
            events.summarize(span)
            found += events.evaluations(span)
    for index in reversed(bad):
        del spans[index]
    return len(bad)


def cut_long_values(request: ExportTraceServiceRequest) -> None:
    """Cut attribute values beyond 1 MiB. Only bodies that large can hold one."""
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                if span.ByteSize() > MAX_VALUE_BYTES:
                    _cut_values(span.attributes)


def _cut_values(attributes: Iterable[KeyValue]) -> None:
    for attribute in attributes:
        text = attribute.value.string_value
        if len(text) > MAX_VALUE_BYTES // 4 and len(text.encode()) > MAX_VALUE_BYTES:
            kept = text.encode()[:MAX_VALUE_BYTES].decode(errors="ignore")
            attribute.value.string_value = kept + CUT_MARKER


# --- frames -------------------------------------------------------------------------------------
#
# Protobuf messages concatenate: the bytes of a ScopeSpans followed by more fields are again one
# message. The engine's schema of it has these fields beside the spans.

_WORKSPACE, _VERSION, _SERVICE, _ENVIRONMENT, _RESOURCE = 100, 101, 102, 103, 104


def _suffix(workspace: str, version: int, attributes: Iterable[KeyValue]) -> bytes:
    resource = {a.key: events.plain_value(a.value) for a in attributes}
    environment = resource.get("deployment.environment.name") or resource.get(
        "deployment.environment", ""
    )
    return b"".join(
        (
            _text_field(_WORKSPACE, workspace),
            _varint(_VERSION << 3) + _varint(version),
            _text_field(_SERVICE, str(resource.get("service.name", ""))),
            _text_field(_ENVIRONMENT, str(environment)),
            _text_field(_RESOURCE, orjson.dumps(resource, option=orjson.OPT_SORT_KEYS).decode()),
        )
    )


def _frame(message: bytes, suffix: bytes) -> bytes:
    return _varint(len(message) + len(suffix)) + message + suffix


def _text_field(number: int, text: str) -> bytes:
    data = text.encode()
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:  # noqa: PLR2004 -- seven bits a byte
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
