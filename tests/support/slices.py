"""A rollup whose slices can be told apart in a test."""

from collections.abc import Callable
from datetime import datetime, timedelta

from spanwise.storage.telemetry.rollup import Rollup
from support.service import Service


async def slice_everything(
    service: Service, visible_until: Callable[[], datetime | None] = lambda: None
) -> Rollup:
    """Make a rollup that slices even few traces, of any time, when it is told to."""
    rollup = Rollup(
        service.services.engine,
        quiet_seconds=0,
        visible_until=visible_until,
        min_slice_traces=1,
        slices_back=timedelta(days=9000),
    )
    # Slices of the latest hours only, of another test, would be taken for slices of all.
    await rollup.rebuild()
    return rollup
