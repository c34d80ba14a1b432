"""What span events tell beyond their own text: exceptions, messages, flags and evaluations.

Their meaning is written into attributes of the span under `spanwise.` names, which the convention
table knows; the events themselves stay as they are.
"""

import math
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import orjson
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from spanwise.ingest.bodies import NewSignal

INPUT_EVENTS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    "gen_ai.content.prompt": "user",
}
OUTPUT_EVENTS = {"gen_ai.choice": "assistant", "gen_ai.content.completion": "assistant"}
EXCEPTION_EVENTS = {"exception", "gen_ai.client.operation.exception"}
FLAG_EVENTS = {"feature_flag", "feature_flag.evaluation"}
EVALUATION_EVENT = "gen_ai.evaluation.result"
_MAX_COMMENT = 65_536
_EARLIEST_NANO = 946_684_800 * 10**9
_AHEAD_NANO = 2 * 86_400 * 10**9
DETAILS_EVENT = "gen_ai.client.inference.operation.details"


def summarize(span: Span) -> None:
    """Write what the events of a span mean into its attributes."""
    inputs: list[Any] = []
    outputs: list[Any] = []
    for event in span.events:
        values = {a.key: plain_value(a.value) for a in event.attributes}
        if event.name in EXCEPTION_EVENTS:
            _add(span, "spanwise.exception.type", values.get("exception.type"))
            _add(span, "spanwise.exception.message", values.get("exception.message"))
        elif event.name in FLAG_EVENTS:
            _add(span, "spanwise.flag.key", values.get("feature_flag.key"))
            _add(span, "spanwise.flag.variant", values.get("feature_flag.result.variant"))
            _add(span, "spanwise.flag.variant", values.get("feature_flag.variant"))
        elif event.name in INPUT_EVENTS:
            inputs.append(to_message(INPUT_EVENTS[event.name], values))
        elif event.name in OUTPUT_EVENTS:
            outputs.append(to_message(OUTPUT_EVENTS[event.name], values))
        elif event.name == DETAILS_EVENT:
            _add(span, "spanwise.event.input", values.get("gen_ai.input.messages"))
            _add(span, "spanwise.event.output", values.get("gen_ai.output.messages"))
    _add(span, "spanwise.event.input", inputs)
    _add(span, "spanwise.event.output", outputs)


def evaluations(span: Span) -> list[NewSignal]:
    """Return the evaluation results among a span's events, as signals."""
    found = []
    for event in span.events:
        if event.name == EVALUATION_EVENT:
            values = {a.key: plain_value(a.value) for a in event.attributes}
            signal = to_signal(values, span.trace_id, span.span_id, _time_of(event, span))
            found += [signal] if signal is not None else []
    return found


def to_signal(
    values: Mapping[str, Any], trace_id: bytes, span_id: bytes, time_unix_nano: int
) -> NewSignal | None:
    """Make a signal of an evaluation result; None when it has no name or no score."""
    name, score = values.get("gen_ai.evaluation.name"), values.get("gen_ai.evaluation.score.value")
    if not isinstance(name, str) or not name or isinstance(score, bool):
        return None
    if not isinstance(score, int | float) or not math.isfinite(score):
        return None
    label, comment = (
        values.get(f"gen_ai.evaluation.{key}") for key in ("score.label", "explanation")
    )
    return NewSignal(
        # The same event sent again must not count again.
        id=f"sig_{span_id.hex()}{time_unix_nano:x}{name}"[:128],
        signal_name=name[:128],
        value=score,
        trace_id=trace_id.hex() or None,
        span_id=span_id.hex() or None,
        comment=str(comment)[:_MAX_COMMENT] if comment is not None else None,
        metadata={"label": label} if label else {},
        timestamp=datetime.fromtimestamp(time_unix_nano / 1e9, UTC) if time_unix_nano else None,
    )


def _time_of(event: Span.Event, span: Span) -> int:
    """Return the event's time, or its span's when no clock can have shown it. Never now: a resend
    must give the same.
    """
    is_plausible = _EARLIEST_NANO <= event.time_unix_nano <= time.time_ns() + _AHEAD_NANO
    return event.time_unix_nano if is_plausible else span.start_time_unix_nano


def to_message(role: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Make one chat message of an event's attributes, whichever generation wrote them."""
    content = (
        values.get("content") or values.get("gen_ai.prompt") or values.get("gen_ai.completion")
    )
    if content is None:
        content = {
            name: value
            for name, value in values.items()
            if name not in {"gen_ai.system", "gen_ai.provider.name", "role"}
        }
    return {"role": values.get("role") or role, "content": content}


def plain_value(value: AnyValue) -> Any:  # noqa: ANN401 -- any JSON value
    """Turn an OTLP value into what JSON would hold."""
    match value.WhichOneof("value"):
        case "array_value":
            return [plain_value(item) for item in value.array_value.values]
        case "kvlist_value":
            return {item.key: plain_value(item.value) for item in value.kvlist_value.values}
        case "bytes_value":
            return value.bytes_value.hex()
        case None:
            return None
        case name:
            return getattr(value, name)


def _add(span: Span, key: str, value: Any) -> None:  # noqa: ANN401
    if value:
        text = value if isinstance(value, str) else orjson.dumps(value).decode()
        span.attributes.append(KeyValue(key=key, value=AnyValue(string_value=text)))
