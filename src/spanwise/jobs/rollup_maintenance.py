"""Brings the rollup up to date by the clock, and merges months that have gone quiet."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import structlog

from spanwise.storage.telemetry.rollup.rollup import Rollup

log = structlog.get_logger()

SWEEP_SECONDS = 60.0
# Often enough for a dashboard, which accepts what is five seconds old.
SLICE_SECONDS = 2.0


class Sweeper:
    def __init__(
        self,
        rollup: Rollup,
        seconds: float = SWEEP_SECONDS,
        slice_seconds: float = SLICE_SECONDS,
    ) -> None:
        self._rollup = rollup
        self._work: list[tuple[Callable[[], Awaitable[object]], float]] = [
            (rollup.keep_up, seconds),
            (rollup.sweep_slices, slice_seconds),
        ]
        self._stopping = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        self._tasks = [
            asyncio.create_task(self._loop(work, seconds), name="sweep_rollup")
            for work, seconds in self._work
        ]

    async def stop(self) -> None:
        """Finish the day under way; the next sweep begins where the last whole one ended."""
        self._stopping.set()
        self._rollup.interrupt()
        await asyncio.gather(*self._tasks)

    async def _loop(self, work: Callable[[], Awaitable[object]], seconds: float) -> None:
        while not self._stopping.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), seconds)
                return
            try:
                await work()
            except Exception:
                log.exception("job_failed", job="sweep_rollup")
