"""A pool of threads for work on bodies, of which no workspace can take all."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar
from weakref import WeakValueDictionary

T = TypeVar("T")


class WorkspacePool:
    def __init__(self, name: str, threads: int) -> None:
        self._executor = ThreadPoolExecutor(threads, name)
        self._share = threads // 2
        self._shares = WeakValueDictionary[str, asyncio.Semaphore]()

    async def run(self, workspace: str, work: Callable[[], T]) -> T:
        """Run work in a thread. A workspace uses at most half of them, others wait for the rest."""
        share = self._shares.get(workspace)
        if share is None:
            share = self._shares[workspace] = asyncio.Semaphore(self._share)
        async with share:
            return await asyncio.get_running_loop().run_in_executor(self._executor, work)

    def close(self) -> None:
        """Drop what waits, and do not wait for work that has begun."""
        self._executor.shutdown(wait=False, cancel_futures=True)
