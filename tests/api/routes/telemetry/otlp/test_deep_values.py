"""Values may be nested 64 levels deep over HTTP, gRPC and REST, and are returned unchanged."""

import time
from collections.abc import Mapping
from itertools import product
from typing import Any

import grpc
import grpc.aio
import orjson
import pytest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

from spanwise.api.otlp.grpc import start_grpc, stop_grpc
from spanwise.ingest.otlp.frames import bytes_field
from support.otlp import JSON, Exporter, make_span
from support.servers import free_port
from support.service import Person, Service, assert_error
from support.spans import span as rest_span

LEAF = -5
SHAPES = ["arrays", "maps", "both"]
GOOD, BAD = [16, 17, 31, 47, 48, 63, 64], [65, 100, 3_000]


def _is_map(shape: str, level: int) -> bool:
    return shape == "maps" or (shape == "both" and level % 2 == 1)


def plain(shape: str, depth: int) -> Any:
    value: Any = LEAF
    for level in range(depth):
        value = {"k": value, "other": 1.5} if _is_map(shape, level) else [value, "x"]
    return value


def encoded(shape: str, depth: int) -> bytes:
    """Encode an AnyValue by hand, because the library does not support this depth."""
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


async def assert_read_back(person: Person, values: Mapping[str, Any]) -> None:
    """Check that the only span of each trace has its value, and that all can be exported."""
    for trace_id, value in values.items():
        trace = await person.data("GET", f"/spans/traces/{trace_id}")
        [span] = trace["spans"]
        assert span["attributes"]["deep"] == value
        alone = await person.data("GET", f"/spans/traces/{trace_id}/spans/{span['spanId']}")
        for found in (span, alone):
            for event in found["events"]:
                assert event["attributes"]["deep"] == value
    for file_format in ("csv", "jsonl", "parquet"):
        query = {"format": file_format}
        answer = await person.call("GET", "/analytics/traces/list", params=query)
        assert answer.status_code == 200
        assert answer.content


async def test_64_levels_in_protobuf_are_returned(exporter: Exporter, person: Person) -> None:
    sent = {}
    for shape, depth in product(SHAPES, GOOD):
        trace_id, body = traces_with(encoded(shape, depth))
        response = await exporter.post(body)
        assert (response.status_code, response.content) == (200, b"")
        sent[trace_id] = plain(shape, depth)
    await assert_read_back(person, sent)


async def test_65_levels_in_protobuf_are_refused(exporter: Exporter, person: Person) -> None:
    for shape, depth in product(SHAPES, BAD):
        _, body = traces_with(encoded(shape, depth))
        response = await exporter.post(body)
        assert response.status_code == 400, (shape, depth)
        assert b"nested deeper than 64 levels" in response.content
    assert await person.data("GET", "/spans/traces") == []


def json_traces(value: bytes) -> tuple[str, bytes]:
    trace_id = make_span().trace_id.hex()
    pair = b'[{"key":"deep","value":' + value + b"}]"
    body = (
        b'{"resourceSpans":[{"resource":{"attributes":' + pair + b'},"scopeSpans":[{"spans":['
        b'{"traceId":"' + trace_id.encode() + b'","spanId":"cdcdcdcdcdcdcdcd","name":"x",'
        b'"startTimeUnixNano":"' + str(time.time_ns()).encode() + b'","attributes":' + pair
        + b',"events":[{"name":"noted","attributes":' + pair + b"}]}]}]}]}"
    )  # fmt: skip
    return trace_id, body


async def test_64_levels_in_otlp_json_are_returned(exporter: Exporter, person: Person) -> None:
    sent = {}
    for shape, depth in product(SHAPES, GOOD):
        trace_id, body = json_traces(in_json(shape, depth))
        response = await exporter.post(body, content_type=JSON)
        assert (response.status_code, response.content) == (200, b"{}")
        sent[trace_id] = plain(shape, depth)
    await assert_read_back(person, sent)


