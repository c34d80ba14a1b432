"""Measures `POST /analytics/query` over 30 days: built-in dimensions, and attributes."""

import time
from typing import Any

from bench.service import Service

_ATTRIBUTE = "attribute:gen_ai.request.model"
_BY_DAY = {"granularity": "daily"}
# Label in the table -> query.
QUERIES: dict[str, dict[str, Any]] = {
    "query, traces by agent": {"measures": ["count", "cost", "p95"], "groupBy": ["agent"]},
    "query, traces by model and day": {"measures": ["count"], "groupBy": ["model"], **_BY_DAY},
    "query, traces by user": {"measures": ["count", "cost"], "groupBy": ["userId"]},
    "query, spans by tool": {
        "of": "spans",
        "measures": ["count", "errorRate", "p95"],
        "groupBy": ["tool"],
    },
    "query, spans by model": {
        "of": "spans",
        "measures": ["cost", "inputTokens", "outputTokens"],
        "groupBy": ["model"],
    },
    "query, spans by model and day": {
        "of": "spans",
        "measures": ["cost"],
        "groupBy": ["model"],
        **_BY_DAY,
    },
    "query, spans by agent": {"of": "spans", "measures": ["count", "cost"], "groupBy": ["agent"]},
    "query, spans by attribute": {"of": "spans", "measures": ["count"], "groupBy": [_ATTRIBUTE]},
    "query, traces by attribute": {"measures": ["count", "cost"], "groupBy": [_ATTRIBUTE]},
    "query, traces with attribute": {
        "measures": ["count", "cost"],
        "filters": [{"field": _ATTRIBUTE, "op": "eq", "value": "gpt-4o"}],
    },
}


def time_queries(service: Service, repeats: int) -> dict[str, list[float]]:
    """Return the milliseconds of repeated queries, after one that is not counted."""
    return {
        name: [_time_query(service, query) for _ in range(repeats + 1)][1:]
        for name, query in QUERIES.items()
    }


def _time_query(service: Service, query: dict[str, Any]) -> float:
    started = time.perf_counter()
    service.http.post("/analytics/query", json=query).raise_for_status()
    return (time.perf_counter() - started) * 1000
