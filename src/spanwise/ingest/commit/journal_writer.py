"""The journal thread: assigns versions, writes groups of requests to disk, acknowledges them."""

import asyncio
import threading
from collections.abc import Sequence

import structlog

from spanwise.ingest.commit.backlog import Backlog
from spanwise.ingest.commit.free_space import FreeSpace
from spanwise.ingest.commit.journal import Journal
from spanwise.ingest.commit.queue import CommitQueue, QueuedRequest
from spanwise.ingest.commit.visibility import Visibility
from spanwise.ingest.records.versions import next_version, with_version
from spanwise.model.errors import Unavailable

log = structlog.get_logger()


class JournalWriter:
    """Group commit: one write to disk covers all requests of a group."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        lock: threading.Lock,
        journal: Journal,
        free_space: FreeSpace,
        queue: CommitQueue,
        backlog: Backlog,
        visibility: Visibility,
    ) -> None:
        self._loop = loop
        self._lock = lock
        self._journal = journal
        self._free_space = free_space
        self._queue = queue
        self._backlog = backlog
        self._visibility = visibility

    def write_groups(self) -> None:
        """Run until the queue is closed and drained."""
        while group := self._queue.take_group():
            failure = self._commit(group)
            size = sum(request.size_bytes for request in group)
            with self._lock:
                self._queue.finish_group(size)
                self._backlog.notify_inserter()
            self._loop.call_soon_threadsafe(_acknowledge, group, failure)

    def _commit(self, group: Sequence[QueuedRequest]) -> Unavailable | None:
        """Return None when the records are on disk, or why none of them are."""
        try:
            self._write(group)
        except Unavailable as error:
            return error
        except OSError as error:
            log.error("journal_failed", error=str(error))
            return Unavailable(f"the journal cannot be written: {error.strerror}", 5)
        except Exception:
            log.exception("journal_crashed")
            return Unavailable("the journal cannot be written", 5)
        return None

    def _write(self, group: Sequence[QueuedRequest]) -> None:
        with self._lock:
            # A failing store could not make the records visible after the acknowledgement.
            self._backlog.check_not_stalled()
        self._free_space.check()
        # Versions follow the journal's order, which differs from the order of arrival: small
        # requests overtake large ones in the queue.
        records = [
            with_version(record, next_version()) for request in group for record in request.records
        ]
        sequence = self._visibility.journaled + 1
        self._journal.append(records, sequence)
        with self._lock:
            self._visibility.mark_journaled(sequence, {request.sender for request in group})
            self._backlog.add(records, sequence)


def _acknowledge(group: Sequence[QueuedRequest], failure: Unavailable | None) -> None:
    for request in group:
        try:
            request.on_commit(failure)
        except Exception:
            # A defect in one callback must not keep the other requests waiting.
            log.exception("commit_callback_failed")
