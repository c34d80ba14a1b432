"""Span events are converted to attributes."""

from typing import Any

import orjson
import pytest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from spanwise.ingest.otlp.span_events import add_event_attributes


def span_with(*events: tuple[str, dict[str, Any]]) -> Span:
    span = Span(trace_id=b"t" * 16, span_id=b"s" * 8)
    for name, values in events:
        event = span.events.add(name=name, time_unix_nano=1_700_000_000_000_000_000)
        for key, value in values.items():
            kinds = {float: "double_value", int: "int_value", bool: "bool_value"}
            typed = AnyValue(**{kinds.get(type(value), "string_value"): value})
            event.attributes.add(key=key, value=typed)
    return span


def attributes(span: Span) -> dict[str, str]:
    return {a.key: a.value.string_value for a in span.attributes}


def test_an_exception_names_the_error() -> None:
    span = span_with(("exception", {"exception.type": "KeyError", "exception.message": "no x"}))
    assert add_event_attributes(span)
    assert attributes(span) == {
        "spanwise.exception.type": "KeyError",
        "spanwise.exception.message": "no x",
    }


def test_messages_become_input_and_output() -> None:
    span = span_with(
        ("gen_ai.system.message", {"content": "Be kind."}),
        ("gen_ai.user.message", {"content": "Hi"}),
        ("gen_ai.choice", {"message": "Hello", "finish_reason": "stop"}),
    )
    assert add_event_attributes(span)
    found = attributes(span)
    assert orjson.loads(found["spanwise.event.input"]) == [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Hi"},
    ]
    assert orjson.loads(found["spanwise.event.output"]) == [
        {"role": "assistant", "content": "Hello"}
    ]


@pytest.mark.parametrize("variant", ["feature_flag.result.variant", "feature_flag.variant"])
def test_a_flag_of_either_generation_is_the_experiment(variant: str) -> None:
    span = span_with(("feature_flag.evaluation", {"feature_flag.key": "tone", variant: "b"}))
    assert add_event_attributes(span)
    assert attributes(span) == {"spanwise.flag.key": "tone", "spanwise.flag.variant": "b"}


def test_an_unknown_event_changes_nothing() -> None:
    span = span_with(("cache.miss", {"key": "x"}))
    assert not add_event_attributes(span)
    assert attributes(span) == {}
