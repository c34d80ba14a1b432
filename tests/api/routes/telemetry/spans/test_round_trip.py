"""Posted spans are returned unchanged, and only to their workspace."""

from datetime import UTC, datetime, timedelta
from secrets import token_hex
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanwise.ingest.protobuf_wire import bytes_field, varint
from support.service import Person, Service
from support.spans import send

START = datetime.now(UTC).replace(microsecond=123_456) - timedelta(minutes=5)
PROTOBUF = {"Content-Type": "application/x-protobuf"}


def span(**fields: Any) -> dict[str, Any]:
    ids = {"traceId": token_hex(16), "spanId": token_hex(8)}
    return {**ids, "name": "work", "startTime": START.isoformat(), **fields}


VALUES: list[Any] = [
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
]
CONTENTS: list[Any] = [
    "plain words",
    {"messages": [{"role": "user", "content": "Grüße"}]},
    [1, 2],
    5,
    True,
    0.5,
]


async def send_and_read(person: Person, *spans: dict[str, Any]) -> list[dict[str, Any]]:
    """Send spans as one trace, and read it."""
    root = spans[0]
    children = [
        {**each, "traceId": root["traceId"], "parentSpanId": root["spanId"]} for each in spans[1:]
    ]
    await send(person, root, *children)
    trace = await person.data("GET", f"/spans/traces/{root['traceId']}")
    shown = {each["spanId"]: each for each in trace["spans"]}
    return [shown[each["spanId"]] for each in spans]


async def test_every_field_of_a_span_is_returned(person: Person) -> None:
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
    read, dear = await send_and_read(person, span(**fields), span(kind="llm", cost=999_999.25))
    assert {name: read[name] for name in fields} == fields
    assert dear["cost"] == 999_999.25


async def test_attributes_and_contents_keep_their_values_and_types(person: Person) -> None:
    with_values = [
        span(
            attributes={"value": value},
            events=[{"name": "noted", "time": START.isoformat(), "attributes": {"value": value}}],
        )
        for value in VALUES
    ]
    with_contents = [span(input=content, output=content) for content in CONTENTS]
    read = await send_and_read(person, *with_values, *with_contents)
    for value, shown in zip(VALUES, read, strict=False):
        for attributes in (shown["attributes"], shown["events"][0]["attributes"]):
            assert attributes == {"value": value}
            assert type(attributes["value"]) is type(value)
    for content, shown in zip(CONTENTS, read[len(VALUES) :], strict=True):
        assert (shown["input"], shown["output"]) == (content, content)


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


async def test_an_export_cannot_name_another_workspace(service: Service) -> None:
    sender, other, sent = await service.sign_up(), await service.sign_up(), span()
    body = smuggled(other.user["defaultWorkspaceId"], sent)
    response = await sender.call("POST", "/otlp/v1/traces", content=body, headers=PROTOBUF)
    assert response.status_code == 200, response.text
    mine = await sender.data("GET", f"/spans/traces/{sent['traceId']}")
    assert mine["spanCount"] == 1
    response = await other.call("GET", f"/spans/traces/{sent['traceId']}")
    assert response.status_code == 404


async def test_a_span_with_a_parent_id_of_a_wrong_length_is_rejected(
    person: Person,
) -> None:
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
