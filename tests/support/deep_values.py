"""Exports whose attributes have deeply nested values, for tests."""

import time
from typing import Any

from opentelemetry.proto.common.v1.common_pb2 import AnyValue

from spanwise.ingest.protobuf_wire import bytes_field
from support.otlp import make_span

LEAF = -5


def _is_map(shape: str, level: int) -> bool:
    return shape == "maps" or (shape == "both" and level % 2 == 1)


def plain(shape: str, depth: int) -> Any:
    """Return a value of nested "arrays", "maps" or "both"."""
    value: Any = LEAF
    for level in range(depth):
        value = {"k": value, "other": 1.5} if _is_map(shape, level) else [value, "x"]
    return value


def encoded(shape: str, depth: int) -> bytes:
    """Encode the same as AnyValue by hand, because the library does not support this depth."""
    value = AnyValue(int_value=LEAF).SerializeToString()
    for level in range(depth):
        if _is_map(shape, level):
            other = AnyValue(double_value=1.5).SerializeToString()
            pairs = [(b"k", value), (b"other", other)]
            inner = b"".join(
                bytes_field(1, bytes_field(1, k) + bytes_field(2, v)) for k, v in pairs
            )
            value = bytes_field(6, inner)
        else:
            text = AnyValue(string_value="x").SerializeToString()
            value = bytes_field(5, bytes_field(1, value) + bytes_field(1, text))
    return value


def in_json(shape: str, depth: int) -> bytes:
    """Encode the same as a value in OTLP/JSON."""
    head, tail = [], []
    for level in reversed(range(depth)):
        if _is_map(shape, level):
            head.append(b'{"kvlistValue":{"values":[{"key":"k","value":')
            tail.append(b'},{"key":"other","value":{"doubleValue":1.5}}]}}')
        else:
            head.append(b'{"arrayValue":{"values":[')
            tail.append(b',{"stringValue":"x"}]}}')
    return b"".join(head) + b'{"intValue":"-5"}' + b"".join(reversed(tail))


def traces_with(value: bytes) -> tuple[str, bytes]:
    """Return an export whose span, event and resource have an attribute with this value."""
    span = make_span()
    pair = bytes_field(1, b"deep") + bytes_field(2, value)
    event = bytes_field(2, b"noted") + bytes_field(3, pair)
    data = span.SerializeToString() + bytes_field(9, pair) + bytes_field(11, event)
    resource = bytes_field(1, bytes_field(1, pair)) + bytes_field(2, bytes_field(2, data))
    return span.trace_id.hex(), bytes_field(1, resource)


def json_traces(value: bytes) -> tuple[str, bytes]:
    """Return the same export in OTLP/JSON."""
    trace_id = make_span().trace_id.hex()
    pair = b'[{"key":"deep","value":' + value + b"}]"
    body = (
        b'{"resourceSpans":[{"resource":{"attributes":' + pair + b'},"scopeSpans":[{"spans":['
        b'{"traceId":"' + trace_id.encode() + b'","spanId":"cdcdcdcdcdcdcdcd","name":"x",'
        b'"startTimeUnixNano":"' + str(time.time_ns()).encode() + b'","attributes":' + pair
        + b',"events":[{"name":"noted","attributes":' + pair + b"}]}]}]}]}"
    )  # fmt: skip
    return trace_id, body
