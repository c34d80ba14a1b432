"""Writes spans to a telemetry store without a service, for tests of storage."""

import itertools
import os
from dataclasses import dataclass, field
from typing import Any

from spanwise.ingest.otlp import prepare as otlp
from spanwise.ingest.otlp.from_rest import spans_to_otlp
from spanwise.ingest.records.record import Record
from spanwise.ingest.records.versions import next_version, with_version
from spanwise.ingest.rest_bodies import parse_spans
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.rows.batch_rows import BatchRows
from spanwise.storage.telemetry.write.writer import Batch, TelemetryWriter

_workspaces = itertools.count(1)


def to_batch(record: Record) -> Batch:
    assert record.workspace is not None
    workspaces = frozenset([record.workspace])
    rows = BatchRows(record.version, record.version, workspaces, record.hours)
    return Batch(rows, spans=[bytes(record.payload)])


@dataclass
class WorkspaceStore:
    """A new workspace on an engine that tests share."""

    engine: Engine
    writer: TelemetryWriter
    workspace: str = field(default_factory=lambda: f"wsp_{os.getpid()}_{next(_workspaces)}")

    def batch(self, *spans: dict[str, Any]) -> Batch:
        """Return the batch that one request with these spans would become."""
        parsed = parse_spans({"spans": list(spans)}, 10_000).items
        (prepared,) = otlp.prepare_traces(spans_to_otlp(parsed), self.workspace).records
        record = with_version(prepared, next_version())
        return to_batch(record)

    def send(self, *spans: dict[str, Any]) -> None:
        self.writer.write(self.batch(*spans))
