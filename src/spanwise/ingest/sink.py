"""Joins journalled records into batches for the telemetry store."""

from collections.abc import Callable, Sequence
from pathlib import Path

import structlog

from spanwise.ingest.journal import Kind, Record
from spanwise.ingest.pipeline import Refused
from spanwise.storage.telemetry.store import Batch, DataRefused, Writer

log = structlog.get_logger()


class Sink:
    """`on_agents` is told, in the applying thread, which agents a batch's traces are of."""

    def __init__(
        self,
        writer: Writer,
        quarantine: Path,
        on_agents: Callable[[Sequence[tuple[str, str]]], None],
    ) -> None:
        self._writer = writer
        self._quarantine = quarantine
        self._on_agents = on_agents

    def apply(self, records: Sequence[Record]) -> None:
        def joined(kind: Kind) -> bytes:
            return b"".join(record.payload for record in records if record.kind is kind)

        versions = [record.version for record in records]
        batch = Batch(
            first_version=min(versions),
            last_version=max(versions),
            spans=joined(Kind.TRACES),
            logs=joined(Kind.LOGS),
            metrics=joined(Kind.METRICS),
            signals=joined(Kind.SIGNALS),
        )
        try:
            agents = self._writer.write(batch)
        except DataRefused as error:
            raise Refused(str(error)) from error
        self._on_agents(agents)

    def quarantine(self, record: Record, reason: str) -> None:
        """Keep a record that the engine refuses, so that a person can look at it."""
        self._quarantine.mkdir(parents=True, exist_ok=True)
        path = self._quarantine / f"{record.version}.{record.kind.name.lower()}"
        path.write_bytes(record.payload)
        log.error("record_refused", kept_as=str(path), reason=reason)
