"""Writes journaled records to the telemetry engine, joined into batches."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import structlog
from clickhouse_connect.driver.exceptions import ClickHouseError
from google.protobuf.message import Message
from opentelemetry.proto.logs.v1.logs_pb2 import ScopeLogs
from opentelemetry.proto.metrics.v1.metrics_pb2 import ScopeMetrics
from opentelemetry.proto.trace.v1.trace_pb2 import ScopeSpans

from spanwise.ingest.commit.store import PermanentError, UnclassifiedError
from spanwise.ingest.records.frames import rewrite_frames
from spanwise.ingest.records.record import Kind, Record
from spanwise.ingest.records.rows import decode_deletion
from spanwise.model.agents import AgentActivity
from spanwise.storage.telemetry.rows.batch_rows import BatchRows
from spanwise.storage.telemetry.write.writer import (
    PARALLEL_INSERTS,
    Batch,
    DataRefused,
    TelemetryWriter,
    error_code,
)

log = structlog.get_logger()

# Timeouts, too little memory or disk space, lost connections, read-only or overloaded engines.
_TRANSIENT_CODES = frozenset(
    {159, 160, 164, 198, 201, 202, 209, 210, 225, 236, 241, 242, 243, 252, 999}
)

# An error without a code does not come from the data.
_PASSING_CODES = _TRANSIENT_CODES | {None}

_SPAN_KINDS = frozenset({Kind.TRACES, Kind.CALLS})

_SCOPES: Mapping[Kind, type[Message]] = {
    Kind.TRACES: ScopeSpans,
    Kind.CALLS: ScopeSpans,
    Kind.LOGS: ScopeLogs,
    Kind.METRICS: ScopeMetrics,
}

# Below this, planning a second insert takes longer than running it in parallel saves.
_PARALLEL_INSERT_BYTES = 6 * 2**20


class EngineStore:
    """The `Store` of the service. `on_agents` runs in the finishing thread, once per batch."""

    def __init__(
        self,
        writer: TelemetryWriter,
        quarantine_folder: Path,
        on_agents: Callable[[Sequence[AgentActivity]], None],
    ) -> None:
        self._writer = writer
        self._quarantine_folder = quarantine_folder
        self._on_agents = on_agents

    def insert(self, records: Sequence[Record]) -> None:
        with _classified_errors():
            try:
                self._writer.insert(_to_batch(records))
            except (DataRefused, ClickHouseError) as error:
                if isinstance(error, ClickHouseError) and error_code(error) in _PASSING_CODES:
                    raise
                # The engine refuses what protobuf's decoder skips: groups, and known fields of
                # another type. Looking for those in every request would take as long as decoding.
                log.warning("batch_rewritten", records=len(records), reason=str(error)[:200])
                self._writer.insert(_to_batch([_rewrite(record) for record in records]))

    def finish(self, records: Sequence[Record]) -> None:
        with _classified_errors():
            agents = self._writer.finish(
                _rows_of(records),
                deletions=[decode_deletion(r) for r in records if r.kind is Kind.DELETIONS],
                has_spans=any(record.kind in _SPAN_KINDS for record in records),
                has_calls=any(record.kind is Kind.CALLS for record in records),
            )
        self._on_agents(agents)

    def quarantine(self, record: Record, reason: str) -> None:
        """Keep a record that the engine refuses in a file, for an operator to inspect."""
        self._quarantine_folder.mkdir(parents=True, exist_ok=True)
        path = self._quarantine_folder / f"{record.version}.{record.kind.name.lower()}"
        with path.open("wb") as file:
            file.write(record.payload)
            # The journal drops the record after this.
            os.fsync(file.fileno())
        log.error("record_refused", kept_as=str(path), reason=reason)


@contextmanager
def _classified_errors() -> Iterator[None]:
    """Raise engine errors as permanent or unclassified; transient ones are passed on."""
    try:
        yield
    except DataRefused as error:
        raise PermanentError(str(error)) from error
    except ClickHouseError as error:
        code = error_code(error)
        if code in _PASSING_CODES:
            raise
        raise UnclassifiedError(str(error)) from error


def _rewrite(record: Record) -> Record:
    """Return the record in the encoding of our own writer, which the engine takes."""
    message = _SCOPES.get(record.kind)
    if message is None:
        return record
    return record._replace(payload=rewrite_frames(bytes(record.payload), message))


def _rows_of(records: Sequence[Record]) -> BatchRows:
    versions = [record.version for record in records]
    spans = [record for record in records if record.kind in _SPAN_KINDS]
    workspaces = frozenset(record.workspace for record in spans if record.workspace is not None)
    is_located = all(record.workspace is not None for record in spans)
    return BatchRows(
        min(versions),
        max(versions),
        workspaces if is_located else None,
        frozenset().union(*(record.hours for record in spans)),
    )


def _to_batch(records: Sequence[Record]) -> Batch:
    def join(kind: Kind) -> bytes:
        return b"".join(record.payload for record in records if record.kind is kind)

    return Batch(
        rows=_rows_of(records),
        spans=_split([r.payload for r in records if r.kind in _SPAN_KINDS]),
        logs=join(Kind.LOGS),
        metrics=join(Kind.METRICS),
        signals=join(Kind.SIGNALS),
        exposures=join(Kind.EXPOSURES),
    )


def _split(payloads: Sequence[bytes | bytearray]) -> list[bytes]:
    """Join payloads into parts of about equal size, one per parallel insert."""
    total = sum(len(payload) for payload in payloads)
    count = max(1, min(PARALLEL_INSERTS, total // _PARALLEL_INSERT_BYTES))
    parts: list[list[bytes | bytearray]] = [[] for _ in range(count)]
    size = 0
    for payload in payloads:
        parts[min(count - 1, size * count // max(total, 1))].append(payload)
        size += len(payload)
    return [b"".join(part) for part in parts if part]
