"""Derives spans from the log records of coding agents: one per call of a model or a tool.

Calls for the same prompt form a trace; without prompt ids, all calls of a session do. They have no
common parent, because each call must count even if the others never arrive. Span ids are hashes of
the records, so a record that is sent again counts once.

A record with a trace id belongs to that trace, and the agent may export its own span for the same
call. Both spans carry the id of the call, by which storage removes the derived one when it has the
agent's own (`storage/telemetry/spans/derived_calls.py`).
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import ScopeSpans, Span, Status

from spanwise.ingest.otlp.limits import SPAN_ID_BYTES, TRACE_ID_BYTES
from spanwise.model.telemetry.conventions import CALL_ID, CALL_IS_DERIVED
from spanwise.storage.telemetry.spans.decoding import to_plain_value


@dataclass(frozen=True)
class Call:
    """An event that reports the end of a call."""

    kind: str
    provider: str
    # An attribute, with its value or None for any, without which the event does not end a call.
    required: tuple[str, str | None] | None = None
    is_error: bool = False
    # Anthropic counts cached tokens beside the input, not as part of it.
    adds_cached: bool = False


CALLS: dict[str, Call] = {
    "claude_code.api_request": Call("llm", "anthropic", adds_cached=True),
    "claude_code.api_error": Call("llm", "anthropic", is_error=True),
    "claude_code.tool_result": Call("tool", ""),
    "codex.sse_event": Call("llm", "openai", required=("event.kind", "response.completed")),
    "codex.api_request": Call("llm", "openai", required=("error.message", None), is_error=True),
    "codex.tool_result": Call("tool", ""),
    "gemini_cli.api_response": Call("llm", "gcp.gemini"),
    "gemini_cli.api_error": Call("llm", "gcp.gemini", is_error=True),
    "gemini_cli.tool_call": Call("tool", ""),
}
_MARKERS = (b"claude_code.", b"codex.", b"gemini_cli.")
# Claude Code may send the event's name without this prefix.
_CLAUDE_CODE_PREFIX = "claude_code."
_CLAUDE_CODE_SCOPE = "com.anthropic.claude_code"
_CLAUDE_CODE_SERVICE = b"claude-code"
# Claude Code's own spans of calls -> their kind.
_CALL_SPANS = {"claude_code.llm_request": "llm", "claude_code.tool": "tool"}
_CALL_IDS = {"llm": ("request_id", "client_request_id"), "tool": ("tool_use_id",)}
# OTLP span flags: the parent is remote, so the span counts as a root until its parent arrives.
_REMOTE_PARENT = 0x300
_SESSIONS = ("session.id", "conversation.id")
_PROMPTS = ("prompt.id", "prompt_id")
_INPUTS = ("arguments", "tool_parameters", "tool_input", "function_args")
_OUTPUTS = ("output", "tool_output")
_ERRORS = ("error", "error.message", "error_message")
_TOOLS = ("tool_name", "function_name")


def may_be_coding_agent(has: Callable[[bytes], bool]) -> bool:
    """Return whether a scope may be from a coding agent; `has` searches its bytes."""
    return any(has(marker) for marker in _MARKERS)


def is_claude_code(scope_name: str, head: bytes) -> bool:
    """Return whether a scope is from Claude Code, by its name or its service name."""
    return scope_name.startswith(_CLAUDE_CODE_SCOPE) or _CLAUDE_CODE_SERVICE in head


def add_call_id(span: Span) -> bool:
    """Add the id of the call to Claude Code's own span; return whether it has one."""
    kind = _CALL_SPANS.get(span.name)
    if kind is None:
        return False
    call_id = _first({a.key: a.value.string_value for a in span.attributes}, _CALL_IDS[kind])
    if call_id:
        span.attributes.append(_text_pair(CALL_ID, call_id))
    return bool(call_id)


def derive_spans(request: ExportLogsServiceRequest) -> ExportTraceServiceRequest:
    """Return the spans of all records that report a call."""
    traces = ExportTraceServiceRequest()
    for resource in request.resource_logs:
        service = resource.resource.SerializeToString()
        spans = [
            span
            for scope in resource.scope_logs
            for record in scope.log_records
            if (span := _to_span(record, is_claude=is_claude_code(scope.scope.name, service)))
            is not None
        ]
        if spans:
            target = traces.resource_spans.add()
            target.resource.CopyFrom(resource.resource)
            target.scope_spans.append(ScopeSpans(spans=spans))
    return traces


