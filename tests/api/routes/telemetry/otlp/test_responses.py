"""OTLP over HTTP responds as specified, to valid and invalid exports."""

import base64
import gzip
import zlib
from collections.abc import Callable

import httpx
import orjson
import pytest
import zstandard
from google.protobuf import json_format
from google.protobuf.message import Message
from google.rpc import code_pb2
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from spanwise.api.otlp.responses import PATHS
from spanwise.ingest.commit.journal import Kind
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


async def count_traces(person: Person) -> int:
    response = await person.call("GET", "/spans/traces")
    total: int = response.json()["pagination"]["total"]
    return total


@pytest.mark.parametrize(("path", "kind"), PATHS.items())
async def test_every_path_accepts_an_export_with_an_empty_response(
    exporter: Exporter, path: str, kind: Kind
) -> None:
    response = await exporter.post(MAKE[kind](), path)
    assert (response.status_code, response.content) == (200, b"")
    assert response.headers["content-type"] == PROTOBUF


@pytest.mark.parametrize("path", [path for path, kind in PATHS.items() if kind is Kind.TRACES])
async def test_exports_to_every_path_can_be_read(
    exporter: Exporter, person: Person, path: str
) -> None:
    span = make_span()
    await exporter.post(make_traces([span]), path)
    trace = await person.data("GET", f"/spans/traces/{span.trace_id.hex()}")
    assert [found["spanId"] for found in trace["spans"]] == [span.span_id.hex()]


async def test_json_is_accepted_with_an_empty_object(exporter: Exporter, person: Person) -> None:
    span = make_span()
    response = await exporter.post(as_otlp_json(make_traces([span])), content_type=JSON)
    assert (response.status_code, response.content) == (200, b"{}")
    assert response.headers["content-type"] == JSON
    await person.data("GET", f"/spans/traces/{span.trace_id.hex()}")


async def test_json_ids_may_be_upper_case_and_numbers_may_be_text_or_not(
    exporter: Exporter, person: Person
) -> None:
    span = make_span()
    document = orjson.loads(as_otlp_json(make_traces([span])))
    sent = document["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    sent["traceId"] = sent["traceId"].upper()
    sent["startTimeUnixNano"] = int(sent["startTimeUnixNano"])
    sent["kind"] = 3
    sent["aFieldOfTomorrow"] = {"x": 1}
    response = await exporter.post(orjson.dumps(document), content_type=JSON)
    assert response.status_code == 200, response.text
    await person.data("GET", f"/spans/traces/{span.trace_id.hex()}")


async def test_protobuf_has_a_second_media_type(exporter: Exporter, person: Person) -> None:
    request = make_traces([make_span()])
    response = await exporter.post(request, content_type="application/protobuf")
    assert (response.status_code, response.headers["content-type"]) == (200, PROTOBUF)
    assert await count_traces(person) == 1


@pytest.mark.parametrize("content_type", [f"{JSON}; charset=utf-8", "Application/JSON"])
async def test_parameters_and_case_of_the_content_type_do_not_matter(
    exporter: Exporter, content_type: str
) -> None:
    response = await exporter.post(as_otlp_json(make_traces([make_span()])), "/v1/traces", JSON)
    assert response.status_code == 200


@pytest.mark.parametrize("encoding", PACK)
@pytest.mark.parametrize("content_type", [PROTOBUF, JSON])
async def test_compressed_exports_are_decompressed(
    exporter: Exporter, person: Person, encoding: str, content_type: str
) -> None:
    span = make_span()
    request = make_traces([span])
    body = as_otlp_json(request) if content_type == JSON else request.SerializeToString()
    response = await exporter.post(
        PACK[encoding](body), content_type=content_type, content_encoding=encoding
    )
    assert response.status_code == 200, response.text
    await person.data("GET", f"/spans/traces/{span.trace_id.hex()}")


@pytest.mark.parametrize("kind", MAKE)
@pytest.mark.parametrize(("body", "content_type"), [(b"", PROTOBUF), (b"{}", JSON)])
async def test_an_empty_export_is_a_success(
    exporter: Exporter, kind: Kind, body: bytes, content_type: str
) -> None:
    response = await exporter.post(body, f"/v1/{kind.name.lower()}", content_type)
    assert response.status_code == 200
    assert response.content == body


async def test_invalid_spans_are_counted_and_the_others_stored(
    exporter: Exporter, person: Person
) -> None:
    good = make_span()
    bad = [make_span(trace_id=b"short"), make_span(span_id=b""), make_span(start=5)]
    response = await exporter.post(make_traces([bad[0], good, *bad[1:]]))
    assert response.status_code == 200
    answer = ExportTraceServiceResponse.FromString(response.content)
    assert answer.partial_success.rejected_spans == 3
    assert "traceId" in answer.partial_success.error_message
    assert await count_traces(person) == 1


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
    body = make_traces([make_span()]).SerializeToString()
    for headers in (
        {"x-api-key": exporter.key},
        {"Authorization": f"Bearer {exporter.key}"},
        {"Authorization": basic(exporter.key)},
    ):
        response = await service.http.post(
            "/v1/traces", content=body, headers={"content-type": PROTOBUF, **headers}
        )
        assert response.status_code == 200, headers


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-api-key": "sw_nobody"},
        {"Authorization": "Bearer nonsense"},
        {"Authorization": basic("nobody")},
        {"Authorization": "Basic ???"},
    ],
)
async def test_an_invalid_key_is_401_before_the_body_is_read(
    service: Service, path: str, headers: dict[str, str]
) -> None:
    response = await service.http.post(
        path, content=b"\xff\xff", headers={"content-type": PROTOBUF, **headers}
    )
    assert response.status_code == 401
    assert status_of(response).code == code_pb2.UNAUTHENTICATED


