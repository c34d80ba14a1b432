"""Measures data points of metrics: ingest over HTTP, and queries about what was sent."""

import json
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.metrics.v1.metrics_pb2 import AggregationTemporality

from bench.load import Task
from bench.payload import write_bodies
from bench.scale import Scale
from bench.service import Service, free_port, run_module, run_service

POINTS_PER_BODY = 500
SERIES = 100
CONNECTIONS = 4
REPEATS = 20
_BOUNDS = [float(2**n) for n in range(9)]
_DELTA = AggregationTemporality.AGGREGATION_TEMPORALITY_DELTA
_CUMULATIVE = AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE
QUERIES = {
    "sum of a delta counter, by model": ("tokens", "sum", ["model"]),
    "sum of a cumulative counter, by model": ("requests", "sum", ["model"]),
    "p95 of a histogram, by model": ("latency", "p95", ["model"]),
}


def measure_metrics(folder: Path, scale: Scale) -> dict[str, Any]:
    pool, data = folder / "pool-metrics", folder / "metrics"
    data.mkdir()
    write_bodies(pool, _make_bodies(scale.metric_requests))
    points = scale.metric_requests * POINTS_PER_BODY
    with run_service(data, free_port()) as service:
        cpu = service.cpu_seconds()
        task = Task(
            port=service.port,
            key=service.key,
            pool=str(pool),
            connections=CONNECTIONS,
            requests=scale.metric_requests,
            is_packed=False,
            path="/api/otlp/v1/metrics",
            is_verbatim=True,
        )
        outcome = run_module("bench.load", json.dumps(asdict(task)))
        started = time.perf_counter()
        stored = sum(_ask(service, name, "count", []) for name in ("tokens", "requests"))
        seconds = outcome["seconds"] + time.perf_counter() - started
        histograms = sum(1 for n in range(POINTS_PER_BODY) if n % 3 == 2)
        if stored != points - histograms * scale.metric_requests:
            raise RuntimeError(f"{stored} of the counters' points are visible")
        return {
            "points": points,
            "acked": points / outcome["seconds"],
            "visible": points / seconds,
            "cpu_seconds_per_1000": 1000 * (service.cpu_seconds() - cpu) / points,
            "reads": {name: _measure_query(service, *query) for name, query in QUERIES.items()},
        }


def _make_bodies(requests: int) -> Iterator[bytes]:
    """Yield exports of the last hours, a second apart, of three metrics by turns."""
    rng = Random(1)
    start = time.time_ns() - (requests + 60) * 10**9
    for number in range(requests):
        at = start + number * 10**9
        request = ExportMetricsServiceRequest()
        scope = request.resource_metrics.add().scope_metrics.add()
        tokens = scope.metrics.add(name="tokens", unit="{token}").sum
        calls = scope.metrics.add(name="requests").sum
        latency = scope.metrics.add(name="latency", unit="ms").histogram
        tokens.aggregation_temporality = latency.aggregation_temporality = _DELTA
        calls.aggregation_temporality = _CUMULATIVE
        tokens.is_monotonic = calls.is_monotonic = True
        for n in range(POINTS_PER_BODY):
            series = n // 3 % SERIES
            # Several points of a series in one export have different times.
            about = {
                "time_unix_nano": at + n,
                "start_time_unix_nano": start,
                "attributes": _pairs(model=f"model-{series % 7}", user=f"user-{series}"),
            }
            if n % 3 == 0:
                tokens.data_points.add(as_int=rng.randrange(5000), **about)
            elif n % 3 == 1:
                calls.data_points.add(as_int=number * 10 + n, **about)
            else:
                counts = [rng.randrange(20) for _ in range(len(_BOUNDS) + 1)]
                latency.data_points.add(
                    count=sum(counts),
                    sum=500.0,
                    bucket_counts=counts,
                    explicit_bounds=_BOUNDS,
                    **about,
                )
        yield request.SerializeToString()


def _pairs(**values: str) -> list[KeyValue]:
    return [KeyValue(key=k, value=AnyValue(string_value=v)) for k, v in values.items()]


def _ask(service: Service, name: str, aggregation: str, keys: list[str]) -> float:
    body = {"name": name, "aggregation": aggregation, "groupBy": keys, "granularity": "hourly"}
    response = service.http.post("/metrics/query", json=body, headers={"Cache-Control": "no-cache"})
    rows = response.raise_for_status().json()["data"]["rows"]
    return float(rows[0]["value"])


def _measure_query(service: Service, name: str, aggregation: str, keys: list[str]) -> Any:  # noqa: ANN401
    times = []
    for _ in range(REPEATS + 1):
        started = time.perf_counter()
        _ask(service, name, aggregation, keys)
        times.append(1000 * (time.perf_counter() - started))
    # The first one is not counted.
    times = sorted(times[1:])
    return {"p50_ms": median(times), "p95_ms": times[int(len(times) * 0.95)]}
