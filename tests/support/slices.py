"""Rollups for tests: one that keeps slices of everything, and one that only reads traces."""

from datetime import timedelta

from spanwise.model.analytics import Question
from spanwise.storage.telemetry.rollup.rollup import Rollup
from spanwise.storage.telemetry.rollup.source import Source, traces_source
from spanwise.storage.telemetry.write.writer import TelemetryWriter
from support.service import Service


async def slice_everything(service: Service, writer: TelemetryWriter | None = None) -> Rollup:
    """Return a rollup that keeps slices of any number of traces, of any time."""
    rollup = Rollup(
        service.services.engine,
        quiet_seconds=0,
        visible_until=writer.visible_until if writer else lambda: None,
        changes=writer.changes if writer else None,
        min_slice_traces=1,
        slice_lookback=timedelta(days=9000),
    )
    # An earlier test may have left slices of the latest hours only.
    await rollup.maintenance.rebuild()
    return rollup


class TracesOnly(Rollup):
    """Answers every question from raw traces."""

    async def choose_source(self, workspace: str, question: Question) -> Source:
        return traces_source(workspace, question)
