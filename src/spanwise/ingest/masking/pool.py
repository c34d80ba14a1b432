"""Threads in which bodies are masked, apart from those that everything else uses."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar
from weakref import WeakValueDictionary

from spanwise.ingest.masking.patterns import limit_time

T = TypeVar("T")

_THREADS = 4
# One workspace uses at most half of them, so that its patterns do not make others wait.
_SHARE = _THREADS // 2


class MaskingPool:
    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(_THREADS, "masking")
        self._shares = WeakValueDictionary[str, asyncio.Semaphore]()

    async def run(self, workspace: str, work: Callable[[], T]) -> T:
        """Run work of a workspace in a thread, with a limit on the time of its patterns."""
        share = self._shares.get(workspace)
        if share is None:
            share = self._shares[workspace] = asyncio.Semaphore(_SHARE)
        async with share:
            return await asyncio.get_running_loop().run_in_executor(self._executor, _limited, work)

    def close(self) -> None:
        """Drop what waits. Work that has begun is not waited for; its time is limited."""
        self._executor.shutdown(wait=False, cancel_futures=True)


def _limited(work: Callable[[], T]) -> T:
    with limit_time():
        return work()
