"""Runs a mixed load for half an hour and shows whether latency and memory stay flat.

One process exports OTLP, another key sends spans as JSON, and a signed-in person reads what the
pages read. Every row of the table is one tenth of the time.
"""

import itertools
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import httpx

from bench.analytics import keep_sending
from bench.load import Task
from bench.payload import write_pool
from bench.reads import READS, send_template, time_request
from bench.scale import Scale
from bench.service import Service, free_port, run_engine, run_service

_BODY_SPANS = 200
_OTLP_SPANS_PER_SECOND = 2000
_REST_SECONDS = 0.1
_ROWS = 10
# What the overview, the list of traces and the filters read.
_PAGES = [read for read in READS if not read[0].startswith(("search", "traces, page"))]


def measure_steady(folder: Path, scale: Scale) -> list[dict[str, float]]:
    data = folder / "steady"
    if not data.exists():
        send_template(data, folder / "pool-template", scale.template_spans)
    run_engine("grow", data / "data" / "telemetry", min(scale.store_spans))
    pool = folder / "pool-steady"
    write_pool(pool, _BODY_SPANS, 50)
    with run_service(data, free_port()) as service:
        task = Task(service.port, service.key, str(pool), 2, 10**9, is_packed=False)
        interval = _BODY_SPANS / _OTLP_SPANS_PER_SECOND
        with keep_sending(replace(task, seconds_between=interval)), _sending_spans(service) as acks:
            return [_measure_row(service, acks, scale.steady_seconds / _ROWS) for _ in range(_ROWS)]


@contextmanager
def _sending_spans(service: Service) -> Iterator[list[float]]:
    """Send single spans as JSON from a thread; yields the times of the responses."""
    stopping = threading.Event()
    acks_ms: list[float] = []

    def send() -> None:
        headers = {"x-api-key": service.key}
        with httpx.Client(base_url=service.http.base_url, headers=headers) as http:
            for number in itertools.count(time.time_ns()):
                if stopping.wait(_REST_SECONDS):
                    return
                started = time.perf_counter()
                _post_span(http, number)
                acks_ms.append((time.perf_counter() - started) * 1000)

    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    try:
        yield acks_ms
    finally:
        stopping.set()
        thread.join()


def _post_span(http: httpx.Client, number: int) -> None:
    now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    span = {
        "traceId": f"{number:032x}",
        "spanId": f"{number % 2**64:016x}",
        "name": "run",
        "agentName": "steady",
        "startTime": now,
        "durationMs": 120,
        "input": "what is the weather",
        "output": "sunny",
    }
    http.post("/spans", json=span).raise_for_status()


def _measure_row(service: Service, acks_ms: list[float], seconds: float) -> dict[str, float]:
    service.max_lag_seconds = 0.0
    acks_ms.clear()
    cpu, started = service.cpu_seconds(), time.perf_counter()
    times: list[float] = []
    for _, path, query in itertools.cycle(_PAGES):
        times.append(time_request(service, path, query))
        if time.perf_counter() - started > seconds:
            break
    elapsed = time.perf_counter() - started
    return {
        "seconds": elapsed,
        "reads": len(times),
        "read_p50_ms": statistics.median(times),
        "read_p95_ms": statistics.quantiles(times, n=20, method="inclusive")[-1],
        "ack_p95_ms": statistics.quantiles(acks_ms, n=20, method="inclusive")[-1],
        "max_lag_seconds": service.max_lag_seconds,
        "memory_mb": service.memory_mb(),
        "cpu_cores": (service.cpu_seconds() - cpu) / elapsed,
    }