async def test_65_levels_in_otlp_json_are_refused(exporter: Exporter) -> None:
    for shape, depth in product(SHAPES, [65, 100]):
        _, body = json_traces(in_json(shape, depth))
        response = await exporter.post(body, content_type=JSON)
        assert response.status_code == 400, (shape, depth)
        assert "nested deeper than 64 levels" in response.json()["message"]


async def test_64_levels_over_grpc_are_returned_and_65_refused(
    service: Service, exporter: Exporter, person: Person
) -> None:
    port = free_port()
    server = await start_grpc(service.services, "127.0.0.1", port)
    assert server is not None
    metadata = (("x-api-key", exporter.key),)
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            export: Any = channel.unary_unary(
                "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
            )
            trace_id, body = traces_with(encoded("both", 64))
            assert await export(body, metadata=metadata) == b""
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await export(traces_with(encoded("both", 65))[1], metadata=metadata)
            assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    finally:
        await stop_grpc(server)
    await assert_read_back(person, {trace_id: plain("both", 64)})


@pytest.mark.parametrize("is_json", [False, True])
async def test_64_levels_in_the_body_of_a_log_record_are_returned(
    exporter: Exporter, person: Person, *, is_json: bool
) -> None:
    now = time.time_ns()
    if is_json:
        body = (
            b'{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"'
            + str(now).encode()
            + b'","body":'
            + in_json("both", 64)
            + b"}]}]}]}"
        )
        response = await exporter.post(body, "/v1/logs", JSON)
    else:
        record = b"\x09" + now.to_bytes(8, "little") + bytes_field(5, encoded("both", 64))
        scope = bytes_field(2, bytes_field(2, record))
        response = await exporter.post(bytes_field(1, scope), "/v1/logs")
    assert response.status_code == 200, response.content
    [log] = await person.data("GET", "/logs")
    assert orjson.loads(log["message"]) == plain("both", 64)


async def test_64_levels_over_rest_are_returned(person: Person) -> None:
    # The attributes object is the outermost level.
    values = [plain(shape, depth) for shape, depth in product(["arrays", "maps"], [15, 16, 17, 63])]
    spans = [
        rest_span(attributes={"deep": v}, events=[{"name": "noted", "attributes": {"deep": v}}])
        for v in values
    ]
    await person.data("POST", "/spans", json={"spans": spans})
    sent = {span["traceId"]: value for span, value in zip(spans, values, strict=True)}
    await assert_read_back(person, sent)
    logs = [{"message": f"{n}", "attributes": {"deep": value}} for n, value in enumerate(values)]
    await person.data("POST", "/logs", json={"logs": logs})
    found = {log["message"]: log["attributes"] for log in await person.data("GET", "/logs")}
    assert found == {log["message"]: log["attributes"] for log in logs}


@pytest.mark.parametrize("depth", [64, 100, 900])
async def test_65_levels_over_rest_are_refused(person: Person, depth: int) -> None:
    batch = [rest_span(), rest_span(attributes={"deep": plain("both", depth)})]
    answer = await person.call("POST", "/spans", json={"spans": batch})
    assert_error(answer, 400, "spans[1].attributes")
    log = {"message": "deep", "attributes": {"deep": plain("both", depth)}}
    assert_error(await person.call("POST", "/logs", json=log), 400, "attributes")
    assert await person.data("GET", "/spans/traces") == []


async def test_contents_over_rest_have_the_same_limit(person: Person) -> None:
    sent = rest_span(input=plain("both", 64), output=plain("arrays", 64))
    await person.data("POST", "/spans", json=sent)
    trace = await person.data("GET", f"/spans/traces/{sent['traceId']}")
    assert trace["spans"][0]["input"] == plain("both", 64)
    deeper = rest_span(input=plain("both", 65))
    assert_error(await person.call("POST", "/spans", json=deeper), 400, "input")
