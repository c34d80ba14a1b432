"""Copies data from span events to span attributes, where it can be queried.

Exceptions, messages and flags become attributes with `spanwise.` names, which the convention table
lists as sources. The events themselves are not changed.
"""

from typing import Any

import orjson
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from spanwise.model.telemetry.conversation.messages import (
    DETAILS_EVENT,
    EXCEPTION_EVENTS,
    FLAG_EVENTS,
    INPUT_EVENTS,
    OUTPUT_EVENTS,
    TOOL_OUTPUT_EVENT,
    read_flag,
    to_message,
)
from spanwise.storage.telemetry.rows.decoding import to_plain_value

_READ_EVENTS = {
    *(*EXCEPTION_EVENTS, *FLAG_EVENTS, *INPUT_EVENTS, *OUTPUT_EVENTS),
    *(TOOL_OUTPUT_EVENT, DETAILS_EVENT),
}


def add_event_attributes(span: Span) -> bool:
    """Add attributes derived from the span's events; return whether there were any."""
    before = len(span.attributes)
    inputs: list[Any] = []
    outputs: list[Any] = []
    for event in span.events:
        if event.name not in _READ_EVENTS:
            continue
        values = {a.key: to_plain_value(a.value) for a in event.attributes}
        if event.name in EXCEPTION_EVENTS:
            _add(span, "spanwise.exception.type", values.get("exception.type"))
            _add(span, "spanwise.exception.message", values.get("exception.message"))
        elif event.name in FLAG_EVENTS:
            if flag := read_flag(values):
                _add(span, "spanwise.flag.key", flag[0])
                _add(span, "spanwise.flag.variant", flag[1])
        elif event.name in INPUT_EVENTS:
            inputs.append(to_message(INPUT_EVENTS[event.name], values))
        elif event.name in OUTPUT_EVENTS:
            outputs.append(to_message(OUTPUT_EVENTS[event.name], values))
        elif event.name == TOOL_OUTPUT_EVENT:
            _add(span, "spanwise.event.input", values.get("bash_command"))
            _add(span, "spanwise.event.output", values.get("output"))
        elif event.name == DETAILS_EVENT:
            _add(span, "spanwise.event.input", values.get("gen_ai.input.messages"))
            _add(span, "spanwise.event.output", values.get("gen_ai.output.messages"))
    _add(span, "spanwise.event.input", inputs)
    _add(span, "spanwise.event.output", outputs)
    return len(span.attributes) > before


def _add(span: Span, key: str, value: Any) -> None:  # noqa: ANN401
    if value:
        text = value if isinstance(value, str) else orjson.dumps(value).decode()
        span.attributes.append(KeyValue(key=key, value=AnyValue(string_value=text)))
