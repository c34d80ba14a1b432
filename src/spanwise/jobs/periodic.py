"""Runs a function at an interval until stopped; failures are logged, not raised."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import structlog

log = structlog.get_logger()


class Periodic:
    """Runs `work` every `seconds`, and soon after `wake`.

    A stop cancels the run in progress, or lets it finish if `finishes`. With `runs_on_stop`, the
    work runs once more then, so that buffered data is written.
    """

    def __init__(
        self,
        name: str,
        seconds: float,
        work: Callable[[], Awaitable[object]],
        *,
        runs_on_start: bool = False,
        runs_on_stop: bool = False,
        finishes: bool = False,
    ) -> None:
        self._name = name
        self._seconds = seconds
        self._work = work
        self._runs_on_start = runs_on_start
        self._runs_on_stop = runs_on_stop
        self._finishes = finishes
        self._is_stopping = False
        self._woken = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._loop(), name=self._name)

    def wake(self) -> None:
        """Run soon instead of at the end of the interval."""
        self._woken.set()

    async def stop(self) -> None:
        self._is_stopping = True
        self._woken.set()
        if self._task is not None:
            if not self._finishes:
                self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        if self._runs_on_stop:
            await self._run()

    async def _loop(self) -> None:
        if not self._runs_on_start:
            await self._wait()
        while not self._is_stopping:
            self._woken.clear()
            await self._run()
            await self._wait()

    async def _wait(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._woken.wait(), self._seconds)

    async def _run(self) -> None:
        try:
            await self._work()
        except Exception:
            log.exception("job_failed", job=self._name)
