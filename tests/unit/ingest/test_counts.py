"""Bodies with too many parts are refused before they are decoded."""

import random
import time
from dataclasses import replace
from itertools import repeat

import orjson
import pytest
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from spanwise.ingest.counts import DEFAULT_LIMITS, check_json, decode_export
from spanwise.ingest.otlp.exports import read_export
from spanwise.ingest.protobuf_wire import bytes_field
from spanwise.ingest.records.record import Kind
from spanwise.model.errors import Invalid
from support.otlp import make_span, make_traces, pairs

MIB = 2**20
RESOURCE, SCOPE, ITEM = 1, 2, 2
ATTRIBUTES, EVENTS, LINKS = 9, 11, 13


def wrap(data: bytes, *numbers: int) -> bytes:
    """Return fields as the content of nested messages, the outermost first."""
    for number in reversed(numbers):
        data = bytes_field(number, data)
    return data


def empties(number: int, size: int = 4 * MIB) -> bytes:
    return bytes_field(number, b"") * (size // 2)


IN_SPAN = (RESOURCE, SCOPE, ITEM)
VALUE_IN_SPAN = (*IN_SPAN, ATTRIBUTES, 2)
IN_POINTS = (RESOURCE, SCOPE, ITEM, 5)
OVERLONG_EVENT = b"\xda\x00\x00"
BODIES = [
    (Kind.TRACES, empties(RESOURCE, 16 * MIB), "resources"),
    (Kind.TRACES, wrap(empties(SCOPE), RESOURCE), "scopes"),
    (Kind.TRACES, wrap(empties(ITEM), RESOURCE, SCOPE), "spans"),
    (Kind.TRACES, wrap(empties(ATTRIBUTES), *IN_SPAN), "attributes and values"),
    (Kind.TRACES, wrap(empties(ATTRIBUTES, 1_200_000), *IN_SPAN), "attributes and values"),
    (Kind.TRACES, wrap(empties(EVENTS), *IN_SPAN), "events"),
    (Kind.TRACES, wrap(OVERLONG_EVENT * MIB, *IN_SPAN), "events"),
    (Kind.TRACES, wrap(empties(LINKS), *IN_SPAN), "span links"),
    (Kind.TRACES, wrap(empties(1), *VALUE_IN_SPAN, 5), "attributes and values"),
    (Kind.TRACES, wrap(empties(1), *VALUE_IN_SPAN, 6), "attributes and values"),
    (Kind.TRACES, wrap(empties(1), RESOURCE, 1), "attributes and values"),
    (Kind.TRACES, wrap(b"\x98\x06\x01" * MIB, *IN_SPAN[:2]), "protobuf fields"),
    (Kind.LOGS, empties(RESOURCE), "resources"),
    (Kind.LOGS, wrap(empties(ITEM), RESOURCE, SCOPE), "log records"),
    (Kind.LOGS, wrap(empties(6), *IN_SPAN), "attributes and values"),
    (Kind.METRICS, wrap(empties(ITEM), RESOURCE, SCOPE), "metrics"),
    (Kind.METRICS, wrap(empties(1, 65_536), *IN_POINTS), "data points"),
    (Kind.METRICS, wrap(empties(5), *IN_POINTS, 1), "exemplars"),
    (Kind.METRICS, wrap(empties(7), *IN_POINTS, 1), "attributes and values"),
]


@pytest.mark.parametrize(
    ("kind", "body", "what"), BODIES, ids=[f"{kind.name} {what}" for kind, _, what in BODIES]
)
def test_a_body_with_too_many_parts_is_refused_soon(kind: Kind, body: bytes, what: str) -> None:
    started = time.thread_time()
    with pytest.raises(Invalid, match=rf"more than [\d,]+ {what} \(SPANWISE_MAX_"):
        read_export(kind, body, DEFAULT_LIMITS, is_json=False)
    # Generous, because machines of CI are several times slower at times.
    assert time.thread_time() - started < 10


@pytest.mark.parametrize("spans", [100, 600])
@pytest.mark.parametrize(
    ("limit", "of_span", "what"),
    [("items", 1, "spans"), ("resources", 1, "resources"), ("events", 2, "events")],
)
def test_a_limit_is_what_the_setting_says(spans: int, limit: str, of_span: int, what: str) -> None:
    """Also of smaller bodies, whose items are counted after they are decoded."""
    request = ExportTraceServiceRequest()
    for _ in range(spans):
        span = make_span(a="x" * 900)
        span.events.extend(repeat(Span.Event(name="e"), 2))
        request.resource_spans.add().scope_spans.add().spans.append(span)
    body = request.SerializeToString()
    decode_export(Kind.TRACES, body, replace(DEFAULT_LIMITS, **{limit: of_span * spans}))
    with pytest.raises(Invalid, match=what):
        decode_export(Kind.TRACES, body, replace(DEFAULT_LIMITS, **{limit: of_span * spans - 1}))


def test_a_large_request_within_the_limits_is_accepted() -> None:
    span = make_span(text="some *text*, JZjz\n" * 10)
    span.attributes.extend(pairs({f"a{n}": n for n in range(30)}))
    body = make_traces([span] * 10_000).SerializeToString()
    assert len(body) > 3 * MIB
    assert len(decode_export(Kind.TRACES, body, DEFAULT_LIMITS).body) == len(body)


def test_values_are_counted_at_any_depth() -> None:
    value = AnyValue(array_value=ArrayValue(values=[AnyValue(bool_value=True)] * 10))
    request = make_traces([make_span()])
    span = request.resource_spans[0].scope_spans[0].spans[0]
    span.attributes.extend([KeyValue(key="a", value=value)] * 1000)
    body = request.SerializeToString()
    decode_export(Kind.TRACES, body, replace(DEFAULT_LIMITS, values=11_050))
    with pytest.raises(Invalid, match="10,999 attributes and values"):
        decode_export(Kind.TRACES, body, replace(DEFAULT_LIMITS, values=10_999))


@pytest.mark.parametrize("seed", range(20))
def test_a_body_that_the_decoder_takes_is_counted_to_its_end(seed: int) -> None:
    """Counting reads bytes as the decoder does: the same resources, scopes and spans."""
    dice, compared = random.Random(seed), 0
    original = make_traces([make_span(a=1, b=["x"]) for _ in range(3)]).SerializeToString()
    for _ in range(300):
        body = bytearray(original)
        for _ in range(dice.randint(1, 3)):
            body[dice.randrange(len(body))] = dice.randrange(256)
        try:
            request = ExportTraceServiceRequest.FromString(bytes(body))
        except DecodeError:
            continue
        scopes = [scope for r in request.resource_spans for scope in r.scope_spans]
        spans = sum(len(scope.spans) for scope in scopes)
        small = replace(DEFAULT_LIMITS, events=1)
        if spans:
            with pytest.raises(Invalid, match=r"more than|protobuf group"):
                decode_export(Kind.TRACES, bytes(body), replace(small, items=spans - 1))
            compared += 1
    assert compared > 50


def test_points_are_counted_not_metrics() -> None:
    body = wrap(empties(1, 20_002), *IN_POINTS)
    with pytest.raises(Invalid, match="more than 10,000 data points"):
        decode_export(Kind.METRICS, body, DEFAULT_LIMITS)


@pytest.mark.parametrize("value", [b"{}", b"0"])
def test_json_values_are_counted(value: bytes) -> None:
    body = b"[" + (value + b",") * 499 + value + b"]"
    check_json(body, 501)
    with pytest.raises(Invalid, match="JSON values"):
        check_json(body, 498)


def test_text_in_json_is_not_counted() -> None:
    check_json(orjson.dumps(['{"a": [1, 2, 3]}, \\"' * 50]), 10)


@pytest.mark.parametrize("seed", range(10))
def test_values_are_told_from_text_in_a_body_of_any_size(seed: int) -> None:
    """Also where a part of the body ends within a text or an escape."""
    dice = random.Random(seed)
    texts = ["".join(dice.choices('\\",[{x', k=dice.randint(0, 40))) for _ in range(20_000)]
    body = orjson.dumps(texts)
    assert len(body) > 5 * 2**16
    check_json(body, 19_999)
    with pytest.raises(Invalid, match="more than 19,998 JSON values"):
        check_json(body, 19_998)


@pytest.mark.parametrize("value", [b'""', b'"\\""', b'"\\\\"', b"{}"])
def test_counting_values_ends_at_the_limit(value: bytes) -> None:
    body = b"[" + (value + b",") * (3 * MIB) + value + b"]"
    started = time.thread_time()
    with pytest.raises(Invalid, match="more than 1,000 JSON values"):
        check_json(body, 1000)
    assert time.thread_time() - started < 0.2


@pytest.mark.parametrize(
    ("document", "what"),
    [
        ({"resourceSpans": [{}] * 10_001}, "resources"),
        ({"resource_spans": [{"scopeSpans": [{}] * 10_001}]}, "scopes"),
        ({"resourceSpans": [{"scopeSpans": [{"spans": [{}] * 10_001}]}]}, "spans"),
        (
            {"resourceSpans": [{"scopeSpans": [{"spans": [{"links": [{}] * 150_001}]}]}]},
            "span links",
        ),
        ({"resourceSpans": [{"scopeSpans": [{"spans": [{"events": [{}] * 150_001}]}]}]}, "events"),
        (
            {
                "resourceMetrics": [
                    {"scopeMetrics": [{"metrics": [{"sum": {"dataPoints": [{}] * 10_001}}]}]}
                ]
            },
            "data points",
        ),
    ],
)
def test_json_exports_are_counted_before_they_are_converted(document: object, what: str) -> None:
    started = time.thread_time()
    kind = Kind.METRICS if "resourceMetrics" in str(document)[:20] else Kind.TRACES
    with pytest.raises(Invalid, match=rf"more than 1[05]0?,000 {what}"):
        read_export(kind, orjson.dumps(document), DEFAULT_LIMITS, is_json=True)
    assert time.thread_time() - started < 0.5
