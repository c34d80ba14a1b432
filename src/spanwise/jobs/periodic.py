"""Runs a function at an interval until stopped; failures are logged, not raised."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import structlog

log = structlog.get_logger()


class Periodic:
    def __init__(
        self,
        name: str,
        seconds: float,
        work: Callable[[], Awaitable[None]],
        *,
        run_on_stop: bool = True,
    ) -> None:
        self._name = name
        self._seconds = seconds
        self._work = work
        self._run_on_stop = run_on_stop
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._loop(), name=self._name)

    async def stop(self) -> None:
        """Stop; with `run_on_stop`, run once more so that buffered data is written."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        if self._run_on_stop:
            await self._run()

    async def _loop(self) -> None:
        while True:
            await asyncio.sleep(self._seconds)
            await self._run()

    async def _run(self) -> None:
        try:
            await self._work()
        except Exception:
            log.exception("job_failed", job=self._name)
