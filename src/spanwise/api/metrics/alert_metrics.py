"""Prometheus metrics of alert evaluation and notifications."""

from collections.abc import Iterable

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from spanwise.services.alerts.evaluation_health import AlertJobs


class AlertCollector(Collector):
    def __init__(self, jobs: AlertJobs) -> None:
        self._jobs = jobs

    def collect(self) -> Iterable[Metric]:
        health = self._jobs.health
        last = health.last_success_at.timestamp() if health.last_success_at else 0.0
        yield CounterMetricFamily(
            "spanwise_alert_evaluations", "Evaluations that succeeded.", value=health.passes
        )
        yield CounterMetricFamily(
            "spanwise_alert_evaluation_failures", "Evaluations that failed.", value=health.failures
        )
        gauges = {
            "evaluation_healthy": ("1 unless evaluation fails or stalls.", health.state == "ok"),
            "evaluation_last_success_timestamp_seconds": ("Time of the last success.", last),
            "evaluation_seconds": ("Duration of the last evaluation.", health.last_seconds),
            "rules": ("Enabled alert rules.", health.rules),
            "notifications_pending": ("Messages in the outbox.", self._jobs.count_pending()),
        }
        for name, (text, value) in gauges.items():
            yield GaugeMetricFamily(f"spanwise_alert_{name}", text, value=float(value))
