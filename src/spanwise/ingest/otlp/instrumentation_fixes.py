"""Corrects spans of instrumentations that deviate from the conventions.

The convention table is the same for all instrumentations. An exception is one function here,
applied only to the scopes of its instrumentation.
"""

from collections.abc import Callable, Mapping

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from spanwise.ingest.otlp import coding_agents
from spanwise.model.telemetry.conventions import (
    EXCLUSIVE_INPUT_SCOPES,
    EXCLUSIVE_INPUT_SPANS,
    FIELDS,
)
from spanwise.model.telemetry.conversation.messages import EXCEPTION_EVENTS

# Changes a span and returns whether it did.
Correction = Callable[[Span], bool]

_LANGSMITH_SCOPE = "langsmith"
_CODEX_SCOPE = "codex_"
# How the names of spans begin with which Codex starts, ends and configures itself.
_CODEX_INTERNALS = (
    *("auth", "fs.", "get_model_info", "initialize", "list_models", "load", "mcp.", "plugins"),
    *("recommended_plugin", "session", "thread"),
)
_ATTRIBUTES = {field.name: field.attributes for field in FIELDS}
# More digits are not a number of tokens.
_MAX_DIGITS = 15
_INPUT_PARTS = ("input_tokens", "cached_tokens", "cache_write_tokens")


def find_corrections(scope_name: str, head: bytes) -> list[Correction]:
    """Return the corrections of a scope, by its name and its resource."""
    if coding_agents.is_claude_code(scope_name, head):
        return [coding_agents.add_call_id, _complete_input_of_named_spans]
    if scope_name.startswith(EXCLUSIVE_INPUT_SCOPES):
        return [_complete_input]
    if scope_name == _LANGSMITH_SCOPE:
        return [_fail_on_exception]
    if scope_name.startswith(_CODEX_SCOPE):
        return [_mark_codex_span]
    return []


def _mark_codex_span(span: Span) -> bool:
    """Mark a span of Codex as no model call, and a root outside of prompts as no trace.

    Codex reports its calls as log records. Its spans are those of its own functions, many of which
    have the model as an attribute, or are roots.
    """
    marks = []
    if any(a.key == "model" for a in span.attributes):
        marks.append(_text_pair("spanwise.kind", "other"))
    is_root = not span.parent_span_id or span.flags & coding_agents.REMOTE_PARENT
    if is_root and span.name.startswith(_CODEX_INTERNALS):
        marks.append(_text_pair("spanwise.internal", "1"))
    span.attributes.extend(marks)
    return bool(marks)


def _fail_on_exception(span: Span) -> bool:
    """Set the status of a failed run: LangSmith's exporter may overwrite it with OK."""
    if span.status.code == Status.STATUS_CODE_ERROR or not any(
        event.name in EXCEPTION_EVENTS for event in span.events
    ):
        return False
    span.status.code = Status.STATUS_CODE_ERROR
    return True


def _complete_input_of_named_spans(span: Span) -> bool:
    return span.name in EXCLUSIVE_INPUT_SPANS and _complete_input(span)


def _complete_input(span: Span) -> bool:
    """Add cached tokens to an input that leaves them out."""
    values = {a.key: a.value for a in span.attributes}
    given, *cached = (_read_count(values, field) for field in _INPUT_PARTS)
    if not any(cached):
        return False
    span.attributes.append(_text_pair("spanwise.input_tokens", str(given + sum(cached))))
    return True


def _text_pair(key: str, text: str) -> KeyValue:
    return KeyValue(key=key, value=AnyValue(string_value=text))


def _read_count(values: Mapping[str, AnyValue], field: str) -> int:
    """Return the field's value from the attribute with the highest precedence."""
    for name in _ATTRIBUTES[field]:
        if name in values:
            value = values[name]
            text = value.string_value or f"{value.int_value or value.double_value // 1:.0f}"
            return int(text) if text.isdecimal() and len(text) <= _MAX_DIGITS else 0
    return 0
