"""Maintenance of the rollup while nothing is written."""

from spanwise.storage.telemetry.rollup.rollup import Rollup
from support.spans import span
from support.store import WorkspaceStore


async def test_slices_of_a_first_load_are_built_without_further_writes(
    store: WorkspaceStore,
) -> None:
    """Slices need the watermark of the hours, which a new store gets after a minute."""
    writer = store.writer
    rollup = Rollup(
        store.engine,
        visible_until=writer.visible_until,
        changes=writer.changes,
        min_slice_traces=1,
    )
    with store.engine.client() as client:
        for table in ("rollup_sweeps", "slice_sweeps", "trace_rollup", "trace_slices"):
            client.command(f"TRUNCATE TABLE {table}")
    store.send(span())
    assert await rollup.maintenance.update_slices() == 0
    await rollup.maintenance.update()
    assert await rollup.maintenance.update_slices() >= 1
    # Nothing is left to do.
    assert await rollup.maintenance.update_slices() == 0
