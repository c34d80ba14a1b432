"""Masking of OTLP messages: which texts change, and what `metadataOnly` keeps."""

import time
from typing import Any

import pytest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from spanwise.ingest.masking.masker import Masker
from spanwise.ingest.otlp.coding_agents import CALLS, derive_spans
from spanwise.ingest.records.record import Kind
from spanwise.model.masking import Detector, MaskingMode, MaskingRules
from spanwise.model.telemetry.conventions import FIELDS, USER_EMAIL
from spanwise.storage.telemetry.rows.decoding import to_plain_value
from support.otlp import make_logs, make_span, make_traces, pairs

EMAIL = "ann@example.com"
MASK = Masker(MaskingRules(mode=MaskingMode.MASK, detectors=list(Detector)))
METADATA_ONLY = Masker(MaskingRules(mode=MaskingMode.METADATA_ONLY))


def mask_span(masker: Masker, span: Span) -> Span:
    request = make_traces([span])
    masker.mask_export(Kind.TRACES, request)
    return request.resource_spans[0].scope_spans[0].spans[0]


def mask_log(masker: Masker, **fields: Any) -> LogRecord:
    request = make_logs()
    record = request.resource_logs[0].scope_logs[0].log_records[0]
    record.MergeFrom(LogRecord(**fields))
    masker.mask_export(Kind.LOGS, request)
    return record


def plain(attributes: Any) -> dict[str, Any]:
    return {pair.key: to_plain_value(pair.value) for pair in attributes}


def test_texts_in_all_values_are_masked() -> None:
    values: dict[str, Any] = {
        "a": EMAIL,
        "list": [EMAIL, 1],
        "map": {"b": {"c": EMAIL}, EMAIL: True},
        "n": 1.5,
    }
    masked = mask_span(MASK, make_span(**values))
    assert plain(masked.attributes) == {
        "a": "[email]",
        "list": ["[email]", 1],
        "map": {"b": {"c": "[email]"}, "[email]": True},
        "n": 1.5,
    }


def test_many_attributes_are_removed_in_linear_time() -> None:
    two = Span(attributes=pairs({"a": "text", "b": 1})).SerializeToString()
    request = make_traces([make_span()])
    [span] = request.resource_spans[0].scope_spans[0].spans
    span.MergeFromString(two * 250_000)
    started = time.thread_time()
    METADATA_ONLY.mask_export(Kind.TRACES, request)
    # In quadratic time it takes 10 s.
    assert time.thread_time() - started < 5
    assert [pair.value.int_value for pair in span.attributes] == [1] * 250_000


def test_names_ids_and_times_are_kept() -> None:
    span = make_span(name=EMAIL, gen_ai__request__model="gpt-4o")
    span.events.add(name="an event", time_unix_nano=1)
    expected = Span.FromString(span.SerializeToString())
    assert mask_span(MASK, span) == expected


def test_bytes_are_removed() -> None:
    span = make_span()
    span.attributes.add(key="image").value.bytes_value = b"\x89PNG"
    assert plain(mask_span(MASK, span).attributes) == {"image": None}


def test_attributes_are_dropped_by_glob() -> None:
    rules = MaskingRules(mode=MaskingMode.MASK, drop_attributes=["http.*.cookie", "secret?"])
    values: dict[str, Any] = {"http.request.cookie": "x", "secret1": 1, "secret": 2, "Secret1": 3}
    span = make_span(**values)
    span.events.add(name="e").attributes.extend(pairs({"secret1": 1, "kept": 1}))
    masked = mask_span(Masker(rules), span)
    assert plain(masked.attributes) == {"secret": 2, "Secret1": 3}
    assert plain(masked.events[0].attributes) == {"kept": 1}


# --- metadataOnly -------------------------------------------------------------------------------

CONTENT = [
    name
    for field in FIELDS
    if field.name in {"input", "output", "error_message"}
    for name in field.attributes
]
STRUCTURAL = [
    name
    for field in FIELDS
    if field.name not in {"input", "output", "error_message"}
    for name in field.attributes
]


@pytest.mark.parametrize("value", ["a text", 5, ["a text"], {"a": "text"}])
def test_all_content_of_the_convention_table_is_removed(value: Any) -> None:
    values: dict[str, Any] = dict.fromkeys(CONTENT, value)
    assert plain(mask_span(METADATA_ONLY, make_span(**values)).attributes) == {}


