"""Measures what it costs to store one batch, in stores of growing size.

Each store is the one before, grown by copies of its spans to earlier times.
"""

import json
import os
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from bench.payload import Writer, make_body
from bench.reads import send_template
from bench.scale import Scale
from bench.service import run_engine, run_module
from spanwise.analysis.prices import find_list_prices
from spanwise.ingest.commit.engine_store import EngineStore
from spanwise.ingest.otlp.prepare import prepare_traces
from spanwise.ingest.records.record import Record
from spanwise.ingest.records.versions import next_version, with_version
from spanwise.storage.telemetry.engine.client_pool import Engine, EngineAddress
from spanwise.storage.telemetry.engine.query import query_rows
from spanwise.storage.telemetry.write.writer import TelemetryWriter

_MEMORY_LIMIT_MB = 2048
# Spans per request, requests per batch, and how many batches are measured.
_BATCHES = {"small": (24, 1, 25), "large": (1600, 6, 9)}
_QUIET_SECONDS, _MAX_WAIT_SECONDS = 2.0, 300


def measure_growth(folder: Path, scale: Scale) -> dict[str, Any]:
    """Return the median time and processor time of a batch, by size of the store and batch."""
    data = folder / "growth"
    if not data.exists():
        send_template(data, folder / "growth-pool", scale.template_spans)
    store = data / "data" / "telemetry"
    figures = {}
    for spans in scale.growth_spans:
        grown = run_engine("grow", store, spans)
        figures[str(spans)] = grown | run_module("bench.growth", str(store))
    return figures


def measure_batches(folder: Path) -> dict[str, dict[str, float]]:
    engine = Engine.open(EngineAddress(folder=folder), _MEMORY_LIMIT_MB)
    writer = TelemetryWriter(engine, find_list_prices)
    store = EngineStore(writer, folder / "quarantine", lambda agents: None)
    with engine.client() as client:
        workspace = query_rows(client, "SELECT any(workspace) AS name FROM traces", {})[0]["name"]
    texts = Writer(1)
    figures = {}
    for name, (spans, requests, batches) in _BATCHES.items():
        _store(store, _make_records(texts, workspace, spans, requests))
        _wait_for_merges(engine)
        costs = [
            _store(store, _make_records(texts, workspace, spans, requests)) for _ in range(batches)
        ]
        seconds, cpu_seconds = zip(*costs, strict=True)
        figures[name] = {"ms": 1000 * median(seconds), "cpu_ms": 1000 * median(cpu_seconds)}
    writer.close()
    engine.close()
    return figures


def _store(store: EngineStore, records: list[Record]) -> tuple[float, float]:
    """Store a batch; return the time and the processor time that it took."""
    started, cpu = time.perf_counter(), time.process_time()
    store.insert(records)
    store.finish(records)
    return time.perf_counter() - started, time.process_time() - cpu


def _make_records(texts: Writer, workspace: str, spans: int, requests: int) -> list[Record]:
    records = []
    for _ in range(requests):
        request = ExportTraceServiceRequest.FromString(make_body(texts, spans))
        ids: dict[bytes, bytes] = {}
        for span in request.resource_spans[0].scope_spans[0].spans:
            # Ids of new traces lie anywhere between those of stored ones.
            span.trace_id = ids.setdefault(span.trace_id, os.urandom(16))
        (record,) = prepare_traces(request, workspace).records
        records.append(with_version(record, next_version()))
    return records


def _wait_for_merges(engine: Engine) -> None:
    """Wait until the merges that growing the store started have ended."""
    quiet_since, deadline = time.monotonic(), time.monotonic() + _MAX_WAIT_SECONDS
    while time.monotonic() < min(quiet_since + _QUIET_SECONDS, deadline):
        with engine.client() as client:
            if query_rows(client, "SELECT 1 AS one FROM system.merges LIMIT 1", {}):
                quiet_since = time.monotonic()
        time.sleep(0.1)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure_batches(Path(sys.argv[1]))))
