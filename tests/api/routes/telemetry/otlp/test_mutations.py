"""A 2xx means stored: whatever is accepted of a changed body can be read.

Protobuf's decoder skips groups and fields of another type than declared; the engine refuses them.
"""

import asyncio
import json
import random
from typing import Any

import pytest
from google.protobuf import json_format
from google.protobuf.message import DecodeError, Message
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from spanwise.ingest.otlp.prepare_metrics import points_of
from support.ids import new_trace_id
from support.otlp import JSON, Exporter, make_logs, make_metrics, make_span, make_traces
from support.service import Person, Service
from support.spans import span as rest_span

SEEDS = [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 12))]
BODIES = 40
# Fields that no schema declares this way: a group, other types, and numbers that are not known.
ODD_FIELDS = [
    bytes([number << 3 | wire_type]) + content
    for number in (1, 2, 3, 5, 7, 9, 15)
    for wire_type, content in (
        (0, b"\x05"),
        (1, bytes(8)),
        (5, bytes(4)),
        (2, b"\x02\x08\x01"),
        (3, bytes([number << 3 | 4])),
        (3, b"\x0a\x02ab" + bytes([number << 3 | 4])),
    )
]


def messages_in(message: Message) -> list[Message]:
    found = [message]
    for field, value in message.ListFields():
        if field.message_type is not None:
            for inner in value if field.is_repeated else (value,):
                found += messages_in(inner)
    return found


def add_odd_fields(message: Message, dice: random.Random) -> None:
    for _ in range(dice.randint(1, 3)):
        # What cannot be decoded cannot be accepted either.
        try:
            dice.choice(messages_in(message)).MergeFromString(dice.choice(ODD_FIELDS))
        except DecodeError:
            continue


def change(message: Message, dice: random.Random) -> bytes:
    add_odd_fields(message, dice)
    body = message.SerializeToString()
    # A true that is no 1.
    return body.replace(b"\x10\x01", b"\x10\x05") if dice.random() < 0.3 else body


def new_traces() -> ExportTraceServiceRequest:
    spans = [make_span(flag=True, list=[1, {"a": "x"}]) for _ in range(2)]
    for span in spans:
        span.events.append(Span.Event(name="exception"))
        span.status.code = span.status.STATUS_CODE_ERROR
    return make_traces(spans)


def new_logs() -> ExportLogsServiceRequest:
    return make_logs(trace_id=bytes.fromhex(new_trace_id()))


def change_text(text: bytes, dice: random.Random) -> bytes:
    body = bytearray(text)
    for _ in range(dice.randint(1, 2)):
        body[dice.randrange(len(body))] = dice.randrange(32, 127)
    return bytes(body)


@pytest.fixture
async def sender(service: Service) -> tuple[Person, Exporter]:
    person = await service.sign_up()
    return person, Exporter(service.http, (await person.new_key(scopes=["ingest"]))["key"])


async def send(
    exporter: Exporter, bodies: list[bytes], path: str, content_type: str
) -> tuple[list[bytes], list[bytes]]:
    """Post all bodies; return those that were accepted, and the answers to them."""
    answers = await asyncio.gather(*(exporter.post(b, path, content_type) for b in bodies))
    assert {answer.status_code for answer in answers} <= {200, 201, 400}
    accepted = [(b, a.content) for b, a in zip(bodies, answers, strict=True) if a.is_success]
    assert accepted, "nothing was accepted"
    stored, told = zip(*accepted, strict=True)
    return list(stored), list(told)


async def assert_spans_are_stored(person: Person, spans: set[tuple[str, str]]) -> None:
    traces = {trace for trace, _ in spans}
    found = await asyncio.gather(*(person.call("GET", f"/spans/traces/{t}") for t in traces))
    stored = {
        (span["traceId"], span["spanId"])
        for answer in found
        if answer.is_success
        for span in answer.json()["data"]["spans"]
    }
    assert spans <= stored


@pytest.mark.parametrize("seed", SEEDS)
async def test_accepted_spans_are_stored(sender: tuple[Person, Exporter], seed: int) -> None:
    person, exporter = sender
    dice = random.Random(seed)
    bodies = [change(new_traces(), dice) for _ in range(BODIES)]
    accepted, _ = await send(exporter, bodies, "/v1/traces", "application/x-protobuf")
    spans = {
        (span.trace_id.hex(), span.span_id.hex())
        for body in accepted
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
        # The others are rejected, as the answer says.
        if (len(span.trace_id), len(span.span_id)) == (16, 8)
        and len(span.parent_span_id) in {0, 8}
        and span.start_time_unix_nano > 10**18
    }
    await assert_spans_are_stored(person, spans)


@pytest.mark.parametrize("seed", SEEDS)
async def test_accepted_logs_and_points_are_stored(
    sender: tuple[Person, Exporter], seed: int
) -> None:
    person, exporter = sender
    dice = random.Random(seed)
    bodies = [change(new_logs(), dice) for _ in range(BODIES)]
    logs, _ = await send(exporter, bodies, "/v1/logs", "application/x-protobuf")
    bodies = [change(make_metrics(f"metric.{n}"), dice) for n in range(BODIES)]
    metrics, told = await send(exporter, bodies, "/v1/metrics", "application/x-protobuf")
    records = [
        record
        for body in logs
        for resource in ExportLogsServiceRequest.FromString(body).resource_logs
        for scope in resource.scope_logs
        for record in scope.log_records
    ]
    assert len(await person.data("GET", "/logs", params={"limit": 100})) == len(records)
    names = {
        metric.name
        for body, answer in zip(metrics, told, strict=True)
        if not ExportMetricsServiceResponse.FromString(answer).HasField("partial_success")
        for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        if len(points_of(metric))
    }
    listed = await person.data("GET", "/metrics/names", params={"limit": 100})
    assert names <= {metric["name"] for metric in listed}


@pytest.mark.parametrize("seed", SEEDS)
async def test_accepted_json_is_stored(sender: tuple[Person, Exporter], seed: int) -> None:
    person, exporter = sender
    dice = random.Random(seed)
    spans = [make_span(list=[1, {"a": "x"}]) for _ in range(BODIES)]
    exports = [
        json_format.MessageToJson(make_traces([span]), indent=None)
        .replace(json_format.MessageToDict(span)["traceId"], span.trace_id.hex())
        .replace(json_format.MessageToDict(span)["spanId"], span.span_id.hex())
        for span in spans
    ]
    bodies = [change_text(export.encode(), dice) for export in exports]
    accepted, _ = await send(exporter, bodies, "/v1/traces", JSON)
    rest = [change_text(json.dumps(rest_span()).encode(), dice) for _ in range(BODIES)]
    accepted_rest, _ = await send(exporter, rest, "/api/spans", JSON)
    sent: list[Any] = [
        span
        for body in accepted
        for resource in json.loads(body).get("resourceSpans", ())
        for scope in resource.get("scopeSpans", ())
        for span in scope.get("spans", ())
    ]
    sent += map(json.loads, accepted_rest)
    ids = {(span["traceId"].lower(), span["spanId"].lower()) for span in sent}
    await assert_spans_are_stored(person, ids)
