"""Measures the latency of read requests on a large store."""

import statistics
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx

from bench.analytics import keep_sending
from bench.load import Task
from bench.payload import (
    COMMON_WORD,
    RARE_WORD,
    SPANS_PER_TRACE,
    Body,
    Writer,
    make_body,
    make_rare_body,
    write_pool,
)
from bench.queries import time_queries
from bench.scale import Scale
from bench.service import Service, free_port, run_engine, run_service
from bench.writes import send_load

_BODY_SPANS = 1600
_WARM_UP_SECONDS = 10


@dataclass(frozen=True)
class Load:
    """What another caller writes during reads."""

    body_spans: int
    seconds_between: float


LOADS = {"24 spans x 5/s": Load(24, 0.2), "5,000 spans/s": Load(200, 0.04)}
# Label in the table, path, query parameters.
READS: list[tuple[str, str, dict[str, Any]]] = [
    ("traces, first page", "/spans/traces", {}),
    ("traces, one agent's errors", "/spans/traces", {"agentId": "coder", "status": "error"}),
    ("traces, one model", "/spans/traces", {"model": "gpt-4o"}),
    ("traces, by cost", "/spans/traces", {"sort": "cost"}),
    ("traces, page 100", "/spans/traces", {"skip": 4950}),
    ("search, rare word", "/spans/traces", {"search": RARE_WORD}),
    ("search, common word", "/spans/traces", {"search": COMMON_WORD}),
    ("filters", "/spans/filters", {}),
    ("signals summary", "/signals/summary", {}),
    ("metrics, 30 days", "/analytics/metrics", {}),
    ("requests over time, 30 days", "/analytics/traces/requests-over-time", {}),
    ("latency percentiles, 30 days", "/analytics/traces/latency-percentiles", {}),
    ("costs, 30 days", "/analytics/costs", {}),
    ("tool usage, 30 days", "/analytics/traces/tool-usage", {}),
    ("errors by type, 30 days", "/analytics/traces/errors-by-type", {}),
]


def measure_reads(folder: Path, scale: Scale) -> dict[str, Any]:
    return {str(spans): _measure_store(folder, spans, scale) for spans in scale.store_spans}


def _measure_store(folder: Path, spans: int, scale: Scale) -> dict[str, Any]:
    data = folder / f"reads-{spans}"
    if not data.exists():
        send_template(data, folder / "pool-template", scale.template_spans)
    grown = run_engine("grow", data / "data" / "telemetry", spans)
    with run_service(data, free_port()) as service:
        headers = {"Content-Type": "application/x-protobuf"}
        service.http.post("/otlp/v1/traces", content=make_rare_body(), headers=headers)
        _send_signals(service)
        return {
            **grown,
            "cold_start_seconds": service.start_seconds,
            "reads": _time_reads(service, scale.read_repeats),
            "read_after_write_ms": _time_reads_after_writes(service, scale.read_repeats),
            "beside": {
                name: _time_beside(service, folder, load, scale.read_repeats)
                for name, load in LOADS.items()
            },
            "peak_memory_mb": service.peak_memory_mb(),
        }


def send_template(data: Path, pool: Path, spans: int) -> None:
    """Ingest the spans of which a larger store is made."""
    bodies = spans // _BODY_SPANS
    if not pool.exists():
        write_pool(pool, _BODY_SPANS, bodies)
    data.mkdir()
    with run_service(data, free_port()) as service:
        send_load(service, pool, 4, bodies)
        # Returns when everything that was sent is visible.
        service.total_traces()


def _time_reads_after_writes(service: Service, repeats: int) -> float:
    """Return the median time of a list right after the same key has written a trace."""
    headers = {"Content-Type": "application/x-protobuf", "x-api-key": service.key}
    with httpx.Client(base_url=service.http.base_url, headers=headers, timeout=60) as http:
        times = []
        for _ in range(repeats):
            body = Body(make_body(Writer(1), SPANS_PER_TRACE), time.time_ns()).with_new_ids()
            http.post("/otlp/v1/traces", content=body).raise_for_status()
            started = time.perf_counter()
            http.get("/spans/traces").raise_for_status()
            times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times)


def _time_beside(service: Service, folder: Path, load: Load, repeats: int) -> dict[str, Any]:
    """Time all reads by one caller while another one writes."""
    pool = folder / f"pool-beside-{load.body_spans}"
    if not pool.exists():
        write_pool(pool, load.body_spans, 50)
    task = Task(service.port, service.key, str(pool), 4, 1_000_000, is_packed=False)
    with keep_sending(replace(task, seconds_between=load.seconds_between)):
        time.sleep(_WARM_UP_SECONDS)
        service.max_lag_seconds = 0.0
        return {
            "reads": _time_reads(service, repeats),
            "max_lag_seconds": service.max_lag_seconds,
        }


def _send_signals(service: Service) -> None:
    for batch in range(20):
        signals = [{"signalName": f"score-{n % 5}", "value": n + batch} for n in range(1000)]
        service.http.post("/signals/batch", json={"signals": signals}).raise_for_status()


def _time_reads(service: Service, repeats: int) -> dict[str, dict[str, float]]:
    times = {name: _time_read(service, path, query, repeats) for name, path, query in READS}
    times["one trace"] = _time_traces(service, repeats)
    queries = time_queries(service, repeats)
    times |= {name: _percentiles(milliseconds) for name, milliseconds in queries.items()}
    return times


def _time_read(
    service: Service, path: str, query: dict[str, Any], repeats: int
) -> dict[str, float]:
    response = service.http.get(path, params=query).raise_for_status()
    times = [time_request(service, path, query) for _ in range(repeats)]
    found = response.json().get("pagination", {}).get("total")
    return {**_percentiles(times), **({"found": found} if found is not None else {})}


def _time_traces(service: Service, repeats: int) -> dict[str, float]:
    """Time a different trace in each request, spread over the list."""
    total = service.total_traces()
    ids = []
    for number in range(repeats):
        query = {"limit": 1, "skip": number * min(total, 10_000) // repeats}
        page = service.http.get("/spans/traces", params=query).raise_for_status().json()["data"]
        ids += [trace["traceId"] for trace in page]
    return _percentiles([time_request(service, f"/spans/traces/{trace}", {}) for trace in ids])


def time_request(service: Service, path: str, query: dict[str, Any]) -> float:
    started = time.perf_counter()
    response = service.http.get(path, params=query).raise_for_status()
    milliseconds = (time.perf_counter() - started) * 1000
    service.record_lag(response)
    return milliseconds


def _percentiles(times: list[float]) -> dict[str, float]:
    return {
        "p50_ms": statistics.median(times),
        "p95_ms": statistics.quantiles(times, n=20, method="inclusive")[-1],
    }
