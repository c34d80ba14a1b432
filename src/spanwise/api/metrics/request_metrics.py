"""Counts and durations of HTTP requests for `/metrics`."""

from prometheus_client import CollectorRegistry, Counter, Histogram

_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


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
