"""Joins journalled records into batches for the telemetry store."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import structlog
from clickhouse_connect.driver.exceptions import ClickHouseError

from spanwise.ingest.commit.journal import Kind, Record
from spanwise.ingest.commit.pipeline import Refused, Suspect
from spanwise.ingest.deletions import read_deletion
from spanwise.model.agents import AgentActivity
from spanwise.storage.telemetry.writer import (
    PARALLEL_INSERTS,
    Batch,
    DataRefused,
    Writer,
    error_code,
)

log = structlog.get_logger()

# Errors that pass: no time, no memory, no room, no connection, read-only, too busy.
_PASSING = frozenset({159, 160, 164, 198, 201, 202, 209, 210, 225, 236, 241, 242, 243, 252, 999})


_SPANS = frozenset({Kind.TRACES, Kind.CALLS})

# Below this a second insert costs more to plan than it saves.
_PIECE_BYTES = 6 * 2**20


class Sink:
    """`on_agents` is told, in the applying thread, which agents a batch's traces are of."""

    def __init__(
        self,
        writer: Writer,
        quarantine: Path,
        on_agents: Callable[[Sequence[AgentActivity]], None],
    ) -> None:
        self._writer = writer
        self._quarantine = quarantine
        self._on_agents = on_agents

    def insert(self, records: Sequence[Record]) -> None:
        with _told_apart():
            self._writer.insert(_to_batch(records))

    def finish(self, records: Sequence[Record]) -> None:
        versions = [record.version for record in records]
        with _told_apart():
            agents = self._writer.finish(
                min(versions),
                max(versions),
                deletions=[read_deletion(r) for r in records if r.kind is Kind.DELETIONS],
                has_spans=any(record.kind in _SPANS for record in records),
                has_calls=any(record.kind is Kind.CALLS for record in records),
            )
        self._on_agents(agents)

    def quarantine(self, record: Record, reason: str) -> None:
        """Keep a record that the engine refuses, so that a person can look at it."""
        self._quarantine.mkdir(parents=True, exist_ok=True)
        path = self._quarantine / f"{record.version}.{record.kind.name.lower()}"
        with path.open("wb") as file:
            file.write(record.payload)
            # The journal forgets the record after this.
            os.fsync(file.fileno())
        log.error("record_refused", kept_as=str(path), reason=reason)


@contextmanager
def _told_apart() -> Iterator[None]:
    """Tell errors that will never pass, and perhaps will not, from those that will."""
    try:
        yield
    except DataRefused as error:
        raise Refused(str(error)) from error
    except ClickHouseError as error:
        code = error_code(error)
        if code is None or code in _PASSING:
            raise
        raise Suspect(str(error)) from error


def _to_batch(records: Sequence[Record]) -> Batch:
    def joined(kind: Kind) -> bytes:
        return b"".join(record.payload for record in records if record.kind is kind)

    versions = [record.version for record in records]
    return Batch(
        first_version=min(versions),
        last_version=max(versions),
        spans=_in_pieces([r.payload for r in records if r.kind in _SPANS]),
        logs=joined(Kind.LOGS),
        metrics=joined(Kind.METRICS),
        signals=joined(Kind.SIGNALS),
        exposures=joined(Kind.EXPOSURES),
    )


def _in_pieces(payloads: Sequence[bytes | bytearray]) -> list[bytes]:
    """Join payloads into as many pieces, of about the same size, as are worth an insert each."""
    total = sum(len(payload) for payload in payloads)
    count = max(1, min(PARALLEL_INSERTS, total // _PIECE_BYTES))
    pieces: list[list[bytes | bytearray]] = [[] for _ in range(count)]
    size = 0
    for payload in payloads:
        pieces[min(count - 1, size * count // max(total, 1))].append(payload)
        size += len(payload)
    return [b"".join(piece) for piece in pieces if piece]