def _to_span(record: LogRecord, *, is_claude: bool) -> Span | None:
    values = {a.key: to_plain_value(a.value) for a in record.attributes}
    call = CALLS.get(_event_name(record, values, is_claude=is_claude))
    if call is None or not _meets_requirement(call, values):
        return None
    is_error = call.is_error or str(values.get("success", "true")).lower() == "false"
    call_id = _first(values, _CALL_IDS[call.kind])
    session = _first(values, _SESSIONS)
    raw = record.SerializeToString(deterministic=True)
    added = list(_derived_attributes(call, values))
    if len(record.trace_id) == TRACE_ID_BYTES and any(record.trace_id):
        if not call_id and (is_error or call.kind != "llm"):
            # It could be counted twice, and has no cost that would be lost.
            return None
        if call_id:
            added += [_text_pair(CALL_ID, call_id), _text_pair(CALL_IS_DERIVED, "1")]
        span = Span(
            trace_id=record.trace_id,
            span_id=_hash(SPAN_ID_BYTES, call_id or raw),
            flags=_REMOTE_PARENT,
        )
        if len(record.span_id) == SPAN_ID_BYTES:
            span.parent_span_id = record.span_id
    elif session:
        span = Span(
            trace_id=_hash(TRACE_ID_BYTES, session, _first(values, _PROMPTS)),
            span_id=_hash(SPAN_ID_BYTES, session, raw),
        )
    else:
        return None
    end = record.time_unix_nano or record.observed_time_unix_nano
    duration = round(_number(values.get("duration_ms")) * 1_000_000)
    span.name = _name(call, values)
    span.start_time_unix_nano = end - duration if duration <= end else end
    span.end_time_unix_nano = end
    span.attributes.extend([*record.attributes, *added])
    if is_error:
        span.status.CopyFrom(Status(code=Status.STATUS_CODE_ERROR, message=_first(values, _ERRORS)))
    return span


def _event_name(record: LogRecord, values: Mapping[str, Any], *, is_claude: bool) -> str:
    """Return the full name of a known event, or an empty string."""
    names = [record.event_name, record.body.string_value, str(values.get("event.name", ""))]
    if is_claude:
        names += [_CLAUDE_CODE_PREFIX + name for name in names]
    return next((name for name in names if name in CALLS), "")


def _meets_requirement(call: Call, values: Mapping[str, Any]) -> bool:
    if call.required is None:
        return True
    name, value = call.required
    return values.get(name) == value if value is not None else bool(values.get(name))


def _name(call: Call, values: Mapping[str, Any]) -> str:
    if call.kind == "tool":
        return f"execute_tool {_first(values, _TOOLS)}"
    return f"chat {values.get('model', '')}".strip()


def _derived_attributes(call: Call, values: Mapping[str, Any]) -> Iterable[KeyValue]:
    given = {
        "spanwise.kind": call.kind,
        "spanwise.provider": call.provider,
        "spanwise.input": _first(values, _INPUTS),
        "spanwise.output": _first(values, _OUTPUTS),
        "http.response.status_code": _first(values, ("status_code",)),
    }
    if call.kind == "tool":
        given["spanwise.tool.name"] = _first(values, _TOOLS)
    if call.adds_cached:
        parts = ("input_tokens", "cache_read_tokens", "cache_creation_tokens")
        given["spanwise.input_tokens"] = str(int(sum(_number(values.get(p)) for p in parts)))
    for key, text in given.items():
        if text:
            yield _text_pair(key, text)


def _text_pair(key: str, text: str) -> KeyValue:
    return KeyValue(key=key, value=AnyValue(string_value=text))


def _first(values: Mapping[str, Any], names: Iterable[str]) -> str:
    return next((str(values[name]) for name in names if values.get(name)), "")


def _number(value: Any) -> float:  # noqa: ANN401 -- some agents send numbers as text
    try:
        number = float(value or 0)
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return number if math.isfinite(number) and number > 0 else 0.0


def _hash(size: int, *parts: str | bytes) -> bytes:
    digest = blake2b(digest_size=size)
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(4, "big") + data)
    return digest.digest()
