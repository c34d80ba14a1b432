"""Measures ingest over HTTP, and the bare engine with the same spans for comparison."""

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.load import Task
from bench.payload import SPANS_PER_TRACE, write_pool
from bench.scale import Scale
from bench.service import Service, free_port, run_engine, run_module, run_service

_ENGINE_BODY_SPANS = 1600


@dataclass(frozen=True)
class Write:
    """One row of the table of writes."""

    body_spans: int
    connections: int
    is_packed: bool
    requests: int
    acknowledged_per_second: float
    visible_per_second: float
    requests_per_second: float
    ack_p50_ms: float
    ack_p99_ms: float
    cpu_seconds_per_1000: float
    refused: int


def measure_writes(folder: Path, scale: Scale) -> dict[str, Any]:
    pools = {spans: folder / f"pool-{spans}" for spans in scale.writes}
    for spans, size in scale.writes.items():
        write_pool(pools[spans], spans, size.pool_bodies)
    data = folder / "writes"
    data.mkdir()
    with run_service(data, free_port()) as service:
        cold_start = service.start_seconds
        # Warm-up: the first spans of a model look up its price.
        send_load(service, pools[_ENGINE_BODY_SPANS], 4, 4)
        writes = [
            measure_write(
                service, pools[spans], spans, connections, size.requests, is_packed=is_packed
            )
            for spans, size in scale.writes.items()
            for connections in scale.write_connections
            for is_packed in (False, True)
            if not is_packed or spans >= scale.gzip_min_spans
        ]
        peak = service.peak_memory_mb()
    store = data / "data" / "telemetry"
    bodies = scale.writes[_ENGINE_BODY_SPANS].requests
    bare = {
        name: run_engine("bare", path, pools[_ENGINE_BODY_SPANS], bodies)
        for name, path in (("empty", folder / "bare"), ("filled", store))
    }
    return {
        "writes": [asdict(write) for write in writes],
        "bare_engine": bare,
        "disk": run_engine("disk", store),
        "peak_memory_mb": peak,
        "cold_start_seconds": cold_start,
    }


def measure_write(
    service: Service, pool: Path, spans: int, connections: int, requests: int, *, is_packed: bool
) -> Write:
    before, cpu = service.total_traces(), service.cpu_seconds()
    outcome = send_load(service, pool, connections, requests, is_packed=is_packed)
    read_started = time.perf_counter()
    # A read waits until everything acknowledged before it is visible.
    stored = (service.total_traces() - before) * SPANS_PER_TRACE
    read_seconds = time.perf_counter() - read_started
    sent = spans * requests
    if stored != sent:
        raise RuntimeError(f"{sent} spans were acknowledged, but {stored} are visible")
    acks = sorted(outcome["acks_ms"])
    return Write(
        body_spans=spans,
        connections=connections,
        is_packed=is_packed,
        requests=requests,
        acknowledged_per_second=sent / outcome["seconds"],
        visible_per_second=sent / (outcome["seconds"] + read_seconds),
        requests_per_second=requests / outcome["seconds"],
        ack_p50_ms=acks[len(acks) // 2],
        ack_p99_ms=acks[int(len(acks) * 0.99)],
        cpu_seconds_per_1000=1000 * (service.cpu_seconds() - cpu) / sent,
        refused=outcome["refused"],
    )


def send_load(
    service: Service, pool: Path, connections: int, requests: int, *, is_packed: bool = False
) -> dict[str, Any]:
    """Send requests from the load client and return its measurements."""
    task = Task(service.port, service.key, str(pool), connections, requests, is_packed)
    return run_module("bench.load", json.dumps(asdict(task)))
