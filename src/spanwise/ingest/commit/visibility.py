"""Tracks which acknowledged records can be read, and wakes readers that wait for others.

Every group in the journal has a sequence number. All groups up to `_applied` can be read.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Collection, Sequence
from typing import NamedTuple

from spanwise.ingest.commit.backlog import Backlog
from spanwise.model.accounts import Sender
from spanwise.model.freshness import Freshness

WAIT_SECONDS = 30.0


class _Group(NamedTuple):
    """A group in the journal that cannot be read yet."""

    journaled_at: float
    sequence: int
    # None for records of an earlier process, whose senders are not known.
    senders: Collection[Sender] | None

    def has_records_of(self, workspace: str | None, caller: str | None) -> bool:
        if self.senders is None or workspace is None:
            return True
        if caller is None:
            return any(sender.workspace == workspace for sender in self.senders)
        return Sender(workspace, caller) in self.senders


class Visibility:
    def __init__(
        self, loop: asyncio.AbstractEventLoop, lock: threading.Lock, backlog: Backlog
    ) -> None:
        self._loop = loop
        self._lock = lock
        self._backlog = backlog
        self.journaled = 0
        self._applied = 0
        # Oldest first.
        self._pending: deque[_Group] = deque()
        self._waiters: list[tuple[int, asyncio.Future[None]]] = []

    async def wait(self, freshness: Freshness, timeout_seconds: float | None) -> None:
        """Wait until everything that `freshness` requires can be read.

        Returns early on a timeout, or when the store fails: reads then return what is stored.
        """
        with self._lock:
            required = self._last_required(freshness)
            if self._applied >= required or self._backlog.is_stalled:
                return
            future: asyncio.Future[None] = self._loop.create_future()
            self._waiters.append((required, future))
            self._backlog.flush()
        await asyncio.wait([future], timeout=timeout_seconds)

    def pending_since(self, workspace: str | None = None) -> float | None:
        """Return the monotonic time of the oldest record that cannot be read; None if all can."""
        with self._lock:
            return next(
                (
                    group.journaled_at
                    for group in self._pending
                    if group.has_records_of(workspace, None)
                ),
                None,
            )

    def _last_required(self, freshness: Freshness) -> int:
        """Return the last sequence that a reader must see."""
        latest = time.monotonic() - freshness.max_age_seconds
        return next(
            (
                group.sequence
                for group in reversed(self._pending)
                if group.journaled_at <= latest
                and group.has_records_of(freshness.workspace, freshness.caller)
            ),
            self._applied,
        )

    # --- call these with the lock held ----------------------------------------------------------

    def has_waiters(self) -> bool:
        return bool(self._waiters)

    def start_with_replay(self, age_seconds: float) -> None:
        """Record that records of an earlier process (sequence 0) are not applied yet."""
        self._applied = -1
        self._pending.append(_Group(time.monotonic() - age_seconds, 0, None))

    def mark_journaled(self, sequence: int, senders: Collection[Sender]) -> None:
        self.journaled = sequence
        self._pending.append(_Group(time.monotonic(), sequence, senders))

    def mark_applied(self, sequence: int) -> list[asyncio.Future[None]]:
        """Return the waiters for `wake`: they must be woken without the lock."""
        self._applied = sequence
        while self._pending and self._pending[0].sequence <= sequence:
            self._pending.popleft()
        done = [future for required, future in self._waiters if required <= sequence]
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
