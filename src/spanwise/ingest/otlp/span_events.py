"""Copies data from span events to span attributes and signals, where it can be queried.

Exceptions, messages and flags become attributes with `spanwise.` names, which the convention table
lists as sources; evaluations become signals. The events themselves are not changed.
"""

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import orjson
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from spanwise.ingest.otlp.limits import EARLIEST_NANO, MAX_AHEAD_NANO
from spanwise.ingest.rest.bodies import (
    MAX_SIGNAL_ID_CHARACTERS,
    MAX_SIGNAL_NAME_CHARACTERS,
    MAX_TEXT_CHARACTERS,
    NewSignal,
)
from spanwise.model.telemetry.messages import (
    DETAILS_EVENT,
    EVALUATION_EVENT,
    EXCEPTION_EVENTS,
    FLAG_EVENTS,
    INPUT_EVENTS,
    OUTPUT_EVENTS,
    TOOL_OUTPUT_EVENT,
    read_flag,
    to_message,
)
from spanwise.model.telemetry.signals import MAX_SIGNAL
from spanwise.storage.telemetry.spans.decoding import to_plain_value


def add_event_attributes(span: Span) -> bool:
    """Add attributes derived from the span's events; return whether there were any."""
    before = len(span.attributes)
    inputs: list[Any] = []
    outputs: list[Any] = []
    for event in span.events:
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


def find_evaluations(span: Span) -> list[NewSignal]:
    """Return the evaluation results among a span's events as signals."""
    found = []
    for event in span.events:
        if event.name == EVALUATION_EVENT:
            values = {a.key: to_plain_value(a.value) for a in event.attributes}
            signal = _to_signal(values, span.trace_id, span.span_id, _time_of(event, span))
            found += [signal] if signal is not None else []
    return found


def _to_signal(
    values: Mapping[str, Any], trace_id: bytes, span_id: bytes, time_unix_nano: int
) -> NewSignal | None:
    """Convert an evaluation result; None when it has no name or no finite score."""
    name, score = values.get("gen_ai.evaluation.name"), values.get("gen_ai.evaluation.score.value")
    if not isinstance(name, str) or not name or isinstance(score, bool):
        return None
    # NaN fails this comparison too.
    if not isinstance(score, int | float) or not abs(score) <= MAX_SIGNAL:
        return None
    label, comment = (
        values.get(f"gen_ai.evaluation.{key}") for key in ("score.label", "explanation")
    )
    return NewSignal(
        # Derived from the event, so that an event that is sent again counts once.
        id=f"sig_{span_id.hex()}{time_unix_nano:x}{name}"[:MAX_SIGNAL_ID_CHARACTERS],
        signal_name=name[:MAX_SIGNAL_NAME_CHARACTERS],
        value=score,
        trace_id=trace_id.hex() or None,
        span_id=span_id.hex() or None,
        comment=str(comment)[:MAX_TEXT_CHARACTERS] if comment is not None else None,
        metadata={"label": label} if label else {},
        timestamp=datetime.fromtimestamp(time_unix_nano / 1e9, UTC) if time_unix_nano else None,
    )


def _time_of(event: Span.Event, span: Span) -> int:
    """Return the event's time, or the span's start when it is implausible.

    Never the current time: an event that is sent again must get the same.
    """
    is_plausible = EARLIEST_NANO <= event.time_unix_nano <= time.time_ns() + MAX_AHEAD_NANO
    return event.time_unix_nano if is_plausible else span.start_time_unix_nano


def _add(span: Span, key: str, value: Any) -> None:  # noqa: ANN401
    if value:
        text = value if isinstance(value, str) else orjson.dumps(value).decode()
        span.attributes.append(KeyValue(key=key, value=AnyValue(string_value=text)))
