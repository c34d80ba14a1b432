"""Measures the latency of read requests on a large store."""

import statistics
import time
from pathlib import Path
from typing import Any

from bench.payload import COMMON_WORD, RARE_WORD, make_rare_body, write_pool
from bench.scale import Scale
from bench.service import Service, free_port, run_engine, run_service
from bench.writes import send_load

_BODY_SPANS = 1600
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
    data.mkdir()
    pool, bodies = folder / "pool-template", scale.template_spans // _BODY_SPANS
    if not pool.exists():
        write_pool(pool, _BODY_SPANS, bodies)
    with run_service(data, free_port()) as service:
        send_load(service, pool, 4, bodies)
        # Returns when everything that was sent is visible.
        service.total_traces()
    grown = run_engine("grow", data / "data" / "telemetry", spans)
    with run_service(data, free_port()) as service:
        headers = {"Content-Type": "application/x-protobuf"}
        service.http.post("/otlp/v1/traces", content=make_rare_body(), headers=headers)
        _send_signals(service)
        return {
            **grown,
            "cold_start_seconds": service.start_seconds,
            "reads": _time_reads(service, scale.read_repeats),
            "peak_memory_mb": service.peak_memory_mb(),
        }


def _send_signals(service: Service) -> None:
    for batch in range(20):
        signals = [{"signalName": f"score-{n % 5}", "value": n + batch} for n in range(1000)]
        service.http.post("/signals/batch", json={"signals": signals}).raise_for_status()


def _time_reads(service: Service, repeats: int) -> dict[str, dict[str, float]]:
    times = {name: _time_read(service, path, query, repeats) for name, path, query in READS}
    times["one trace"] = _time_traces(service, repeats)
    return times


def _time_read(
    service: Service, path: str, query: dict[str, Any], repeats: int
) -> dict[str, float]:
    response = service.http.get(path, params=query).raise_for_status()
    times = [_time_request(service, path, query) for _ in range(repeats)]
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
    return _percentiles([_time_request(service, f"/spans/traces/{trace}", {}) for trace in ids])


def _time_request(service: Service, path: str, query: dict[str, Any]) -> float:
    started = time.perf_counter()
    service.http.get(path, params=query).raise_for_status()
    return (time.perf_counter() - started) * 1000


def _percentiles(times: list[float]) -> dict[str, float]:
    return {
        "p50_ms": statistics.median(times),
        "p95_ms": statistics.quantiles(times, n=20, method="inclusive")[-1],
    }
