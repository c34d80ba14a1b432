"""Tracks which acknowledged records can be read, and wakes readers that wait for others.

Every group in the journal has a sequence number. All groups up to `_applied` can be read.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Sequence

from spanwise.ingest.commit.backlog import Backlog
from spanwise.model.freshness import Freshness

WAIT_SECONDS = 30.0


class Visibility:
    def __init__(
        self, loop: asyncio.AbstractEventLoop, lock: threading.Lock, backlog: Backlog
    ) -> None:
        self._loop = loop
        self._lock = lock
        self._backlog = backlog
        self.journaled = 0
        self._applied = 0
        # When each group that is not applied yet was journaled, oldest first.
        self._journaled_at: deque[tuple[float, int]] = deque()
        self._waiters: list[tuple[int, asyncio.Future[None]]] = []

    async def wait(self, freshness: Freshness, timeout_seconds: float | None) -> None:
        """Wait until everything that `freshness` requires can be read.

        Returns early on a timeout, or when the store fails: reads then return what is stored.
        """
        with self._lock:
            wanted = self._last_acknowledged(freshness.max_age_seconds)
            if self._applied >= wanted or self._backlog.is_stalled:
                return
            future: asyncio.Future[None] = self._loop.create_future()
            self._waiters.append((wanted, future))
            self._backlog.flush()
        await asyncio.wait([future], timeout=timeout_seconds)

    def as_of(self) -> float:
        """Return a monotonic time: everything acknowledged before it can be read."""
        with self._lock:
            return self._journaled_at[0][0] if self._journaled_at else time.monotonic()

    def _last_acknowledged(self, seconds_ago: float) -> int:
        """Return the last sequence that had been acknowledged at that time."""
        latest = time.monotonic() - seconds_ago
        younger = next((sequence for at, sequence in self._journaled_at if at > latest), None)
        return self.journaled if younger is None else younger - 1

    # --- call these with the lock held ----------------------------------------------------------

    def has_waiters(self) -> bool:
        return bool(self._waiters)

    def start_with_replay(self) -> None:
        """Record that records of an earlier process (sequence 0) are not applied yet."""
        self._applied = -1

    def mark_journaled(self, sequence: int) -> None:
        self.journaled = sequence
        self._journaled_at.append((time.monotonic(), sequence))

    def mark_applied(self, sequence: int) -> list[asyncio.Future[None]]:
        """Return the waiters for `wake`: they must be woken without the lock."""
        self._applied = sequence
        while self._journaled_at and self._journaled_at[0][1] <= sequence:
            self._journaled_at.popleft()
        done = [future for wanted, future in self._waiters if wanted <= sequence]
        self._waiters = [waiter for waiter in self._waiters if waiter[0] > sequence]
        return done

    def release_waiters(self) -> list[asyncio.Future[None]]:
        """Return all waiters for `wake`, because the store fails."""
        released = [future for _, future in self._waiters]
        self._waiters = []
        return released

    # --- call this without the lock -------------------------------------------------------------

    def wake(self, waiters: Sequence[asyncio.Future[None]]) -> None:
        if waiters:
            self._loop.call_soon_threadsafe(_finish, waiters)


def _finish(futures: Sequence[asyncio.Future[None]]) -> None:
    for future in futures:
        if not future.done():
            future.set_result(None)
