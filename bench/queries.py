"""Measures queries and comparisons of 30 days: built-in dimensions, and attributes."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import httpx

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
# Label in the table -> parameters of `GET /analytics/changes`.
COMPARISONS: dict[str, dict[str, str]] = {
    "changes, two periods": {},
    "changes, two models": {"dimension": "model", "baseline": "gpt-4o", "candidate": "gpt-4o-mini"},
    "changes, two releases": {
        "dimension": "serviceVersion",
        "baseline": "1.0.0",
        "candidate": "1.1.0",
    },
    "changes, two values of an attribute": {
        "dimension": _ATTRIBUTE,
        "baseline": "gpt-4o",
        "candidate": "gpt-4o-mini",
    },
}


def time_queries(service: Service, repeats: int) -> dict[str, list[float]]:
    """Return the milliseconds of repeated queries, after one that is not counted."""
    requests: dict[str, Callable[[], httpx.Response]] = {
        name: partial(service.http.post, "/analytics/query", json=query)
        for name, query in QUERIES.items()
    }
    for name, parameters in COMPARISONS.items():
        requests[name] = partial(service.http.get, "/analytics/changes", params=parameters)
    return {
        name: [_time_request(request) for _ in range(repeats + 1)][1:]
        for name, request in requests.items()
    }


def _time_request(request: Callable[[], httpx.Response]) -> float:
    started = time.perf_counter()
    request().raise_for_status()
    return (time.perf_counter() - started) * 1000
