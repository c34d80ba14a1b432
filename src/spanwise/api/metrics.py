"""Prometheus metrics of ingest, repricing, alert evaluation and notifications.

The collectors read their values when `/metrics` is scraped; HTTP requests are counted as they
finish (`http/request_log.py`). Metric and label names are part of the interface. No label holds an
id.
"""

from collections.abc import Iterable, Iterator

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    Metric,
    SummaryMetricFamily,
)
from prometheus_client.registry import Collector

from spanwise.api.services import Services
from spanwise.services.alerts.evaluation_health import AlertJobs


class ServiceCollector(Collector):
    def __init__(self, services: Services) -> None:
        self._services = services

    def collect(self) -> Iterator[Metric]:
        yield from self._ingest()
        yield from self._ingest_queue()
        yield from self._repricing()

    def _ingest(self) -> Iterator[Metric]:
        counters = self._services.ingest.counters
        for name, text, counts in (
            ("items", "Spans, logs, metrics and signals acknowledged.", counters.accepted),
            ("rejected_items", "Items of accepted requests that were rejected.", counters.rejected),
            ("bytes", "Bytes journalled.", counters.bytes),
        ):
            family = CounterMetricFamily(f"spanwise_ingest_{name}", text, labels=["kind"])
            for kind, count in sorted(counts.copy().items()):
                family.add_metric([kind], count)
            yield family
        yield SummaryMetricFamily(
            "spanwise_ingest_apply_seconds",
            "Time to insert batches into the engine.",
            count_value=counters.batches,
            sum_value=counters.apply_seconds,
        )
        yield CounterMetricFamily(
            "spanwise_ingest_stalls", "Batches that the engine could not insert.", counters.failures
        )
        yield CounterMetricFamily(
            "spanwise_ingest_refused_records",
            "Acknowledged requests that the engine rejected; kept in `refused/`.",
            counters.refused_records,
        )

    def _ingest_queue(self) -> Iterator[Metric]:
        load = self._services.ingest.pipeline.load()
        for name, text, value in (
            ("waiting_bytes", "Bytes waiting for the journal.", load.waiting_bytes),
            ("backlog_bytes", "Bytes journalled, not yet in the engine.", load.backlog_bytes),
            ("stalled", "1 while the engine accepts no batches.", int(load.is_stalled)),
        ):
            yield GaugeMetricFamily(f"spanwise_ingest_{name}", text, value)

    def _repricing(self) -> Iterator[Metric]:
        repricing = self._services.telemetry.repricing
        yield GaugeMetricFamily(
            "spanwise_repricing_tasks", "Price changes left to apply.", repricing.tasks_left
        )
        yield CounterMetricFamily(
            "spanwise_repricing_months", "Months of spans repriced.", repricing.months_done
        )


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
