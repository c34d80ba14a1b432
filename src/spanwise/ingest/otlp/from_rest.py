"""Converts spans and logs of the REST endpoints to OTLP messages."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import orjson
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, ScopeLogs, SeverityNumber
from opentelemetry.proto.trace.v1.trace_pb2 import ScopeSpans
from opentelemetry.proto.trace.v1.trace_pb2 import Span as OtlpSpan
from opentelemetry.proto.trace.v1.trace_pb2 import Status as OtlpStatus

from spanwise.ingest.otlp.deep_values import STRUCTURE_DEPTH, to_deep_text
from spanwise.ingest.rest_bodies import NewLog, NewSpan, depth_exceeds
from spanwise.model.api_model import utc_now
from spanwise.model.telemetry.spans import SpanStatus
from spanwise.model.times import to_unix_nano

# Field of a REST span -> its attribute: the first source of that field in the convention table.
_ATTRIBUTES = {
    "kind": "spanwise.kind",
    "error_type": "spanwise.error.type",
    "agent_name": "spanwise.agent.name",
    "provider": "spanwise.provider",
    "model": "spanwise.model",
    "input_tokens": "gen_ai.usage.input_tokens",
    "output_tokens": "gen_ai.usage.output_tokens",
    "cached_tokens": "gen_ai.usage.cache_read.input_tokens",
    "reasoning_tokens": "gen_ai.usage.reasoning.output_tokens",
    "cost": "spanwise.cost",
    "tool_name": "spanwise.tool.name",
    "session_id": "spanwise.session.id",
    "user_id": "spanwise.user.id",
    "environment": "spanwise.environment",
    "experiment_id": "spanwise.experiment.id",
    "variant": "spanwise.experiment.variant",
    "input": "spanwise.input",
    "output": "spanwise.output",
}
_STATUS = {
    SpanStatus.UNSET: OtlpStatus.STATUS_CODE_UNSET,
    SpanStatus.OK: OtlpStatus.STATUS_CODE_OK,
    SpanStatus.ERROR: OtlpStatus.STATUS_CODE_ERROR,
}


def spans_to_otlp(spans: Sequence[NewSpan]) -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest()
    scopes: dict[str, ScopeSpans] = {}
    for span in spans:
        service = span.service_name or ""
        if service not in scopes:
            resource = request.resource_spans.add()
            if service:
                _add_pairs(resource.resource.attributes, [("service.name", service)])
            scopes[service] = resource.scope_spans.add()
        _fill_span(scopes[service].spans.add(), span)
    return request


def _fill_span(target: OtlpSpan, span: NewSpan) -> None:
    start = to_unix_nano(span.start_time)
    end = start
    if span.end_time is not None:
        end = to_unix_nano(span.end_time)
    elif span.duration_ms is not None:
        end = start + round(span.duration_ms * 1_000_000)
    target.trace_id = bytes.fromhex(span.trace_id)
    target.span_id = bytes.fromhex(span.span_id)
    target.parent_span_id = bytes.fromhex(span.parent_span_id or "")
    target.name = span.name
    target.start_time_unix_nano = start
    target.end_time_unix_nano = end
    target.status.code = _STATUS[span.status]
    target.status.message = span.status_message or ""
    for field, attribute in _ATTRIBUTES.items():
        value = getattr(span, field)
        if value is not None:
            is_document = field in {"input", "output"} and isinstance(value, dict | list)
            text = orjson.dumps(value).decode() if is_document else value
            _add_pairs(target.attributes, [(attribute, text)])
    _add_pairs(target.attributes, span.attributes.items())
    for event in span.events:
        added = target.events.add()
        added.name = event.name
        added.time_unix_nano = to_unix_nano(event.time or span.start_time)
        _add_pairs(added.attributes, event.attributes.items())


def logs_to_otlp(logs: Sequence[NewLog]) -> ExportLogsServiceRequest:
    request = ExportLogsServiceRequest()
    by_agent: dict[str, list[NewLog]] = defaultdict(list)
    for log in logs:
        by_agent[log.agent_name or ""].append(log)
    for agent, records in by_agent.items():
        resource = request.resource_logs.add()
        if agent:
            _add_pairs(resource.resource.attributes, [("service.name", agent)])
        resource.scope_logs.append(ScopeLogs(log_records=[_to_record(log) for log in records]))
    return request


def _to_record(log: NewLog) -> LogRecord:
    at = to_unix_nano(log.timestamp or utc_now())
    record = LogRecord(
        time_unix_nano=at,
        observed_time_unix_nano=at,
        severity_number=SeverityNumber.ValueType(log.level.severity),
        severity_text=log.level,
        body=AnyValue(string_value=log.message),
        trace_id=bytes.fromhex(log.trace_id or ""),
        span_id=bytes.fromhex(log.span_id or ""),
    )
    _add_pairs(record.attributes, log.attributes.items())
    return record


def _add_pairs(target: Any, items: Iterable[tuple[str, Any]]) -> None:  # noqa: ANN401 -- repeated
    for key, value in items:
        is_deep = isinstance(value, dict | list) and depth_exceeds(value, STRUCTURE_DEPTH)
        if value is not None:
            _set_value(target.add(key=key).value, to_deep_text(value) if is_deep else value)


def to_any_value(value: Any) -> AnyValue:  # noqa: ANN401 -- any JSON
    made = AnyValue()
    _set_value(made, value)
    return made


def _set_value(target: AnyValue, value: Any) -> None:  # noqa: ANN401
    """Set a value in place: assembled from parts, every level would copy all below it."""
    match value:
        case bool():
            target.bool_value = value
        case int() if -(2**63) <= value < 2**63:
            target.int_value = value
        case int() | float():
            target.double_value = float(value)
        case str():
            target.string_value = str(value)
        case list():
            target.array_value.SetInParent()
            values = target.array_value.values
            for item in value:
                _set_value(values.add(), item)
        case dict():
            target.kvlist_value.SetInParent()
            pairs = target.kvlist_value.values
            for key, item in value.items():
                if item is not None:
                    _set_value(pairs.add(key=key).value, item)
