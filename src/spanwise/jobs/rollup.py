"""Brings the rollup up to date every minute, and merges months that have gone quiet."""

import asyncio
from contextlib import suppress

import structlog

from spanwise.storage.telemetry.rollup import Rollup

log = structlog.get_logger()

SWEEP_SECONDS = 60.0


class Sweeper:
    def __init__(self, rollup: Rollup, seconds: float = SWEEP_SECONDS) -> None:
        self._rollup = rollup
        self._seconds = seconds
        self._stopping = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._loop(), name="sweep_rollup")

    async def stop(self) -> None:
        """Finish the day under way; the next sweep begins where the last whole one ended."""
        self._stopping.set()
        self._rollup.interrupt()
        if self._task is not None:
            await self._task

    async def _loop(self) -> None:
        while not self._stopping.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), self._seconds)
                return
            try:
                await self._rollup.keep_up()
            except Exception:
                log.exception("job_failed", job="sweep_rollup")
