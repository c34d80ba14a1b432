"""Values may be nested 64 levels deep over HTTP, gRPC and REST, and are returned unchanged.

All depths and shapes are tested on the decoders: `tests/unit/ingest/otlp/test_deep_values.py`.
"""

import asyncio
import time
from collections.abc import Mapping
from itertools import product
from typing import Any

import grpc
import grpc.aio
import orjson
import pytest

from spanwise.api.otlp.grpc import start_grpc, stop_grpc
from spanwise.ingest.protobuf_wire import bytes_field
from support.deep_values import encoded, in_json, json_traces, plain, traces_with
from support.otlp import JSON, Exporter
from support.servers import free_port
from support.service import Person, Service, assert_error
from support.spans import span as rest_span

SENT = [("arrays", 64), ("maps", 64), *product(["both"], [1, 16, 17, 40, 64])]
EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


async def send_over_grpc(service: Service, key: str, body: bytes) -> bytes:
    port = free_port()
    server = await start_grpc(service.services, "127.0.0.1", port)
    assert server is not None
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            export: Any = channel.unary_unary(EXPORT)
            answer: bytes = await export(body, metadata=(("x-api-key", key),))
            return answer
    finally:
        await stop_grpc(server)


def log_in_protobuf(value: bytes) -> bytes:
    record = b"\x09" + time.time_ns().to_bytes(8, "little") + bytes_field(5, value)
    return bytes_field(1, bytes_field(2, bytes_field(2, record)))


def log_in_json(value: bytes) -> bytes:
    return (
        b'{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"'
        + str(time.time_ns()).encode()
        + b'","body":'
        + value
        + b"}]}]}]}"
    )


async def test_deep_values_are_returned_and_exported(
    service: Service, exporter: Exporter, person: Person
) -> None:
    sent: dict[str, Any] = {}
    bodies = []
    for shape, depth in SENT:
        trace_id, body = traces_with(encoded(shape, depth))
        sent[trace_id] = plain(shape, depth)
        bodies.append(body)
    json_id, json_body = json_traces(in_json("both", 64))
    sent[json_id] = plain("both", 64)
    grpc_id, grpc_body = traces_with(encoded("both", 64))
    sent[grpc_id] = plain("both", 64)
    # The attributes object is the outermost level.
    rest = [plain(shape, depth) for shape, depth in product(["arrays", "maps"], [16, 63])]
    spans = [
        rest_span(
            attributes={"deep": v},
            events=[{"name": "noted", "attributes": {"deep": v}}],
            input=plain("both", 64),
            output=plain("arrays", 64),
        )
        for v in rest
    ]
    sent |= {span["traceId"]: value for span, value in zip(spans, rest, strict=True)}
    # Concatenated exports are one export.
    answers = await asyncio.gather(
        exporter.post(b"".join(bodies)),
        exporter.post(json_body, content_type=JSON),
        person.call("POST", "/spans", json={"spans": spans}),
        send_over_grpc(service, exporter.key, grpc_body),
    )
    assert [answer if isinstance(answer, bytes) else answer.status_code for answer in answers] == [
        *(200, 200, 201),
        b"",
    ]
    await assert_read_back(person, sent)
    found = await person.data("GET", f"/spans/traces/{spans[0]['traceId']}")
    assert found["spans"][0]["input"] == plain("both", 64)
    assert found["spans"][0]["output"] == plain("arrays", 64)


async def assert_read_back(person: Person, values: Mapping[str, Any]) -> None:
    """Check that the only span of each trace has its value, and that all can be exported."""
    for trace_id, value in values.items():
        trace = await person.data("GET", f"/spans/traces/{trace_id}")
        [span] = trace["spans"]
        assert span["attributes"]["deep"] == value
        assert span["events"][0]["attributes"]["deep"] == value
    [trace_id] = [*values][:1]
    path = f"/spans/traces/{trace_id}"
    span_id = (await person.data("GET", path))["spans"][0]["spanId"]
    alone = await person.data("GET", f"{path}/spans/{span_id}")
    assert alone["attributes"]["deep"] == values[trace_id]
    assert alone["events"][0]["attributes"]["deep"] == values[trace_id]
    for file_format in ("csv", "jsonl", "parquet"):
        query = {"format": file_format}
        answer = await person.call("GET", "/analytics/traces/list", params=query)
        assert answer.status_code == 200
        assert answer.content


async def test_deep_values_of_logs_are_returned(exporter: Exporter, person: Person) -> None:
    logs = [
        {"message": f"rest {depth}", "attributes": {"deep": plain("maps", depth)}}
        for depth in (16, 63)
    ]
    answers = await asyncio.gather(
        exporter.post(log_in_protobuf(encoded("both", 64)), "/v1/logs"),
        exporter.post(log_in_json(in_json("both", 64)), "/v1/logs", JSON),
        person.call("POST", "/logs", json={"logs": logs}),
    )
    assert all(answer.is_success for answer in answers)
    found = await person.data("GET", "/logs")
    deep = [orjson.loads(log["message"]) for log in found if log["message"].startswith(("{", "["))]
    assert deep == [plain("both", 64)] * 2
    by_message = {log["message"]: log["attributes"] for log in found}
    assert {log["message"]: by_message[str(log["message"])] for log in logs} == {
        log["message"]: log["attributes"] for log in logs
    }


async def test_65_levels_are_refused_over_http_and_grpc(
    service: Service, exporter: Exporter, person: Person
) -> None:
    deep = traces_with(encoded("both", 65))[1]
    response = await exporter.post(deep)
    assert response.status_code == 400
    assert b"nested deeper than 64 levels" in response.content
    response = await exporter.post(json_traces(in_json("both", 65))[1], content_type=JSON)
    assert response.status_code == 400
    assert "nested deeper than 64 levels" in response.json()["message"]
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await send_over_grpc(service, exporter.key, deep)
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert await person.data("GET", "/spans/traces") == []


@pytest.mark.parametrize("depth", [64, 900])
async def test_65_levels_over_rest_are_refused(person: Person, depth: int) -> None:
    batch = [rest_span(), rest_span(attributes={"deep": plain("both", depth)})]
    answer = await person.call("POST", "/spans", json={"spans": batch})
    assert_error(answer, 400, "spans[1].attributes")
    log = {"message": "deep", "attributes": {"deep": plain("both", depth)}}
    assert_error(await person.call("POST", "/logs", json=log), 400, "attributes")
    deeper = rest_span(input=plain("both", depth + 1))
    assert_error(await person.call("POST", "/spans", json=deeper), 400, "input")
