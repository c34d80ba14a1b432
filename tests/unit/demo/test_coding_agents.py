"""The demo's coding agents: the same for a seed, in working hours, with all kinds of metrics."""

from datetime import UTC, datetime
from random import Random

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)

from spanwise.demo.coding_agents import DEVELOPERS, coding_exports
from spanwise.demo.timeline import Timeline
from spanwise.ingest.records.record import Kind
from spanwise.model.telemetry.coding_agents import METRICS, Measure

TIMELINE = Timeline.ending(datetime(2026, 6, 30, 12, tzinfo=UTC))


def generate(seed: str = "1") -> list[bytes]:
    exports = coding_exports(TIMELINE, 0.5, Random(seed))
    return [export.request.SerializeToString() for export in exports]


def test_the_same_seed_generates_the_same_exports() -> None:
    assert generate() == generate()
    assert generate() != generate("2")


def test_every_measure_of_the_report_is_sent() -> None:
    names = {
        metric.name
        for export in coding_exports(TIMELINE, 0.5, Random(1))
        if isinstance(export.request, ExportMetricsServiceRequest)
        for metric in export.request.resource_metrics[0].scope_metrics[0].metrics
    }
    assert {METRICS[name] for name in names & METRICS.keys()} == set(Measure)


def test_who_sends_metrics_only_sends_no_logs() -> None:
    quiet = {developer.email for developer in DEVELOPERS if not developer.sends_logs}
    assert quiet
    logs = b"".join(
        export.request.SerializeToString()
        for export in coding_exports(TIMELINE, 0.5, Random(1))
        if export.kind is Kind.LOGS
    )
    assert not any(email.encode() in logs for email in quiet)
