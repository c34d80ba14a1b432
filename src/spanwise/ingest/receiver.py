"""Receives telemetry from HTTP, gRPC and the fast path.

Decodes, validates and masks a body, commits its records to the journal, and counts them.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from google.protobuf.message import DecodeError
from orjson import dumps as to_json

from spanwise.ingest.commit.counters import IngestCounters
from spanwise.ingest.commit.pipeline import Pipeline
from spanwise.ingest.commit.queue import CommitCallback
from spanwise.ingest.counts import (
    DEFAULT_LIMITS,
    Export,
    Limits,
    TooMany,
    decode_export,
    encode_export,
)
from spanwise.ingest.masking.masker import Masker
from spanwise.ingest.masking.patterns import limit_time
from spanwise.ingest.otlp import prepare as otlp
from spanwise.ingest.otlp.exports import read_export, refuse_other_kind
from spanwise.ingest.otlp.from_rest import logs_to_otlp, spans_to_otlp
from spanwise.ingest.otlp.prepare import Prepared
from spanwise.ingest.otlp.prepare_metrics import prepare_metrics
from spanwise.ingest.records.record import Kind
from spanwise.ingest.records.rows import encode_signals
from spanwise.ingest.rest_bodies import (
    NewLog,
    NewSignal,
    NewSpan,
    Parsed,
    load_json,
    parse_logs,
    parse_spans,
)
from spanwise.ingest.workspace_pool import WorkspacePool
from spanwise.model.accounts import Sender
from spanwise.model.errors import Invalid, Unavailable
from spanwise.model.telemetry.signals import Signal

_PREPARE: dict[Kind, Any] = {
    Kind.TRACES: otlp.prepare_traces,
    Kind.LOGS: otlp.prepare_logs,
    Kind.METRICS: prepare_metrics,
}
# Larger bodies are decoded and prepared in a thread. JSON takes about 20 times as long as protobuf.
THREAD_BYTES = 16_384
JSON_THREAD_BYTES = 4096
# Spans or records that are prepared without a thread: a small body can have thousands.
LOOP_ITEMS = 1000
# The event loop has to wait for each thread that runs: of larger bodies, two are handled at once.
LARGE_BYTES = 2**18

# Returns the masker of a workspace, if it has one, without waiting.
FindMasker = Callable[[str], Masker | None]

T = TypeVar("T")


class Receiver:
    def __init__(
        self,
        pipeline: Pipeline,
        counters: IngestCounters,
        masking: FindMasker = lambda _: None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self._limits = limits
        self._loop_limits = replace(
            limits,
            items=min(limits.items, LOOP_ITEMS),
            resources=min(limits.resources, LOOP_ITEMS),
        )
        self._pipeline = pipeline
        self._counters = counters
        self._find_masker = masking
        self._pool = WorkspacePool("bodies", 4)
        self._large_pool = WorkspacePool("large-bodies", 2)
        self._masking_pool = WorkspacePool("masking", 4)

    def close(self) -> None:
        for pool in (self._pool, self._large_pool, self._masking_pool):
            pool.close()

    async def receive_otlp(
        self, sender: Sender, kind: Kind, body: bytes, *, is_json: bool
    ) -> Prepared:
        """Store an OTLP export. The result says which part of it was rejected."""
        read = partial(read_export, kind, body, self._limits, is_json=is_json)
        max_bytes = JSON_THREAD_BYTES if is_json else THREAD_BYTES
        export = await self._off_loop(sender, len(body), read, max_bytes)
        try:
            prepared = await self._prepare(sender, export)
        except Invalid:
            refuse = partial(refuse_other_kind, kind, body, self._limits, is_json=is_json)
            await self._off_loop(sender, len(body), refuse)
            raise
        return await self._store(sender, prepared)

    def enqueue_otlp(
        self, sender: Sender, kind: Kind, body: bytes, on_commit: CommitCallback
    ) -> bool:
        """Enqueue a protobuf export without waiting, if all of it is valid.

        Returns False, with nothing enqueued, when some of it is rejected, it is empty, or it could
        take long.
        """
        masker = self._find_masker(sender.workspace)
        if masker is not None and len(body) > masker.loop_bytes:
            return False
        try:
            export = decode_export(kind, body, self._loop_limits)
        except (DecodeError, TooMany):
            return False
        prepared = _prepare(masker, sender.workspace, export, self._limits)
        if prepared.rejected or not prepared.records:
            return False

        def count_and_report(failure: Unavailable | None) -> None:
            if failure is None:
                self._count(prepared)
            on_commit(failure)

        self._pipeline.enqueue(sender, prepared.records, count_and_report)
        return True

    async def read_json(self, sender: Sender, body: bytes, parse: Callable[[Any], T]) -> T:
        """Parse a JSON body, in a thread if it is large."""

        def read() -> T:
            return parse(load_json(body, self._limits.values))

        return await self._off_loop(sender, len(body), read, JSON_THREAD_BYTES)

    async def receive_spans(self, sender: Sender, body: bytes) -> Parsed[NewSpan]:
        """Store the valid spans of a REST body. The result lists the rejected ones too."""

        def read(document: Any) -> tuple[Parsed[NewSpan], Export]:  # noqa: ANN401 -- any JSON
            parsed = parse_spans(document, self._limits.items)
            request = spans_to_otlp(parsed.items)
            return parsed, encode_export(Kind.TRACES, request, self._limits)

        parsed, export = await self.read_json(sender, body, read)
        prepared = await self._prepare(sender, export)
        await self._store(sender, replace(prepared, rejected=len(parsed.rejections)))
        return parsed

    async def read_logs(self, sender: Sender, body: bytes) -> Parsed[NewLog]:
        return await self.read_json(sender, body, lambda rows: parse_logs(rows, self._limits.items))

    async def receive_logs(
        self, sender: Sender, logs: list[NewLog], *, size: int, rejected: int = 0
    ) -> None:
        """Store logs from a body of a size."""

        def convert() -> Export:
            return encode_export(Kind.LOGS, logs_to_otlp(logs), self._limits)

        export = await self._off_loop(sender, size, convert, JSON_THREAD_BYTES)
        prepared = await self._prepare(sender, export)
        await self._store(sender, replace(prepared, rejected=rejected))

    async def receive_signals(self, sender: Sender, new: list[NewSignal]) -> list[Signal]:
        if masker := self._find_masker(sender.workspace):
            size = sum(len(signal.comment or "") + len(to_json(signal.metadata)) for signal in new)
            new = await self._mask(
                sender, masker, size, lambda: [masker.mask_signal(signal) for signal in new]
            )
        signals = [signal.complete() for signal in new]
        record = encode_signals(sender.workspace, signals)
        await self._pipeline.submit(sender, [record])
        self._counters.count_request(Kind.SIGNALS, len(signals), 0, [record])
        return signals

    async def _prepare(self, sender: Sender, export: Export) -> Prepared:
        masker = self._find_masker(sender.workspace)
        work = partial(_prepare, masker, sender.workspace, export, self._limits)
        if masker is None:
            return await self._off_loop(sender, len(export.body), work)
        return await self._mask(sender, masker, len(export.body), work)

    async def _mask(self, sender: Sender, masker: Masker, size: int, work: Callable[[], T]) -> T:
        if size <= masker.loop_bytes:
            return work()
        return await self._masking_pool.run(sender.workspace, partial(_limit_patterns, work))

    async def _off_loop(
        self, sender: Sender, size: int, work: Callable[[], T], max_bytes: int = THREAD_BYTES
    ) -> T:
        """Run work in a thread when the body is large, so that it does not block the event loop."""
        if size <= max_bytes:
            return work()
        pool = self._large_pool if size > LARGE_BYTES else self._pool
        return await pool.run(sender.workspace, work)

    async def _store(self, sender: Sender, prepared: Prepared) -> Prepared:
        if prepared.records:
            await self._pipeline.submit(sender, prepared.records)
            self._count(prepared)
        return prepared

    def _count(self, prepared: Prepared) -> None:
        kind = prepared.records[0].kind
        kind = Kind.TRACES if kind is Kind.CALLS else kind
        self._counters.count_request(kind, prepared.accepted, prepared.rejected, prepared.records)


def _prepare(masker: Masker | None, workspace: str, export: Export, limits: Limits) -> Prepared:
    """Mask and frame a request. Masked ones are encoded again, since the body is the original."""
    if masker is not None:
        masker.mask_export(export.kind, export.message)
        export = encode_export(export.kind, export.message, limits)
    prepared: Prepared = _PREPARE[export.kind](
        export.message, workspace, export.body, largest_item=export.largest_item
    )
    return prepared


def _limit_patterns(work: Callable[[], T]) -> T:
    with limit_time():
        return work()
