"""Derives spans from the log records of coding agents: one per prompt, model call and tool call.

Spans of the same prompt form a trace; without prompt ids, all those of a session do. They have no
common parent, because each call must count even if the others never arrive. Span ids are hashes of
the records, so a record that is sent again counts once. What a model was asked and answered is in
other records, which are searched in the same export.

A record with a trace id belongs to that trace, and the agent may export its own span for the same
call. Both spans carry the id of the call, by which storage removes the derived one when it has the
agent's own (`storage/telemetry/write/derived_calls.py`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, ScopeLogs
from opentelemetry.proto.trace.v1.trace_pb2 import ScopeSpans, Span, Status

from spanwise.ingest.otlp.limits import SPAN_ID_BYTES, TRACE_ID_BYTES
from spanwise.model.telemetry.conventions import CALL_ID, CALL_IS_DERIVED
from spanwise.storage.telemetry.rows.decoding import to_plain_value


@dataclass(frozen=True)
class Call:
    """An event that reports a prompt or the end of a call."""

    kind: str
    provider: str = ""
    # Attributes, with their value or None for any, without which the event reports nothing.
    required: tuple[tuple[str, str | None], ...] = ()
    is_error: bool = False
    # Counts to add up, where an agent reports disjoint parts.
    input_parts: tuple[str, ...] = ()
    output_parts: tuple[str, ...] = ()


_PROMPT = Call("other", required=(("prompt", None),))
_COMPLETED = (("event.kind", "response.completed"), ("input_token_count", None))
CALLS: dict[str, Call] = {
    "claude_code.user_prompt": _PROMPT,
    "claude_code.api_request": Call(
        "llm",
        "anthropic",
        input_parts=("input_tokens", "cache_read_tokens", "cache_creation_tokens"),
    ),
    "claude_code.api_error": Call("llm", "anthropic", is_error=True),
    "claude_code.tool_result": Call("tool"),
    "codex.user_prompt": _PROMPT,
    # The same event is sent a second time, without tokens.
    "codex.sse_event": Call("llm", "openai", required=_COMPLETED),
    "codex.api_request": Call("llm", "openai", required=(("error.message", None),), is_error=True),
    "codex.tool_result": Call("tool"),
    "gemini_cli.user_prompt": _PROMPT,
    "gemini_cli.api_response": Call(
        "llm", "gcp.gemini", output_parts=("output_token_count", "thoughts_token_count")
    ),
    "gemini_cli.api_error": Call("llm", "gcp.gemini", is_error=True),
    "gemini_cli.tool_call": Call("tool"),
}


@dataclass(frozen=True)
class Text:
    """An event with the input or the output of a call, which has the same id."""

    field: str
    attribute: str
    id_attribute: str


TEXTS: dict[str, Text] = {
    "claude_code.assistant_response": Text("spanwise.output", "response", "request_id"),
    "gemini_cli.api_request": Text("spanwise.input", "request_text", "prompt_id"),
}
# Texts by field and by the id of the call.
Texts = Mapping[tuple[str, str], str]
_MARKERS = (b"claude_code.", b"codex.", b"gemini_cli.")
# Claude Code may send the event's name without this prefix.
_CLAUDE_CODE_PREFIX = "claude_code."
_CLAUDE_CODE_SCOPE = "com.anthropic.claude_code"
_CLAUDE_CODE_SERVICE = b"claude-code"
# Claude Code's own spans of calls -> their kind.
_CALL_SPANS = {"claude_code.llm_request": "llm", "claude_code.tool": "tool"}
_CALL_IDS = {"llm": ("request_id", "client_request_id"), "tool": ("tool_use_id",), "other": ()}
# OTLP span flags: the parent is remote, so the span counts as a root until its parent arrives.
REMOTE_PARENT = 0x300
_SESSIONS = ("session.id", "conversation.id")
_PROMPTS = ("prompt.id", "prompt_id")
_INPUTS = ("arguments", "tool_parameters", "tool_input", "function_args", "prompt")
_OUTPUTS = ("output", "tool_output", "response_text")
_REDACTED = ("<REDACTED>", "[REDACTED]")
_ERRORS = ("error", "error.message", "error_message")
_TOOLS = ("tool_name", "function_name")
# Larger numbers of tokens or milliseconds are no numbers of these.
_MAX_NUMBER = 1e15


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
        events = [
            event
            for scope in resource.scope_logs
            for event in _read_events(scope, is_claude=is_claude_code(scope.scope.name, service))
        ]
        texts = _find_texts(events)
        spans = [span for event in events if (span := _to_span(*event, texts)) is not None]
        if spans:
            target = traces.resource_spans.add()
            target.resource.CopyFrom(resource.resource)
            target.scope_spans.append(ScopeSpans(spans=spans))
    return traces


# A record, the full name of its event, and its attributes.
Event = tuple[LogRecord, str, Mapping[str, Any]]


def _read_events(scope: ScopeLogs, *, is_claude: bool) -> Iterator[Event]:
    """Yield the records with a known event."""
    for record in scope.log_records:
        values = {a.key: to_plain_value(a.value) for a in record.attributes}
        if name := _event_name(record, values, is_claude=is_claude):
            yield record, name, values


def _find_texts(events: Iterable[Event]) -> Texts:
    return {
        (text.field, str(values.get(text.id_attribute))): str(values[text.attribute])
        for _, name, values in events
        if (text := TEXTS.get(name)) is not None and values.get(text.attribute)
    }


def _to_span(record: LogRecord, name: str, values: Mapping[str, Any], texts: Texts) -> Span | None:
    call = CALLS.get(name)
    if call is None or not _meets_requirements(call, values):
        return None
    is_error = call.is_error or str(values.get("success", "true")).lower() == "false"
    call_id = _first(values, _CALL_IDS[call.kind])
    session = _first(values, _SESSIONS)
    raw = record.SerializeToString(deterministic=True)
    added = list(_derived_attributes(call, values, texts))
    if len(record.trace_id) == TRACE_ID_BYTES and any(record.trace_id):
        if not call_id and (is_error or call.kind != "llm"):
            # It could be counted twice, and has no cost that would be lost.
            return None
        if call_id:
            added += [_text_pair(CALL_ID, call_id), _text_pair(CALL_IS_DERIVED, "1")]
        span = Span(
            trace_id=record.trace_id,
            span_id=_hash(SPAN_ID_BYTES, call_id or raw),
            flags=REMOTE_PARENT,
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
    span.name = _span_name(call, values)
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
    return next((name for name in names if name in CALLS or name in TEXTS), "")


def _meets_requirements(call: Call, values: Mapping[str, Any]) -> bool:
    return all(
        values.get(name) == value
        if value is not None
        else values.get(name) and values[name] not in _REDACTED
        for name, value in call.required
    )


def _span_name(call: Call, values: Mapping[str, Any]) -> str:
    if call is _PROMPT:
        return "user prompt"
    if call.kind == "tool":
        return f"execute_tool {_first(values, _TOOLS)}"
    return f"chat {values.get('model', '')}".strip()


def _derived_attributes(call: Call, values: Mapping[str, Any], texts: Texts) -> Iterable[KeyValue]:
    given = {
        "spanwise.kind": call.kind,
        "spanwise.provider": call.provider,
        "spanwise.input": _first(values, _INPUTS),
        "spanwise.output": _first(values, _OUTPUTS),
        "http.response.status_code": _first(values, ("status_code",)),
    }
    if call.kind == "tool":
        given["spanwise.tool.name"] = _first(values, _TOOLS)
    if call.kind == "llm":
        given |= {
            text.field: found
            for text in TEXTS.values()
            if (found := texts.get((text.field, str(values.get(text.id_attribute)))))
        }
    if call.input_parts:
        given["spanwise.input_tokens"] = _add_up(values, call.input_parts)
    if call.output_parts:
        given["spanwise.output_tokens"] = _add_up(values, call.output_parts)
    for key, text in given.items():
        if text:
            yield _text_pair(key, text)


def _add_up(values: Mapping[str, Any], parts: Iterable[str]) -> str:
    return str(int(sum(_number(values.get(part)) for part in parts)))


def _text_pair(key: str, text: str) -> KeyValue:
    return KeyValue(key=key, value=AnyValue(string_value=text))


def _first(values: Mapping[str, Any], names: Iterable[str]) -> str:
    return next((str(values[name]) for name in names if values.get(name)), "")


def _number(value: Any) -> float:  # noqa: ANN401 -- some agents send numbers as text
    try:
        number = float(value or 0)
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return number if 0 < number < _MAX_NUMBER else 0.0


def _hash(size: int, *parts: str | bytes) -> bytes:
    digest = blake2b(digest_size=size)
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(4, "big") + data)
    return digest.digest()
