"""Measures analytics endpoints over a year of traces, with the requests of the dashboard.

Each endpoint is measured after a start (cold), repeatedly (warm), and repeatedly while 10,000 spans
per second are ingested into the same workspace. Like the dashboard, requests start at a full hour,
end at a full minute and accept answers that are five seconds old; waiting for the newest spans
would dominate the latency.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from bench.load import Task
from bench.payload import SPANS_PER_TRACE, Writer, make_body, write_pool
from bench.scale import Scale
from bench.service import Service, free_port, run_engine, run_service

AGENT = "agent-3"
PATHS = (
    "metrics",
    "costs",
    "traces/success-failure",
    "traces/requests-over-time",
    "traces/latency-percentiles",
    "traces/latency-distribution",
    "traces/token-usage",
    "traces/errors-by-type",
    "traces/error-rate",
    "traces/tool-usage",
    "traces/list",
)
PERIODS = {
    "24 h": (timedelta(hours=24), "hourly"),
    "30 d": (timedelta(days=30), "daily"),
    "12 m": (timedelta(days=365), "monthly"),
}
INGEST_SPANS_PER_SECOND = 10_000
BODY_SPANS = 200
POOL_BODIES = 50
# Until model prices are cached, and merges and rollups of the load are running.
_WARM_UP_SECONDS = 15

Times = dict[str, dict[str, float]]


def measure_analytics(folder: Path, scale: Scale) -> dict[str, Any]:
    pool = folder / "pool-analytics"
    write_pool(pool, BODY_SPANS, POOL_BODIES)
    return {
        str(spans): _measure_store(
            folder / f"analytics-{spans}", pool, spans, scale.analytics_repeats
        )
        for spans in scale.store_spans
    }


def _measure_store(folder: Path, pool: Path, spans: int, repeats: int) -> dict[str, Any]:
    """Fill a store with a year of traces worth this many spans, and time all requests."""
    folder.mkdir()
    with run_service(folder, free_port()) as service:
        # One real trace, from which `fill` takes the workspace.
        headers = {"Content-Type": "application/x-protobuf"}
        body = make_body(Writer(1), SPANS_PER_TRACE)
        service.http.post("/otlp/v1/traces", content=body, headers=headers).raise_for_status()
        if service.total_traces() != 1:
            raise RuntimeError("the first trace is not visible")
    filled = run_engine("fill", folder / "data" / "telemetry", spans // SPANS_PER_TRACE)
    with run_service(folder, free_port()) as service:
        cold = _time_all(service, 1)
    with run_service(folder, free_port()) as service:
        warm = _time_all(service, repeats)
        task = Task(service.port, service.key, str(pool), 4, 0, is_packed=False)
        interval = BODY_SPANS / INGEST_SPANS_PER_SECOND
        with keep_sending(replace(task, requests=1_000_000, seconds_between=interval)):
            time.sleep(_WARM_UP_SECONDS)
            busy = _time_all(service, repeats)
    return {**filled, "cold": cold, "warm": warm, "while_ingesting": busy}


def _time_all(service: Service, repeats: int) -> Times:
    """Time every request; with repeats, one more is sent first and not counted."""
    now = datetime.now(UTC)
    end = now + timedelta(minutes=1)
    times: Times = {path: {} for path in PATHS}
    for period, (length, granularity) in PERIODS.items():
        for agent in (None, AGENT):
            parameters = {
                "startDate": f"{now - length:%Y-%m-%dT%H:00:00Z}",
                "endDate": f"{end:%Y-%m-%dT%H:%M:00Z}",
                "granularity": granularity,
                **({"agentId": agent} if agent else {}),
            }
            name = f"{period}{', agent' if agent else ''}"
            for path in PATHS:
                total = repeats + (repeats > 1)
                timed = [_time_request(service, path, parameters) for _ in range(total)]
                counted = timed[1:] or timed
                times[path][f"{name} p50"] = median(counted)
                times[path][f"{name} p95"] = (
                    quantiles(counted, n=20, method="inclusive")[-1] if repeats > 1 else counted[0]
                )
    return times


def _time_request(service: Service, path: str, parameters: dict[str, str]) -> float:
    started = time.perf_counter()
    service.http.get(f"/analytics/{path}", params=parameters).raise_for_status()
    return (time.perf_counter() - started) * 1000


@contextmanager
def keep_sending(task: Task) -> Iterator[None]:
    """Run the load client in a separate process until the block ends."""
    command = [sys.executable, "-m", "bench.load", json.dumps(asdict(task))]
    with subprocess.Popen(
        command, cwd=Path(__file__).parent.parent, stdout=subprocess.DEVNULL
    ) as load:
        try:
            yield
            if load.poll() is not None:
                raise RuntimeError("the load ended before the measurement")
        finally:
            load.kill()
