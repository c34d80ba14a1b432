"""Values nested 64 levels deep are decoded unchanged, from protobuf and from JSON."""

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanwise.ingest.counts import DEFAULT_LIMITS
from spanwise.ingest.otlp.deep_values import flatten_deep_values
from spanwise.ingest.otlp.json_format import decode_json
from spanwise.ingest.records.record import Kind
from spanwise.model.errors import Invalid
from spanwise.storage.telemetry.rows.decoding import to_plain_value
from support.deep_values import encoded, in_json, json_traces, plain, traces_with

SHAPES = ["arrays", "maps", "both"]
GOOD, BAD = [1, 16, 17, 20, 31, 40, 47, 48, 63, 64], [65, 100, 3_000]
CASES = [*product(SHAPES, GOOD)]


def from_protobuf(shape: str, depth: int) -> ExportTraceServiceRequest:
    body = traces_with(encoded(shape, depth))[1]
    return ExportTraceServiceRequest.FromString(
        flatten_deep_values(ExportTraceServiceRequest, body)
    )


def from_json(shape: str, depth: int) -> ExportTraceServiceRequest:
    body = json_traces(in_json(shape, depth))[1]
    request: ExportTraceServiceRequest = decode_json(Kind.TRACES, body, DEFAULT_LIMITS)
    return request


read = pytest.mark.parametrize("read", [from_protobuf, from_json])
Read = Callable[[str, int], ExportTraceServiceRequest]


@read
def test_64_levels_are_decoded_in_every_place(read: Read) -> None:
    for shape, depth in product(SHAPES, GOOD):
        [resource] = read(shape, depth).resource_spans
        [span] = resource.scope_spans[0].spans
        for owner in (resource.resource, span, span.events[0]):
            [attribute] = owner.attributes
            assert to_plain_value(attribute.value) == plain(shape, depth), (shape, depth)


@read
def test_65_levels_are_refused(read: Read) -> None:
    # More would be too deep for the parser of JSON itself.
    for shape, depth in product(SHAPES, BAD if read is from_protobuf else BAD[:2]):
        with pytest.raises(Invalid, match="nested deeper than 64 levels"):
            read(shape, depth)


@pytest.mark.parametrize("depth", [100, 200_000])
def test_other_deep_json_is_refused(depth: int) -> None:
    body = b'{"a":' * depth + b"1" + b"}" * depth
    value: Any = b'{"resourceSpans":[' + body + b"]}"
    with pytest.raises(Invalid):
        decode_json(Kind.TRACES, value, DEFAULT_LIMITS)


@pytest.mark.parametrize("depth", [100, 200_000])
def test_a_value_without_an_end_of_its_levels_is_refused(depth: int) -> None:
    value = b'{"arrayValue":{"values":[' * depth + b"{}" + b"]}}" * depth
    with pytest.raises(Invalid):
        decode_json(Kind.TRACES, json_traces(value)[1], DEFAULT_LIMITS)
