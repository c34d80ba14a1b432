"""Runs rollup maintenance at fixed intervals."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import structlog

from spanwise.storage.telemetry.rollup.maintenance.runs import Maintenance

log = structlog.get_logger()

UPDATE_SECONDS = 60.0
# Short, because a query reads the traces that are not in slices yet.
SLICE_SECONDS = 2.0


class RollupMaintenance:
    def __init__(
        self,
        maintenance: Maintenance,
        seconds: float = UPDATE_SECONDS,
        slice_seconds: float = SLICE_SECONDS,
    ) -> None:
        self._maintenance = maintenance
        self._runs: list[tuple[Callable[[], Awaitable[object]], float]] = [
            (maintenance.update_and_merge, seconds),
            (maintenance.update_slices, slice_seconds),
        ]
        self._stopping = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        self._tasks = [
            asyncio.create_task(self._loop(run, seconds), name="rollup_maintenance")
            for run, seconds in self._runs
        ]

    async def stop(self) -> None:
        """Finish the current statement; the next run starts at the last watermark."""
        self._stopping.set()
        self._maintenance.interrupt()
        await asyncio.gather(*self._tasks)

    async def _loop(self, run: Callable[[], Awaitable[object]], seconds: float) -> None:
        while not self._stopping.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), seconds)
                return
            try:
                await run()
            except Exception:
                log.exception("job_failed", job="rollup_maintenance")
