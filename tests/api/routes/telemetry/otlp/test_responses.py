"""OTLP over HTTP responds as specified, to valid and invalid exports."""

import asyncio
import base64
import gzip
import zlib
from collections.abc import Callable
from typing import Any

import httpx
import orjson
import pytest
import zstandard
from google.protobuf import json_format
from google.protobuf.message import Message
from google.rpc import code_pb2
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from spanwise.api.http.paths import EXPORT_PATHS
from spanwise.ingest.records.record import Kind
from support.otlp import (
    JSON,
    PROTOBUF,
    Exporter,
    make_logs,
    make_metrics,
    make_span,
    make_traces,
    status_of,
)
from support.service import Person, Service

MAKE: dict[Kind, Callable[[], Message]] = {
    Kind.TRACES: lambda: make_traces([make_span()]),
    Kind.LOGS: make_logs,
    Kind.METRICS: make_metrics,
}
PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "zstd": zstandard.compress,
}


def as_otlp_json(request: ExportTraceServiceRequest) -> bytes:
    """Return OTLP/JSON, in which ids are hex instead of base64."""
    document = json_format.MessageToDict(request)
    for resource in document["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for name in ("traceId", "spanId", "parentSpanId"):
                    if name in span:
                        span[name] = base64.b64decode(span[name]).hex()
    return orjson.dumps(document)


@pytest.fixture(scope="module")
async def ada(shared_service: Service) -> Person:
    return await shared_service.sign_up()


@pytest.fixture(scope="module")
async def exporter(shared_service: Service, ada: Person) -> Exporter:
    """One exporter for all tests, which store few spans."""
    return Exporter(shared_service.http, (await ada.new_key(scopes=["ingest"]))["key"])


async def find(person: Person, span: Span) -> dict[str, Any]:
    trace: dict[str, Any] = await person.data("GET", f"/spans/traces/{span.trace_id.hex()}")
    return trace


async def test_every_path_accepts_an_export_with_an_empty_response(
    exporter: Exporter, ada: Person
) -> None:
    span, paths = make_span(), [*EXPORT_PATHS]
    of_traces = [path for path, kind in EXPORT_PATHS.items() if kind is Kind.TRACES]
    parts = {path: make_span(span.trace_id, name=path) for path in of_traces}
    # Sent at once, they are stored in one batch.
    sent = {
        path: make_traces([parts[path]]) if path in parts else MAKE[EXPORT_PATHS[path]]()
        for path in paths
    }
    answers = await asyncio.gather(*(exporter.post(sent[path], path) for path in paths))
    for path, answer in zip(paths, answers, strict=True):
        assert (answer.status_code, answer.content) == (200, b""), path
        assert answer.headers["content-type"] == PROTOBUF, path
    assert {found["name"] for found in (await find(ada, span))["spans"]} == {*of_traces}


def json_variant(span: Span) -> bytes:
    """Return an export as some exporters write it: other cases, numbers, an unknown field."""
    document = orjson.loads(as_otlp_json(make_traces([span])))
    sent = document["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    sent["traceId"] = sent["traceId"].upper()
    sent["startTimeUnixNano"] = int(sent["startTimeUnixNano"])
    sent["kind"] = 3
    sent["aFieldOfTomorrow"] = {"x": 1}
    return orjson.dumps(document)


# The headers of a request, and the format of its response.
FORMATS = [
    (PROTOBUF, "", PROTOBUF),
    ("application/protobuf", "", PROTOBUF),
    (PROTOBUF, "gzip", PROTOBUF),
    (PROTOBUF, "deflate", PROTOBUF),
    (PROTOBUF, "zstd", PROTOBUF),
    (JSON, "", JSON),
    (f"{JSON}; charset=utf-8", "", JSON),
    ("Application/JSON", "", JSON),
    (JSON, "gzip", JSON),
]


async def test_every_format_and_compression_is_accepted_and_answered_in_its_format(
    exporter: Exporter, ada: Person
) -> None:
    trace = make_span()
    spans = [make_span(trace.trace_id, name=str(number)) for number in range(len(FORMATS))]

    async def send(content_type: str, encoding: str, span: Span) -> httpx.Response:
        is_json = "json" in content_type.lower()
        request = make_traces([span])
        body = as_otlp_json(request) if is_json else request.SerializeToString()
        packed = PACK[encoding](body) if encoding else body
        return await exporter.post(packed, content_type=content_type, content_encoding=encoding)

    answers = await asyncio.gather(
        *(send(*how[:2], span) for how, span in zip(FORMATS, spans, strict=True)),
        exporter.post(json_variant(trace), content_type=JSON),
    )
    for (_, _, expected), answer in zip([*FORMATS, (JSON, "", JSON)], answers, strict=True):
        assert answer.status_code == 200, answer.text
        assert answer.content == (b"{}" if expected == JSON else b"")
        assert answer.headers["content-type"] == expected
    stored = {found["spanId"] for found in (await find(ada, trace))["spans"]}
    assert stored == {span.span_id.hex() for span in (trace, *spans)}


@pytest.mark.parametrize(("body", "content_type"), [(b"", PROTOBUF), (b"{}", JSON)])
async def test_an_empty_export_is_a_success(
    exporter: Exporter, body: bytes, content_type: str
) -> None:
    response = await exporter.post(body, content_type=content_type)
    assert response.status_code == 200
    assert response.content == body


async def test_partial_success_in_json_has_the_names_and_types_of_otlp_json(
    exporter: Exporter,
) -> None:
    request = make_traces([make_span(), make_span(start=5)])
    response = await exporter.post(as_otlp_json(request), content_type=JSON)
    assert response.status_code == 200
    partial = response.json()["partialSuccess"]
    assert partial["rejectedSpans"] == "1"
    assert partial["errorMessage"]


@pytest.mark.parametrize("content_type", [PROTOBUF, JSON])
async def test_an_unreadable_body_is_400_with_a_status(
    exporter: Exporter, content_type: str
) -> None:
    response = await exporter.post(b"\xff\xff\xff not a message", content_type=content_type)
    assert response.status_code == 400
    assert response.headers["content-type"] == content_type
    if content_type == JSON:
        assert response.json()["code"] == code_pb2.INVALID_ARGUMENT
        assert "not valid JSON" in response.json()["message"]
    else:
        assert status_of(response).code == code_pb2.INVALID_ARGUMENT
        assert "ExportTraceServiceRequest" in status_of(response).message


@pytest.mark.parametrize("content_type", ["text/plain", "", "application/grpc"])
async def test_another_content_type_is_refused_with_a_readable_message(
    exporter: Exporter, content_type: str
) -> None:
    response = await exporter.post(make_traces([make_span()]), content_type=content_type)
    assert response.status_code == 400
    assert response.headers["content-type"] == JSON
    assert "Content-Type" in response.json()["message"]


def basic(secret: str) -> str:
    return "Basic " + base64.b64encode(f"public:{secret}".encode()).decode()


async def test_the_key_is_accepted_in_every_header(service: Service, exporter: Exporter) -> None:
    for headers in (
        {"x-api-key": exporter.key},
        {"Authorization": f"Bearer {exporter.key}"},
        {"Authorization": basic(exporter.key)},
    ):
        response = await service.http.post(
            "/v1/traces", content=b"", headers={"content-type": PROTOBUF, **headers}
        )
        assert response.status_code == 200, headers


INVALID: list[dict[str, str]] = [
    {},
    {"x-api-key": "sw_nobody"},
    {"Authorization": "Bearer nonsense"},
    {"Authorization": basic("nobody")},
    {"Authorization": "Basic ???"},
]


async def test_an_invalid_key_is_401_before_the_body_is_read(service: Service) -> None:
    for path, headers in [
        *((path, {}) for path in EXPORT_PATHS),
        *(("/v1/traces", h) for h in INVALID),
    ]:
        response = await service.http.post(
            path, content=b"\xff\xff", headers={"content-type": PROTOBUF, **headers}
        )
        assert response.status_code == 401, (path, headers)
        assert status_of(response).code == code_pb2.UNAUTHENTICATED


async def test_a_read_key_is_403(service: Service, ada: Person) -> None:
    reader = Exporter(service.http, (await ada.new_key(scopes=["read"]))["key"])
    response = await reader.post(make_traces([make_span()]))
    assert response.status_code == 403
    assert status_of(response).code == code_pb2.PERMISSION_DENIED
    as_json = await reader.post(b"{}", content_type=JSON)
    assert as_json.json()["code"] == code_pb2.PERMISSION_DENIED


async def test_an_export_to_the_path_of_another_kind_names_the_right_path(
    exporter: Exporter,
) -> None:
    response = await exporter.post(make_logs(), "/v1/traces")
    assert response.status_code == 400
    assert "send it to /v1/logs" in status_of(response).message


async def test_get_on_an_export_path_gets_the_envelope(service: Service) -> None:
    response: httpx.Response = await service.http.get("/v1/traces")
    assert response.status_code == 404
    assert response.json()["error"]["code"] == "NOT_FOUND"