async def test_a_read_key_is_403(service: Service, person: Person) -> None:
    reader = Exporter(service.http, (await person.new_key(scopes=["read"]))["key"])
    response = await reader.post(make_traces([make_span()]))
    assert response.status_code == 403
    assert status_of(response).code == code_pb2.PERMISSION_DENIED
    as_json = await reader.post(b"{}", content_type=JSON)
    assert as_json.json()["code"] == code_pb2.PERMISSION_DENIED


@pytest.mark.parametrize(
    ("sent", "path"),
    [
        (Kind.LOGS, "/v1/traces"),
        (Kind.METRICS, "/v1/traces"),
        (Kind.TRACES, "/v1/logs"),
        (Kind.TRACES, "/v1/metrics"),
    ],
)
async def test_an_export_to_the_path_of_another_kind_names_the_right_path(
    exporter: Exporter, sent: Kind, path: str
) -> None:
    response = await exporter.post(MAKE[sent](), path)
    assert response.status_code == 400
    assert f"send it to /v1/{sent.name.lower()}" in status_of(response).message


async def test_logs_with_trace_ids_sent_to_the_traces_path_get_the_right_path_too(
    exporter: Exporter,
) -> None:
    response = await exporter.post(make_logs(trace_id=b"\x01" * 16), "/v1/traces")
    assert "send it to /v1/logs" in status_of(response).message


async def test_json_logs_sent_to_the_traces_path_are_not_an_empty_export(
    exporter: Exporter,
) -> None:
    body = json_format.MessageToJson(make_logs()).encode()
    response = await exporter.post(body, "/v1/traces", JSON)
    assert response.status_code == 400
    assert "send it to /v1/logs" in response.json()["message"]


async def test_get_on_an_export_path_gets_the_envelope(service: Service) -> None:
    response: httpx.Response = await service.http.get("/v1/traces")
    assert response.status_code == 404
    assert response.json()["error"]["code"] == "NOT_FOUND"
