"""OTLP/JSON is parsed into the same messages as protobuf."""

import orjson
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanwise.ingest.counts import DEFAULT_LIMITS
from spanwise.ingest.otlp.json_format import decode_json
from spanwise.ingest.records.record import Kind
from spanwise.model.errors import Invalid


def export(**span: object) -> bytes:
    return orjson.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})


def read(body: bytes) -> ExportTraceServiceRequest:
    request: ExportTraceServiceRequest = decode_json(Kind.TRACES, body, DEFAULT_LIMITS)
    return request


@pytest.mark.parametrize("hex_id", ["0AF7651916CD43DD8448EB211C80319C"])
def test_ids_are_hex_in_either_case(hex_id: str) -> None:
    for text in (hex_id, hex_id.lower()):
        request = read(export(traceId=text, spanId="00f067aa0ba902b7", links=[{"traceId": text}]))
        span = request.resource_spans[0].scope_spans[0].spans[0]
        assert span.trace_id.hex() == hex_id.lower()
        assert span.links[0].trace_id.hex() == hex_id.lower()


def test_names_may_be_those_of_the_protobuf_fields() -> None:
    span = {"trace_id": "ab" * 16, "span_id": "cd" * 8, "start_time_unix_nano": "7"}
    body = {"resource_spans": [{"scope_spans": [{"spans": [span]}]}]}
    request = decode_json(Kind.TRACES, orjson.dumps(body), DEFAULT_LIMITS)
    [found] = request.resource_spans[0].scope_spans[0].spans
    assert found.trace_id == b"\xab" * 16
    assert (found.span_id, found.start_time_unix_nano) == (b"\xcd" * 8, 7)


@pytest.mark.parametrize("number", ["1700000000000000001", 1700000000000000001])
def test_long_integers_may_be_strings_or_numbers(number: object) -> None:
    request = read(export(startTimeUnixNano=number))
    start = request.resource_spans[0].scope_spans[0].spans[0].start_time_unix_nano
    assert start == 1700000000000000001


def test_unknown_fields_are_ignored_and_enums_are_numbers() -> None:
    request = read(export(kind=3, status={"code": 2}, somethingNew={"a": 1}))
    span = request.resource_spans[0].scope_spans[0].spans[0]
    assert (span.kind, span.status.code) == (3, 2)


def test_an_attribute_named_like_an_id_keeps_its_value() -> None:
    value = {"key": "traceId", "value": {"stringValue": "not hex"}}
    request = read(export(attributes=[value]))
    [attribute] = request.resource_spans[0].scope_spans[0].spans[0].attributes
    assert attribute.value.string_value == "not hex"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"{", "not valid JSON"),
        (b"[]", "must be a JSON object"),
        (export(traceId="xyz"), "hex digits"),
        (export(name=5), "not a valid ExportTraceServiceRequest"),
        (b'{"a":' + b"[" * 80 + b"]" * 80 + b"}", "nested deeper"),
    ],
)
def test_the_error_names_the_problem(body: bytes, said: str) -> None:
    with pytest.raises(Invalid, match=said):
        read(body)
