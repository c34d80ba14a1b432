"""OTLP requests for tests, as an exporter would send them."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import httpx
from google.protobuf.message import Message
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from spanwise.ingest.otlp.from_rest import to_any_value
from support.ids import new_span_id, new_trace_id

PROTOBUF = "application/x-protobuf"
JSON = "application/json"
SECOND = 10**9


def pairs(values: Mapping[str, Any]) -> list[KeyValue]:
    return [KeyValue(key=key, value=to_any_value(value)) for key, value in values.items()]


def make_span(
    trace_id: bytes | None = None,
    span_id: bytes | None = None,
    *,
    name: str = "chat gpt-4o",
    parent: bytes = b"",
    start: int | None = None,
    **attributes: Any,
) -> Span:
    """Return a span that started a second ago; `_` in attribute names stands for a dot."""
    start = time.time_ns() - SECOND if start is None else start
    return Span(
        trace_id=bytes.fromhex(new_trace_id()) if trace_id is None else trace_id,
        span_id=bytes.fromhex(new_span_id()) if span_id is None else span_id,
        parent_span_id=parent,
        name=name,
        start_time_unix_nano=start,
        end_time_unix_nano=start + SECOND // 2,
        attributes=pairs({key.replace("__", "."): value for key, value in attributes.items()}),
    )


def make_traces(spans: Sequence[Span], service: str = "shop") -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    resource.resource.attributes.extend(pairs({"service.name": service}))
    resource.scope_spans.add().spans.extend(spans)
    return request


def make_logs(message: str = "hello", trace_id: bytes = b"") -> ExportLogsServiceRequest:
    request = ExportLogsServiceRequest()
    scope = request.resource_logs.add().scope_logs.add()
    scope.log_records.add(
        time_unix_nano=time.time_ns(),
        severity_number=9,
        body=AnyValue(string_value=message),
        trace_id=trace_id,
    )
    return request


def make_metrics(name: str = "gen_ai.client.token.usage") -> ExportMetricsServiceRequest:
    request = ExportMetricsServiceRequest()
    metric = request.resource_metrics.add().scope_metrics.add().metrics.add(name=name)
    metric.sum.data_points.add(time_unix_nano=time.time_ns(), as_int=5)
    return request


class Exporter:
    """Posts exports with a key, as protobuf by default."""

    def __init__(self, http: httpx.AsyncClient, key: str) -> None:
        self.http = http
        self.key = key

    async def post(
        self,
        body: bytes | Message,
        path: str = "/api/otlp/v1/traces",
        content_type: str = PROTOBUF,
        **headers: str,
    ) -> httpx.Response:
        content = body.SerializeToString() if isinstance(body, Message) else body
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {"x-api-key": self.key, "content-type": content_type, **named}
        return await self.http.post(path, content=content, headers=sent)


def status_of(response: httpx.Response) -> Status:
    """Parse the google.rpc.Status of a protobuf response."""
    assert response.headers["content-type"] == PROTOBUF
    return Status.FromString(response.content)
