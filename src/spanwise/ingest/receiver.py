"""The one way in: whatever door a request came through, it is checked, journalled and answered."""

from typing import Any

from google.protobuf.message import Message
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanwise.ingest import otlp, rest, signals
from spanwise.ingest.bodies import NewLog, NewSignal, load_json, parse_spans
from spanwise.ingest.journal import Kind
from spanwise.ingest.otlp import Prepared
from spanwise.ingest.otlp_json import decode_json
from spanwise.ingest.pipeline import Pipeline
from spanwise.model.signals import Signal

REQUESTS: dict[Kind, type[Message]] = {
    Kind.TRACES: ExportTraceServiceRequest,
    Kind.LOGS: ExportLogsServiceRequest,
    Kind.METRICS: ExportMetricsServiceRequest,
}
_PREPARE: dict[Kind, Any] = {
    Kind.TRACES: otlp.prepare_traces,
    Kind.LOGS: otlp.prepare_logs,
    Kind.METRICS: otlp.prepare_metrics,
}


class Receiver:
    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline

    async def receive_otlp(
        self, workspace: str, kind: Kind, body: bytes, *, is_json: bool
    ) -> Prepared:
        """Store an OTLP request; what of it was rejected is in the answer."""
        message_type = REQUESTS[kind]
        message = decode_json(message_type, body) if is_json else otlp.decode(message_type, body)
        return await self._store(_PREPARE[kind](message, workspace, None if is_json else body))

    async def receive_spans(self, workspace: str, body: bytes) -> int:
        spans = parse_spans(load_json(body), otlp.MAX_ITEMS)
        return (
            await self._store(otlp.prepare_traces(rest.spans_to_otlp(spans), workspace))
        ).accepted

    async def receive_logs(self, workspace: str, logs: list[NewLog]) -> int:
        return (await self._store(otlp.prepare_logs(rest.logs_to_otlp(logs), workspace))).accepted

    async def receive_signals(self, workspace: str, new: list[NewSignal]) -> list[Signal]:
        prepared = signals.prepare_signals(workspace, new)
        await self._pipeline.submit([prepared.record])
        return prepared.signals

    async def _store(self, prepared: Prepared) -> Prepared:
        if prepared.records:
            await self._pipeline.submit(prepared.records)
        return prepared
