"""Group commit: many requests share one fsync, then one insert into the engine.

A request is acknowledged when the journal has it on disk. A second thread moves journalled records
into the engine in batches that grow with the load, because an insert costs the engine some 30 ms
before its first row. Readers wait for what was acknowledged before them (`settle`), so an
acknowledged row is visible to the next read.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import structlog

from spanwise.ingest.journal import Journal, Record
from spanwise.model.errors import Unavailable

log = structlog.get_logger()

APPLY_BYTES = 8 * 2**20
BACKLOG_BYTES = 24 * 2**20
RETRY_SECONDS = 1.0
SETTLE_SECONDS = 5.0


class Refused(Exception):  # noqa: N818 -- an outcome, not a defect
    """The store cannot ever take this record; trying again would not help."""


class Store(Protocol):
    def apply(self, records: Sequence[Record]) -> None:
        """Make the records durable and visible. Applying a record twice changes nothing."""

    def quarantine(self, record: Record, reason: str) -> None:
        """Keep a record that the engine refuses, for a person to look at."""


@dataclass(frozen=True)
class Load:
    """How busy ingest is."""

    waiting_bytes: int
    backlog_bytes: int
    is_stalled: bool


class Pipeline:
    def __init__(self, journal: Journal, store: Store, max_waiting_bytes: int) -> None:
        self._journal = journal
        self._store = store
        self._max_waiting_bytes = max_waiting_bytes
        self._state = threading.Condition()
        self._waiting: deque[tuple[Sequence[Record], asyncio.Future[None]]] = deque()
        self._waiting_bytes = 0
        self._backlog: deque[tuple[int, Record]] = deque()
        self._backlog_bytes = 0
        self._journaled = 0
        self._applied = 0
        self._settling: list[tuple[int, asyncio.Future[None]]] = []
        self._stalled = False
        self._stopping = False
        self._threads: list[threading.Thread] = []

    async def start(self) -> None:
        """Apply what an earlier process left in the journal, then take requests."""
        self._loop = asyncio.get_running_loop()
        await asyncio.to_thread(self._replay)
        for work in (self._journal_waiting, self._apply_backlog):
            thread = threading.Thread(target=work, name=work.__name__.strip("_"), daemon=True)
            thread.start()
            self._threads.append(thread)

    def _replay(self) -> None:
        left_over = list(self._journal.left_over())
        if left_over:
            log.info("journal_replayed", records=len(left_over))
            for batch in _in_batches(left_over):
                self._apply(batch)
        self._journal.drop_left_over()

    async def stop(self) -> None:
        """Finish everything that was submitted, then stop."""
        with self._state:
            self._stopping = True
            self._state.notify_all()
        for thread in self._threads:
            await asyncio.to_thread(thread.join)
        self._journal.close()

    async def submit(self, records: Sequence[Record]) -> None:
        """Return when the records are safe. Raises Unavailable, with nothing kept, when not."""
        size = sum(len(record.payload) for record in records)
        future: asyncio.Future[None] = self._loop.create_future()
        with self._state:
            if self._stopping:
                raise Unavailable("the service is stopping")
            if self._stalled and self._backlog_bytes >= BACKLOG_BYTES:
                raise Unavailable("the store cannot take more at the moment", 5)
            if self._waiting_bytes + size > self._max_waiting_bytes:
                raise Unavailable("too much is waiting to be stored")
            self._waiting.append((records, future))
            self._waiting_bytes += size
            self._state.notify_all()
        await future

    async def settle(self) -> None:
        """Wait until all that is acknowledged by now can be read, unless the store is stuck."""
        with self._state:
            if self._applied >= self._journaled or self._stalled:
                return
            future: asyncio.Future[None] = self._loop.create_future()
            self._settling.append((self._journaled, future))
        await asyncio.wait([future], timeout=SETTLE_SECONDS)

    def load(self) -> Load:
        with self._state:
            return Load(self._waiting_bytes, self._backlog_bytes, self._stalled)

    def _journal_waiting(self) -> None:
        while True:
            with self._state:
                self._state.wait_for(
                    lambda: (
                        (self._waiting and self._backlog_bytes < BACKLOG_BYTES)
                        or (self._stopping and not self._waiting)
                    )
                )
                if not self._waiting:
                    return
                taken = list(self._waiting)
                self._waiting.clear()
                self._waiting_bytes = 0
                sequence = self._journaled + 1
            records = [record for group, _ in taken for record in group]
            failure: Unavailable | None = None
            try:
                self._journal.append(records, sequence)
            except OSError as error:
                log.error("journal_failed", error=str(error))
                failure = Unavailable(f"the journal cannot be written: {error.strerror}", 5)
            else:
                with self._state:
                    self._journaled = sequence
                    self._backlog.extend((sequence, record) for record in records)
                    self._backlog_bytes += sum(len(record.payload) for record in records)
                    self._state.notify_all()
            futures = [future for _, future in taken]
            self._loop.call_soon_threadsafe(_finish, futures, failure)

    def _apply_backlog(self) -> None:
        while True:
            with self._state:
                self._state.wait_for(lambda: self._backlog or self._is_done())
                if not self._backlog:
                    return
                batch, sequence = self._next_batch()
            if not self._apply([record for _, record in batch]):
                return
            self._journal.release(sequence)
            with self._state:
                self._backlog_bytes -= sum(len(record.payload) for _, record in batch)
                self._applied = sequence
                done = [future for target, future in self._settling if target <= sequence]
                self._settling = [(t, f) for t, f in self._settling if t > sequence]
                self._state.notify_all()
            if done:
                self._loop.call_soon_threadsafe(_finish, done, None)

    def _is_done(self) -> bool:
        return self._stopping and not self._waiting and self._applied >= self._journaled

    def _next_batch(self) -> tuple[list[tuple[int, Record]], int]:
        """Take the oldest records, and say up to which sequence all are taken then."""
        batch: list[tuple[int, Record]] = []
        size = 0
        while self._backlog and (not batch or size < APPLY_BYTES):
            batch.append(self._backlog.popleft())
            size += len(batch[-1][1].payload)
        complete = self._backlog[0][0] - 1 if self._backlog else batch[-1][0]
        return batch, complete

    def _apply(self, records: Sequence[Record]) -> bool:
        """Apply a batch, trying until it works; False when the service stops before it does.

        A batch that is refused is taken apart, so that a bad record harms only itself.
        """
        while True:
            try:
                self._store.apply(records)
            except Refused as error:
                if len(records) > 1:
                    return all(self._apply([record]) for record in records)
                self._store.quarantine(records[0], str(error))
            except Exception as error:
                log.exception("apply_failed", error=str(error), records=len(records))
                if self._wait_to_retry():
                    continue
                return False
            with self._state:
                self._stalled = False
            return True

    def _wait_to_retry(self) -> bool:
        """Wait before the next try; False when the service is stopping."""
        with self._state:
            self._stalled = True
            waiting, self._settling = self._settling, []
        self._loop.call_soon_threadsafe(_finish, [future for _, future in waiting], None)
        with self._state:
            return not self._state.wait_for(lambda: self._stopping, timeout=RETRY_SECONDS)


def _in_batches(records: Sequence[Record]) -> list[list[Record]]:
    batches: list[list[Record]] = [[]]
    size = 0
    for record in records:
        if batches[-1] and size + len(record.payload) > APPLY_BYTES:
            batches.append([])
            size = 0
        batches[-1].append(record)
        size += len(record.payload)
    return batches


def _finish(futures: Sequence[asyncio.Future[None]], failure: Exception | None) -> None:
    for future in futures:
        if future.done():
            continue
        if failure is None:
            future.set_result(None)
        else:
            future.set_exception(failure)