def test_everything_else_of_the_convention_table_is_kept() -> None:
    values: dict[str, Any] = dict.fromkeys(STRUCTURAL, "a value")
    kept = {name: value for name, value in values.items() if name != USER_EMAIL}
    assert plain(mask_span(METADATA_ONLY, make_span(**values)).attributes) == kept


def test_unknown_texts_are_removed_and_numbers_kept() -> None:
    values: dict[str, Any] = {
        "unknown": "text",
        "list": [1],
        "map": {"a": 1},
        "count": 3,
        "ratio": 0.5,
        "on": True,
    }
    masked = mask_span(METADATA_ONLY, make_span(**values))
    assert plain(masked.attributes) == {"count": 3, "ratio": 0.5, "on": True}


def test_usage_within_a_removed_document_is_kept() -> None:
    values: dict[str, Any] = {
        "genkit:output": '{"message":"a text","usage":{"inputTokens":12,"outputTokens":3}}',
        "llm.input_messages.0.message.content": "a text",
        "llm.input_messages.0.message.weight": 1,
        "llm.invocation_parameters": '{"model":"gpt-4o","stop":"a text"}',
    }
    assert plain(mask_span(METADATA_ONLY, make_span(**values)).attributes) == {
        "spanwise.genkit:output.usage.inputTokens": "12",
        "spanwise.genkit:output.usage.outputTokens": "3",
        "spanwise.llm.invocation_parameters.model": "gpt-4o",
    }


def test_events_keep_the_error_and_lose_messages() -> None:
    span = make_span()
    span.status.CopyFrom(Status(code=Status.STATUS_CODE_ERROR, message="a text"))
    span.trace_state = "a=text"
    exception = {"exception.type": "ValueError", "exception.message": "a text"}
    span.events.add(name="exception").attributes.extend(pairs(exception))
    span.events.add(name="gen_ai.user.message").attributes.extend(pairs({"content": "a text"}))
    masked = mask_span(METADATA_ONLY, span)
    assert [(e.name, plain(e.attributes)) for e in masked.events] == [
        ("exception", {"exception.type": "ValueError"})
    ]
    assert (masked.status.code, masked.status.message, masked.trace_state) == (2, "", "")


def test_of_an_error_message_only_the_words_of_its_type_remain() -> None:
    span = make_span(exception__message="Ann's deadline of 5 s")
    span.status.message = "Rate limit reached for Ann, status 429"
    masked = mask_span(METADATA_ONLY, span)
    assert masked.status.message == "Rate limit status 429"
    assert plain(masked.attributes) == {"exception.message": "deadline"}


def test_log_records_of_messages_are_removed() -> None:
    request = make_logs("a text")
    records = request.resource_logs[0].scope_logs[0].log_records
    records.add(event_name="gen_ai.user.message")
    records.add().attributes.extend(pairs({"event.name": "gen_ai.choice"}))
    METADATA_ONLY.mask_export(Kind.LOGS, request)
    assert len(records) == 1


def test_detectors_apply_to_what_is_kept() -> None:
    rules = MaskingRules(mode=MaskingMode.METADATA_ONLY, detectors=[Detector.EMAIL])
    masked = mask_span(Masker(rules), make_span(user__id=EMAIL))
    assert plain(masked.attributes) == {"user.id": "[email]"}


def test_log_bodies_are_removed() -> None:
    assert not mask_log(METADATA_ONLY, attributes=pairs({"a": "text"})).HasField("body")


def test_calls_of_coding_agents_are_still_found() -> None:
    # A prompt is nothing but its text.
    calls = {name: call for name, call in CALLS.items() if not name.endswith(".user_prompt")}
    for name, call in calls.items():
        request = make_logs(name)
        record = request.resource_logs[0].scope_logs[0].log_records[0]
        record.attributes.extend(
            pairs(
                {
                    "session.id": "s",
                    "model": "gpt-4o",
                    "input_token_count": 5,
                    "tool_name": "search",
                    "duration_ms": "5",
                    "arguments": "a text",
                    "error.message": "a text",
                    **({"event.kind": "response.completed"} if "sse" in name else {}),
                }
            )
        )
        METADATA_ONLY.mask_export(Kind.LOGS, request)
        (resource,) = derive_spans(request).resource_spans
        (span,) = resource.scope_spans[0].spans
        assert b"a text" not in span.SerializeToString()
        assert plain(span.attributes)["spanwise.kind"] == call.kind


def test_key_value_has_no_other_texts() -> None:
    """A new field of OTLP that holds a text would have to be masked too."""
    assert [field.name for field in KeyValue.DESCRIPTOR.fields] == ["key", "value", "key_strindex"]
