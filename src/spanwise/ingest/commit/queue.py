"""The bounded queue of requests that wait to be written to the journal.

A request is refused (HTTP 503) when the service is stopping, when the store fails, or when too many
bytes are queued already. While the store is behind, large requests leave the queue at its pace.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from spanwise.ingest.commit.backlog import Backlog
from spanwise.ingest.records.record import Record
from spanwise.model.accounts import Sender
from spanwise.model.errors import Unavailable

GROUP_BYTES = 16 * 2**20
# An exposure, a signal or a log line: never paced.
SMALL_BYTES = 4096

# Called on the event loop with None once the records are on disk, or with the reason for a refusal.
CommitCallback = Callable[[Unavailable | None], None]


class QueuedRequest(NamedTuple):
    sender: Sender
    records: Sequence[Record]
    size_bytes: int
    on_commit: CommitCallback


class CommitQueue:
    """Filled by the event loop, emptied in groups by the journal writer's thread."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        lock: threading.Lock,
        backlog: Backlog,
        max_bytes: int,
    ) -> None:
        self._loop = loop
        self._lock = lock
        self._backlog = backlog
        self._max_bytes = max_bytes
        self._requests: deque[QueuedRequest] = deque()
        self._may_take = threading.Condition(lock)
        self._is_wake_scheduled = False
        self._is_group_open = False
        self._paced_until = 0.0
        self.size_bytes = 0
        self.is_closed = False

    def put(self, sender: Sender, records: Sequence[Record], on_commit: CommitCallback) -> None:
        """Queue a request, or raise Unavailable. Call on the event loop, without the lock."""
        size = sum(len(record.payload) for record in records)
        with self._lock:
            if self.is_closed:
                raise Unavailable("the service is stopping")
            self._backlog.check_not_stalled()
            # An empty queue accepts even a request that is larger than its limit.
            if self._requests and self.size_bytes + size > self._max_bytes:
                raise Unavailable("too many bytes are waiting to be stored")
            self._requests.append(QueuedRequest(sender, records, size, on_commit))
            self.size_bytes += size
        if not self._is_wake_scheduled:
            self._is_wake_scheduled = True
            self._loop.call_soon(self._wake_writer)

    def _wake_writer(self) -> None:
        """Wake the journal writer once the event loop has handled all pending requests.

        Earlier, the thread would only compete with the event loop for the GIL.
        """
        self._is_wake_scheduled = False
        with self._lock:
            self._may_take.notify()

    def take_group(self) -> list[QueuedRequest]:
        """Wait for requests and take the oldest; empty when the queue is closed and drained."""
        with self._lock:
            while True:
                pause_seconds = self._pause_seconds()
                group = self._pop_group(is_paced=pause_seconds is not None)
                if group or (self.is_closed and not self._requests):
                    break
                self._may_take.wait(pause_seconds)
            self._is_group_open = bool(group)
            return group

    def _pop_group(self, *, is_paced: bool) -> list[QueuedRequest]:
        """Take what may be journaled now. Small requests overtake large ones that are paced."""
        # While the store fails, requests are taken too: the journal writer refuses them.
        if self._backlog.is_full and not self._backlog.is_stalled:
            return []
        group: list[QueuedRequest] = []
        paced: list[QueuedRequest] = []
        size = 0
        while self._requests and (not group or size < GROUP_BYTES):
            request = self._requests.popleft()
            if is_paced and request.size_bytes > SMALL_BYTES:
                paced.append(request)
            else:
                group.append(request)
                size += request.size_bytes
        self._requests.extendleft(reversed(paced))
        self.size_bytes -= size
        return group

    def _pause_seconds(self) -> float | None:
        """Return how long the store needs for the last group, when it is behind.

        Pacing spreads the waiting evenly; otherwise requests would wait in bursts of one batch.
        """
        if self._backlog.is_stalled or self.is_closed or not self._backlog.is_behind:
            return None
        seconds = self._paced_until - time.monotonic()
        return seconds if seconds > 0 else None

    # --- call these with the lock held ----------------------------------------------------------

    def finish_group(self, size_bytes: int) -> None:
        """Record that the last group was journaled or refused."""
        self._is_group_open = False
        pace = time.monotonic() + size_bytes / self._backlog.apply_bytes_per_second
        self._paced_until = max(self._paced_until, pace)

    def is_drained(self) -> bool:
        """Return whether nothing more can reach the journal."""
        return self.is_closed and not self._requests and not self._is_group_open

    def recheck(self) -> None:
        """Make the journal writer check again whether it may take a group."""
        self._may_take.notify()

    def close(self) -> None:
        """Refuse new requests; those that are queued are still written."""
        self.is_closed = True
        self._may_take.notify_all()
