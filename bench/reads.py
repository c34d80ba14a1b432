"""Times the answers that people wait for."""

import statistics
import time
from typing import Any

from bench.payload import COMMON_WORD, RARE_WORD
from bench.service import Service

# A name for the table, a path, its parameters. More endpoints are more lines.
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


def time_reads(service: Service, repeats: int) -> dict[str, dict[str, float]]:
    answers = {name: _time(service, path, query, repeats) for name, path, query in READS}
    answers["one trace"] = _time_traces(service, repeats)
    return answers


def _time(service: Service, path: str, query: dict[str, Any], repeats: int) -> dict[str, float]:
    response = service.http.get(path, params=query)
    if not response.is_success:
        return {"status": response.status_code}
    times = [_time_once(service, path, query) for _ in range(repeats)]
    found = response.json().get("pagination", {}).get("total")
    return {**_percentiles(times), **({"found": found} if found is not None else {})}


def _time_traces(service: Service, repeats: int) -> dict[str, float]:
    """A different trace each time, from anywhere in the list."""
    total = service.total_traces()
    ids = []
    for number in range(repeats):
        query = {"limit": 1, "skip": number * min(total, 10_000) // repeats}
        page = service.http.get("/spans/traces", params=query).raise_for_status().json()["data"]
        ids += [trace["traceId"] for trace in page]
    return _percentiles([_time_once(service, f"/spans/traces/{trace}", {}) for trace in ids])


def _time_once(service: Service, path: str, query: dict[str, Any]) -> float:
    started = time.perf_counter()
    service.http.get(path, params=query).raise_for_status()
    return (time.perf_counter() - started) * 1000


def _percentiles(times: list[float]) -> dict[str, float]:
    return {
        "p50_ms": statistics.median(times),
        "p95_ms": statistics.quantiles(times, n=20, method="inclusive")[-1],
    }
