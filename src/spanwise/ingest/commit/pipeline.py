"""The entry point of the package: submits records and waits until they are visible.

The event loop puts requests into the queue; the journal writer's thread writes them to disk and
acknowledges them; the applier's two threads move them from the backlog into the store. All parts
share one lock, so a request acquires it once, and no thread sees an inconsistent state.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import structlog

from spanwise.ingest.commit.applier import Applier
from spanwise.ingest.commit.backlog import Backlog
from spanwise.ingest.commit.free_space import FreeSpace
from spanwise.ingest.commit.journal import Journal
from spanwise.ingest.commit.journal_writer import JournalWriter
from spanwise.ingest.commit.queue import CommitCallback, CommitQueue
from spanwise.ingest.commit.store import Store
from spanwise.ingest.commit.visibility import WAIT_SECONDS, Visibility
from spanwise.ingest.records.record import Record
from spanwise.ingest.records.versions import start_after
from spanwise.model.accounts import Sender
from spanwise.model.errors import Unavailable
from spanwise.model.freshness import LATEST, Freshness
from spanwise.storage.disk import check_folder

log = structlog.get_logger()


@dataclass(frozen=True)
class PipelineLoad:
    waiting_bytes: int
    backlog_bytes: int
    is_stalled: bool


class Pipeline:
    """Commits records; create it on the event loop that submits them."""

    def __init__(
        self,
        journal: Journal,
        store: Store,
        max_waiting_bytes: int,
        min_free_bytes: int = 0,
        has_pending: Callable[[], bool] = lambda: False,
        on_store_thread: Callable[[], None] = lambda: None,
    ) -> None:
        """See `Applier` for `has_pending` and `on_store_thread`."""
        self._loop = loop = asyncio.get_running_loop()
        self._lock = lock = threading.Lock()
        self._journal = journal
        self._free_space = FreeSpace(journal.folder, min_free_bytes)
        self._backlog = Backlog(lock)
        self._visibility = Visibility(loop, lock, self._backlog)
        self._queue = CommitQueue(loop, lock, self._backlog, max_waiting_bytes)
        self._writer = JournalWriter(
            loop, lock, journal, self._free_space, self._queue, self._backlog, self._visibility
        )
        self._applier = Applier(
            lock,
            journal,
            store,
            self._queue,
            self._backlog,
            self._visibility,
            has_pending,
            on_store_thread,
        )
        self._threads: list[threading.Thread] = []

    async def start(self) -> None:
        """Apply what an earlier process left in the journal, then accept requests.

        A failing store does not prevent the start: stored data can still be read.
        """
        await asyncio.to_thread(self._replay)
        for run in (
            self._writer.write_groups,
            self._applier.insert_batches,
            self._applier.finish_batches,
        ):
            thread = threading.Thread(target=run, name=run.__name__, daemon=True)
            thread.start()
            self._threads.append(thread)
        await self.wait_until_visible(timeout_seconds=None)

    def _replay(self) -> None:
        """Load the records of an earlier process. No other thread runs yet."""
        records = list(self._journal.replay())
        if not records:
            self._journal.release(0)
            return
        # New records come after these, even if the system clock was set back.
        versions = [record.version for record in records]
        start_after(max(versions))
        self._backlog.add(records, 0)
        # A version is the time of its assignment.
        self._visibility.start_with_replay(time.time() - min(versions) / 1e9)
        log.info("journal_replayed", records=len(records), bytes=self._backlog.size_bytes)

    async def stop(self) -> None:
        """Refuse new requests, finish those that were submitted, then end the threads."""
        with self._lock:
            self._queue.close()
            self._backlog.wake_all()
            self._applier.stop()
        for thread in self._threads:
            await asyncio.to_thread(thread.join)

    async def submit(self, sender: Sender, records: Sequence[Record]) -> None:
        """Return when the records are on disk. Raises Unavailable when none of them were kept."""
        future: asyncio.Future[None] = self._loop.create_future()
        self._queue.put(sender, records, partial(_resolve, future))
        await future

    def enqueue(self, sender: Sender, records: Sequence[Record], on_commit: CommitCallback) -> None:
        """Like `submit`, with a callback: cheaper than a future when requests are small."""
        self._queue.put(sender, records, on_commit)

    async def wait_until_visible(
        self, freshness: Freshness = LATEST, timeout_seconds: float | None = WAIT_SECONDS
    ) -> None:
        """Wait until reads see what has been acknowledged, as far as `freshness` requires it.

        Returns early when the store fails.
        """
        await self._visibility.wait(freshness, timeout_seconds)

    def pending_since(self, workspace: str) -> float | None:
        """Return the monotonic time of the oldest record that cannot be read; None if all can."""
        return self._visibility.pending_since(workspace)

    def load(self) -> PipelineLoad:
        with self._lock:
            return PipelineLoad(
                self._queue.size_bytes, self._backlog.size_bytes, self._backlog.is_stalled
            )

    async def check(self) -> None:
        """Raise Unavailable when a request submitted now would be refused."""
        with self._lock:
            self._backlog.check_not_stalled()
        self._free_space.check()
        try:
            await asyncio.to_thread(check_folder, self._journal.folder)
        except OSError as error:
            raise Unavailable(f"the journal cannot be written: {error.strerror}", 5) from error


def _resolve(future: asyncio.Future[None], failure: Unavailable | None) -> None:
    if future.done():
        return
    if failure is None:
        future.set_result(None)
    else:
        future.set_exception(failure)
