"""Counts and logs every finished request, on the normal path and on the fast paths."""

import time

import structlog
from starlette.types import Scope

from spanwise.api.metrics.request_metrics import RequestMetrics
from spanwise.api.otlp.responses import PATHS

log = structlog.get_logger()

# Thousands of these may succeed per second; at level info they would fill the log.
_DEBUG_ROUTES = {*PATHS, "/api/experiments/{id}/assign"}
_FIRST_ERROR_STATUS = 400


class RequestLog:
    def __init__(self, metrics: RequestMetrics) -> None:
        self._metrics = metrics
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
