"""Applies journaled records to the store: one thread inserts batches, another finishes them.

A batch costs about 200 ms of processor time, nearly all of it planning, so batches grow with the
load. While one batch is finished (aggregates, prices, deletions), the next is inserted.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import structlog

from spanwise.ingest.commit.backlog import Backlog
from spanwise.ingest.commit.journal import Journal
from spanwise.ingest.commit.queue import CommitQueue
from spanwise.ingest.commit.store import PermanentError, Step, Store, UnclassifiedError
from spanwise.ingest.commit.visibility import Visibility
from spanwise.ingest.records.record import Record

log = structlog.get_logger()

RETRY_SECONDS = 1.0
SPLIT_AFTER_TRIES = 3
# A single record that fails this often for an unknown reason is quarantined.
UNCLASSIFIED_TRIES = 10


@dataclass(frozen=True)
class _Batch:
    """Records to apply, and the journal sequence that is complete after them."""

    records: Sequence[Record]
    sequence: int
    started: float

    @property
    def size_bytes(self) -> int:
        return sum(len(record.payload) for record in self.records)


class Applier:
    """Applies records in journal order and retries until the store has taken them.

    `has_pending` returns whether something derived from finished batches is not durable yet. Both
    threads call `on_store_thread` when they start.
    """

    def __init__(
        self,
        lock: threading.Lock,
        journal: Journal,
        store: Store,
        queue: CommitQueue,
        backlog: Backlog,
        visibility: Visibility,
        has_pending: Callable[[], bool],
        on_store_thread: Callable[[], None],
    ) -> None:
        self._lock = lock
        self._journal = journal
        self._store = store
        self._queue = queue
        self._backlog = backlog
        self._visibility = visibility
        self._has_pending = has_pending
        self._on_store_thread = on_store_thread
        self._inserted: deque[_Batch] = deque()
        self._may_finish = threading.Condition(lock)
        self._may_hand_over = threading.Condition(lock)
        self._may_retry = threading.Condition(lock)
        self._is_inserting = True
        self._applied_at = 0.0

    def stop(self) -> None:
        """Wake both threads after the queue was closed. The caller holds the lock."""
        for condition in (self._may_finish, self._may_hand_over, self._may_retry):
            condition.notify_all()

    # --- the inserting thread -------------------------------------------------------------------

    def insert_batches(self) -> None:
        """Run until everything is inserted, or the service stops while the store fails."""
        self._on_store_thread()
        while batch := self._take_batch():
            if not self._run_step(self._store.insert, batch.records):
                break
            with self._lock:
                # At most one batch waits to be finished.
                self._may_hand_over.wait_for(lambda: not self._inserted or self._queue.is_closed)
                self._inserted.append(batch)
                self._may_finish.notify()
        with self._lock:
            self._is_inserting = False
            self._may_finish.notify()

    def _take_batch(self) -> _Batch | None:
        with self._lock:
            taken = self._backlog.take_batch(
                has_ended=self._queue.is_drained,
                # A reader waits for the records, or the service stops.
                is_urgent=lambda: self._visibility.has_waiters() or self._queue.is_closed,
            )
            return _Batch(*taken, time.perf_counter()) if taken else None

    # --- the finishing thread -------------------------------------------------------------------

    def finish_batches(self) -> None:
        """Run until all batches are finished, or the service stops while the store fails."""
        self._on_store_thread()
        while batch := self._take_inserted():
            if not self._run_step(self._store.finish, batch.records):
                return
            self._release(batch)

    def _take_inserted(self) -> _Batch | None:
        with self._lock:
            self._may_finish.wait_for(lambda: self._inserted or not self._is_inserting)
            batch = self._inserted.popleft() if self._inserted else None
            self._may_hand_over.notify()
            return batch

    def _release(self, batch: _Batch) -> None:
        """Drop an applied batch from the journal and the backlog, and wake readers."""
        try:
            # While something is pending, the records stay in the journal, so that a restart does
            # the pending work. The release of a later batch covers this one.
            if not self._has_pending():
                self._journal.release(batch.sequence)
        except OSError as error:
            # Records that are replayed after a restart change nothing.
            log.error("journal_release_failed", error=str(error))
        with self._lock:
            now = time.perf_counter()
            # Batches overlap: count the time since this one started or the last one ended.
            seconds = now - max(batch.started, self._applied_at)
            self._applied_at = now
            self._backlog.remove_applied(batch.size_bytes, seconds)
            done = self._visibility.mark_applied(batch.sequence)
            self._queue.recheck()
        self._visibility.wake(done)

    # --- both threads ---------------------------------------------------------------------------

    def _run_step(self, step: Step, records: Sequence[Record]) -> bool:
        """Retry a step until it works; False when the service stops before it does.

        A refused batch is halved until the bad record is isolated. A batch that keeps failing
        otherwise is halved too: it may be too large for the available memory.
        """
        tries = 0
        while True:
            tries += 1
            try:
                self._try(step, records, tries)
            except PermanentError:
                return self._run_halves(step, records)
            except Exception as error:
                # No traceback: it could contain a user's data.
                log.error("apply_failed", error=repr(error)[:500], records=len(records))
                if not self._wait_to_retry():
                    return False
                if len(records) > 1 and tries >= SPLIT_AFTER_TRIES:
                    return self._run_halves(step, records)
            else:
                with self._lock:
                    self._backlog.is_stalled = False
                return True

    def _try(self, step: Step, records: Sequence[Record], tries: int) -> None:
        """Try once. Quarantining a single record that cannot be stored counts as success."""
        try:
            step(records)
        except PermanentError as error:
            if len(records) > 1:
                raise
            self._store.quarantine(records[0], str(error))
        except UnclassifiedError as error:
            if len(records) > 1 or tries < UNCLASSIFIED_TRIES:
                raise
            self._store.quarantine(records[0], str(error))

    def _run_halves(self, step: Step, records: Sequence[Record]) -> bool:
        middle = len(records) // 2
        return self._run_step(step, records[:middle]) and self._run_step(step, records[middle:])

    def _wait_to_retry(self) -> bool:
        """Mark the store as stalled and wait; False when the service is stopping."""
        with self._lock:
            self._backlog.is_stalled = True
            released = self._visibility.release_waiters()
            # Queued requests are refused now instead of waiting for the store.
            self._queue.recheck()
        self._visibility.wake(released)
        with self._lock:
            return not self._may_retry.wait_for(
                lambda: self._queue.is_closed, timeout=RETRY_SECONDS
            )
