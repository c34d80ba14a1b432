"""Receives telemetry from HTTP, gRPC and the fast path.

Decodes, validates and masks a body, commits its records to the journal, and counts them.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from google.protobuf.message import DecodeError, Message
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanwise.ingest.commit.counters import IngestCounters
from spanwise.ingest.commit.journal import Kind
from spanwise.ingest.commit.pipeline import Pipeline
from spanwise.ingest.commit.queue import CommitCallback
from spanwise.ingest.masking.masker import Masker
from spanwise.ingest.masking.pool import MaskingPool
from spanwise.ingest.otlp import prepare as otlp
from spanwise.ingest.otlp.deep_values import flatten_deep_values
from spanwise.ingest.otlp.json_format import decode_json
from spanwise.ingest.otlp.limits import TRACE_ID_BYTES
from spanwise.ingest.otlp.prepare import Prepared
from spanwise.ingest.otlp.prepare_metrics import prepare_metrics
from spanwise.ingest.rest import signals
from spanwise.ingest.rest import to_otlp as rest
from spanwise.ingest.rest.bodies import (
    NewLog,
    NewSignal,
    NewSpan,
    Parsed,
    load_json,
    parse_logs,
    parse_spans,
)
from spanwise.model.accounts import Sender
from spanwise.model.errors import Invalid, Unavailable
from spanwise.model.telemetry.signals import Signal

REQUESTS: dict[Kind, type[Message]] = {
    Kind.TRACES: ExportTraceServiceRequest,
    Kind.LOGS: ExportLogsServiceRequest,
    Kind.METRICS: ExportMetricsServiceRequest,
}
_PREPARE: dict[Kind, Any] = {
    Kind.TRACES: otlp.prepare_traces,
    Kind.LOGS: otlp.prepare_logs,
    Kind.METRICS: prepare_metrics,
}
_JSON_FIELDS = {
    Kind.TRACES: (b'"resourceSpans"', b'"resource_spans"'),
    Kind.LOGS: (b'"resourceLogs"', b'"resource_logs"'),
    Kind.METRICS: (b'"resourceMetrics"', b'"resource_metrics"'),
}

# JSON takes about 20 times as long to decode as protobuf, and masking about as long as that: larger
# bodies are decoded and masked in a thread.
THREAD_BYTES = 65_536

# Returns the masker of a workspace, if it has one, without waiting.
FindMasker = Callable[[str], Masker | None]

T = TypeVar("T")


class Receiver:
    def __init__(
        self,
        pipeline: Pipeline,
        counters: IngestCounters,
        masking: FindMasker = lambda _: None,
    ) -> None:
        self._pipeline = pipeline
        self._counters = counters
        self._find_masker = masking
        self._masking_pool = MaskingPool()

    def close(self) -> None:
        self._masking_pool.close()

    async def receive_otlp(
        self, sender: Sender, kind: Kind, body: bytes, *, is_json: bool
    ) -> Prepared:
        """Store an OTLP export. The result says which part of it was rejected."""
        try:
            if is_json:
                message = await _off_loop(len(body), lambda: decode_json(REQUESTS[kind], body))
                if not message.ByteSize():
                    _refuse_other_kind(kind, body, is_json=True)
            else:
                message, body = await _decode(REQUESTS[kind], body)
            prepared = await self._prepare(
                sender, kind, message, None if is_json else body, size=len(body)
            )
        except Invalid:
            _refuse_other_kind(kind, body, is_json=is_json)
            raise
        return await self._store(sender, prepared)

    def enqueue_otlp(
        self, sender: Sender, kind: Kind, body: bytes, on_commit: CommitCallback
    ) -> bool:
        """Enqueue a protobuf export without waiting, if all of it is valid.

        Returns False, with nothing enqueued, when some of it is rejected, it is empty, or masking
        it could take long.
        """
        masker = self._find_masker(sender.workspace)
        if masker is not None and len(body) > masker.loop_bytes:
            return False
        prepared = _prepare(
            masker,
            sender.workspace,
            kind,
            otlp.decode(REQUESTS[kind], body),
            body,
        )
        if prepared.rejected or not prepared.records:
            return False

        def count_and_report(failure: Unavailable | None) -> None:
            if failure is None:
                self._count(prepared)
            on_commit(failure)

        self._pipeline.enqueue(sender, prepared.records, count_and_report)
        return True

    async def receive_spans(self, sender: Sender, body: bytes) -> Parsed[NewSpan]:
        """Store the valid spans of a REST body. The result lists the rejected ones too."""

        def read() -> tuple[Parsed[NewSpan], ExportTraceServiceRequest]:
            parsed = parse_spans(load_json(body), otlp.MAX_ITEMS)
            return parsed, rest.spans_to_otlp(parsed.items)

        parsed, request = await _off_loop(len(body), read)
        prepared = await self._prepare(sender, Kind.TRACES, request, None, size=len(body))
        await self._store(sender, replace(prepared, rejected=len(parsed.rejections)))
        return parsed

    async def read_logs(self, body: bytes) -> Parsed[NewLog]:
        return await _off_loop(len(body), lambda: parse_logs(load_json(body), otlp.MAX_ITEMS))

    async def receive_logs(self, sender: Sender, logs: list[NewLog], rejected: int = 0) -> None:
        request = rest.logs_to_otlp(logs)
        prepared = await self._prepare(sender, Kind.LOGS, request, None, size=request.ByteSize())
        await self._store(sender, replace(prepared, rejected=rejected))

    async def receive_signals(self, sender: Sender, new: list[NewSignal]) -> list[Signal]:
        if masker := self._find_masker(sender.workspace):
            size = sum(len(signal.comment or "") for signal in new)
            new = await self._mask(
                sender, masker, size, lambda: [masker.mask_signal(signal) for signal in new]
            )
        prepared = signals.prepare_signals(sender.workspace, new)
        await self._pipeline.submit(sender, [prepared.record])
        self._counters.count_request(Kind.SIGNALS, len(prepared.signals), 0, [prepared.record])
        return prepared.signals

    async def _prepare(
        self,
        sender: Sender,
        kind: Kind,
        message: Any,  # noqa: ANN401 -- an OTLP request
        body: bytes | None,
        *,
        size: int,
    ) -> Prepared:
        masker = self._find_masker(sender.workspace)

        def work() -> Prepared:
            return _prepare(masker, sender.workspace, kind, message, body)

        if masker is None:
            return await _off_loop(size, work)
        return await self._mask(sender, masker, size, work)

    async def _mask(self, sender: Sender, masker: Masker, size: int, work: Callable[[], T]) -> T:
        if size <= masker.loop_bytes:
            return work()
        return await self._masking_pool.run(sender.workspace, work)

    async def _store(self, sender: Sender, prepared: Prepared) -> Prepared:
        if prepared.records:
            await self._pipeline.submit(sender, prepared.records)
            self._count(prepared)
        return prepared

    def _count(self, prepared: Prepared) -> None:
        kind = prepared.records[0].kind
        kind = Kind.TRACES if kind is Kind.CALLS else kind
        self._counters.count_request(kind, prepared.accepted, prepared.rejected, prepared.records)


def _prepare(
    masker: Masker | None,
    workspace: str,
    kind: Kind,
    message: Any,  # noqa: ANN401 -- an OTLP request
    body: bytes | None,
) -> Prepared:
    """Mask and frame a request. Masked ones are encoded again, since the body is the original."""
    if masker is not None:
        masker.mask_export(kind, message)
        body = None
    prepared: Prepared = _PREPARE[kind](message, workspace, body)
    return prepared


async def _decode(message: type[Message], body: bytes) -> tuple[Any, bytes]:
    """Decode a body; also return it, with values that are nested too deeply as text."""
    try:
        return otlp.decode(message, body), body
    except Invalid as refusal:
        try:
            flat = await _off_loop(len(body), lambda: flatten_deep_values(message, body))
            return otlp.decode(message, flat), flat
        except DecodeError:
            raise refusal from None


async def _off_loop(size: int, work: Callable[[], T]) -> T:
    """Run work in a thread when the body is large, so that it does not block the event loop."""
    return await asyncio.to_thread(work) if size > THREAD_BYTES else work()


def _refuse_other_kind(kind: Kind, body: bytes, *, is_json: bool) -> None:
    """Raise Invalid with the right path when the body is an export of another kind."""
    for other, message in REQUESTS.items():
        if other is kind:
            continue
        if is_json:
            is_other = any(field in body for field in _JSON_FIELDS[other])
        else:
            is_other = _decodes_as(message, other, body)
        if is_other:
            sent, wanted = other.name.lower(), kind.name.lower()
            raise Invalid(
                f"this is an export of {sent}, sent to the path for {wanted}; send it to /v1/{sent}"
            )


def _decodes_as(message: type[Message], kind: Kind, body: bytes) -> bool:
    """Return whether the bytes are plausible as an export of this kind."""
    try:
        request: Any = message.FromString(body)
    except DecodeError:
        return False
    match kind:
        case Kind.TRACES:
            items = (s for r in request.resource_spans for p in r.scope_spans for s in p.spans)
            return any(len(s.trace_id) == TRACE_ID_BYTES for s in items)
        case Kind.LOGS:
            items = (x for r in request.resource_logs for s in r.scope_logs for x in s.log_records)
            return any(x.time_unix_nano or x.observed_time_unix_nano for x in items)
        case _:
            items = (
                m for r in request.resource_metrics for s in r.scope_metrics for m in s.metrics
            )
            return any(m.name and m.WhichOneof("data") for m in items)
