"""Posted spans are returned unchanged, and only to their workspace."""

from datetime import UTC, datetime, timedelta
from secrets import token_hex
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanwise.ingest.otlp.frames import bytes_field, varint
from support.service import Person, Service

START = datetime.now(UTC).replace(microsecond=123_456) - timedelta(minutes=5)
PROTOBUF = {"Content-Type": "application/x-protobuf"}


def span(**fields: Any) -> dict[str, Any]:
    ids = {"traceId": token_hex(16), "spanId": token_hex(8)}
    return {**ids, "name": "work", "startTime": START.isoformat(), **fields}


async def post_and_read(person: Person, sent: dict[str, Any]) -> dict[str, Any]:
    await person.data("POST", "/spans", json=sent)
    path = f"/spans/traces/{sent['traceId']}/spans/{sent['spanId']}"
    read: dict[str, Any] = await person.data("GET", path)
    return read


async def test_every_field_of_a_span_is_returned(service: Service) -> None:
    person = await service.sign_up()
    fields = {
        "kind": "llm",
        "status": "error",
        "statusMessage": "it broke: ünïcödé",
        "errorType": "validation",
        "agentName": "plänner",
        "provider": "somebody",
        "model": "their-model",
        "inputTokens": 4_294_967_295,
        "outputTokens": 7,
        "cachedTokens": 3,
        "reasoningTokens": 2,
        "cost": 0.000123456789,
        "toolName": "hammer",
        "sessionId": "session 1",
        "userId": "user-1",
        "environment": "test",
        "experimentId": "exp_1",
        "variant": "b",
        "serviceName": "backend",
        "durationMs": 1234.5,
    }
    read = await post_and_read(person, span(**fields))
    assert {name: read[name] for name in fields} == fields


@pytest.mark.parametrize(
    "value",
    [
        "text",
        "",
        "日本語 🙂 \u0000 \n",
        '{"looks": "like JSON"}',
        True,
        False,
        0,
        -1,
        2**63 - 1,
        -(2**63),
        0.1,
        -2.5e-300,
        [],
        {},
        [1, "two", 3.0, False, [4], {"five": 5}],
        {"a": {"b": {"c": ["d", {"e": ""}]}}},
    ],
    ids=repr,
)
async def test_an_attribute_keeps_its_value_and_type(service: Service, value: Any) -> None:
    person = await service.sign_up()
    event = {"name": "noted", "time": START.isoformat(), "attributes": {"value": value}}
    read = await post_and_read(person, span(attributes={"value": value}, events=[event]))
    for attributes in (read["attributes"], read["events"][0]["attributes"]):
        assert attributes == {"value": value}
        assert type(attributes["value"]) is type(value)


@pytest.mark.parametrize(
    "content",
    ["plain words", {"messages": [{"role": "user", "content": "Grüße"}]}, [1, 2], 5, True, 0.5],
    ids=repr,
)
async def test_contents_are_returned_unchanged(service: Service, content: Any) -> None:
    person = await service.sign_up()
    read = await post_and_read(person, span(input=content, output=content))
    assert (read["input"], read["output"]) == (content, content)


def smuggled(workspace: str, sent: dict[str, Any]) -> bytes:
    """Return an export whose scope names another workspace in an internal field."""
    request = ExportTraceServiceRequest()
    made = request.resource_spans.add().scope_spans.add().spans.add(name=sent["name"])
    made.trace_id = bytes.fromhex(sent["traceId"])
    made.span_id = bytes.fromhex(sent["spanId"])
    made.start_time_unix_nano = int(START.timestamp() * 1e9)
    scope = request.resource_spans[0].scope_spans[0].SerializeToString()
    scope += bytes_field(100, bytes_field(1, workspace.encode()) + varint(2 << 3) + varint(1))
    return bytes_field(1, bytes_field(2, scope))


async def workspace_of(service: Service, trace_id: str) -> str:
    rows = await service.services.traces._engine.fetch(
        "SELECT workspace FROM spans WHERE trace_id = unhex({trace:String})", {"trace": trace_id}
    )
    return str(rows[0]["workspace"])


async def test_an_export_cannot_name_another_workspace(service: Service) -> None:
    sender, other = await service.sign_up(), await service.sign_up()
    theirs, sent = span(), span()
    await post_and_read(other, theirs)
    body = smuggled(await workspace_of(service, theirs["traceId"]), sent)
    response = await sender.call("POST", "/otlp/v1/traces", content=body, headers=PROTOBUF)
    assert response.status_code == 200, response.text
    mine = await sender.data("GET", f"/spans/traces/{sent['traceId']}")
    assert mine["spanCount"] == 1
    response = await other.call("GET", f"/spans/traces/{sent['traceId']}")
    assert response.status_code == 404


async def test_a_span_with_a_parent_id_of_a_wrong_length_is_rejected(service: Service) -> None:
    person = await service.sign_up()
    request = ExportTraceServiceRequest()
    scope = request.resource_spans.add().scope_spans.add()
    for parent in (b"", b"12345678", b"0123456789abcdef"):
        made = scope.spans.add(name="x", trace_id=b"t" * 16, parent_span_id=parent)
        made.span_id = token_hex(4).encode()
        made.start_time_unix_nano = int(START.timestamp() * 1e9)
    body = request.SerializeToString()
    response = await person.call("POST", "/otlp/v1/traces", content=body, headers=PROTOBUF)
    assert response.status_code == 200
    trace = await person.data("GET", f"/spans/traces/{(b't' * 16).hex()}")
    assert trace["spanCount"] == 2
