"""A rollup whose slices can be told apart in a test."""

from datetime import timedelta

from spanwise.storage.telemetry.rollup.rollup import Rollup
from spanwise.storage.telemetry.writer import TelemetryWriter
from support.service import Service


async def slice_everything(service: Service, writer: TelemetryWriter | None = None) -> Rollup:
    """Make a rollup that slices even few traces, of any time, when it is told to."""
    rollup = Rollup(
        service.services.engine,
        quiet_seconds=0,
        visible_until=writer.visible_until if writer else lambda: None,
        changes=writer.changes if writer else None,
        visible_as_of=service.services.pipeline.visible_as_of,
        min_slice_traces=1,
        slices_back=timedelta(days=9000),
    )
    # Slices of the latest hours only, of another test, would be taken for slices of all.
    await rollup.rebuild()
    return rollup
