"""Counts and logs every finished request, on the normal path and on the fast path."""

import time

import structlog
from prometheus_client import CollectorRegistry, Counter, Histogram
from starlette.types import Scope

from spanwise.api.http.paths import EXPORT_PATHS

log = structlog.get_logger()

# Thousands of these may succeed per second; at level info they would fill the log.
_DEBUG_ROUTES = {*EXPORT_PATHS, "/api/experiments/{id}/assign"}
_FIRST_ERROR_STATUS = 400
_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


class RequestLog:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._metrics = RequestMetrics(registry)
        # Bound once, because an unbound logger looks up its configuration for every line.
        self._log = log.bind()

    def record(self, scope: Scope, route: str, status: int, started: float, **fields: str) -> None:
        """Count and log a request that started at this `time.perf_counter()`."""
        seconds = time.perf_counter() - started
        method = scope["method"]
        self._metrics.observe(method, route, status, seconds)
        is_info = status >= _FIRST_ERROR_STATUS or route not in _DEBUG_ROUTES
        (self._log.info if is_info else self._log.debug)(
            "request",
            method=method,
            path=scope["path"],
            status=status,
            ms=round(seconds * 1000, 2),
            **fields,
        )


class RequestMetrics:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._requests = Counter(
            "spanwise_http_requests",
            "HTTP requests by method, route and status.",
            ["method", "route", "status"],
            registry=registry,
        )
        self._seconds = Histogram(
            "spanwise_http_request_seconds",
            "Time from the request to the end of the response.",
            ["method", "route"],
            registry=registry,
            buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
        )
        # Cached, because looking a series up by its labels takes longer than incrementing it.
        self._series: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        labels = (method if method in _METHODS else "other", route, status)
        if labels not in self._series:
            self._series[labels] = (
                self._requests.labels(*labels),
                self._seconds.labels(*labels[:2]),
            )
        requests, durations = self._series[labels]
        requests.inc()
        durations.observe(seconds)
