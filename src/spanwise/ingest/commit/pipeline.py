"""Group commit: many requests share one write to disk, then one insert into the engine.

A request is acknowledged when the journal has it on disk. A second thread inserts journalled
records in batches that grow with the load, because an insert costs the engine some 30 ms before its
first row; while it inserts one batch, a third thread finishes the one before: sums, prices,
deletions. Readers wait for what was acknowledged before them (`settle`), so an acknowledged row is
visible to the next read; one that says so does not wait for the latest (`accepted_age`). While the
store fails, nothing is acknowledged.
"""

import asyncio
import math
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol

import structlog

from spanwise.ingest.commit.journal import Journal, Record
from spanwise.ingest.commit.versions import next_version, start_after, with_version
from spanwise.model.errors import Unavailable
from spanwise.model.freshness import LATEST, Freshness
from spanwise.storage.disk import check_folder

log = structlog.get_logger()

APPLY_BYTES = 16 * 2**20
GROUP_BYTES = 16 * 2**20
BACKLOG_BYTES = 56 * 2**20
# Beyond this the store is behind, and requests are taken at its pace.
PACED_BYTES = 40 * 2**20
# An exposure, a signal, a line of a log.
SMALL_BYTES = 4096
RETRY_SECONDS = 1.0
# Not with every group: asking lets other threads go first, which made small groups a tenth slower.
DISK_CHECK_SECONDS = 0.1
SETTLE_SECONDS = 30.0
LINGER_SECONDS = 1.0
LINGER_BYTES = 12 * 2**20
SPLIT_AFTER_TRIES = 3
SUSPECT_TRIES = 10

# How many seconds old what a reader gets may be: it does not wait for what came in since.
accepted_age: ContextVar[float] = ContextVar("accepted_age", default=0.0)

Step = Callable[[Sequence[Record]], None]
# Called with None when records are safe, or with the reason why nothing of them was kept.
Tell = Callable[[Unavailable | None], None]


class Refused(Exception):  # noqa: N818 -- an outcome, not a defect
    """The store cannot ever take this record; trying again would not help."""


class Suspect(Exception):  # noqa: N818
    """The store failed in a way that nobody foresaw; perhaps the record is to blame."""


class Store(Protocol):
    """Takes records in two steps, each in the order of the records, one batch at a time.

    The next batch may be inserted while one is finished. Doing a step twice changes nothing.
    """

    def insert(self, records: Sequence[Record]) -> None:
        """Make the records durable."""

    def finish(self, records: Sequence[Record]) -> None:
        """Make everything that follows from inserted records durable and visible."""

    def quarantine(self, record: Record, reason: str) -> None:
        """Keep a record that the engine refuses, for a person to look at."""


@dataclass(frozen=True)
class Load:
    """How busy ingest is."""

    waiting_bytes: int
    backlog_bytes: int
    is_stalled: bool


class _Waiting(NamedTuple):
    """One request that is not safe yet."""

    records: Sequence[Record]
    size_bytes: int
    tell: Tell


@dataclass(frozen=True)
class _Batch:
    """Records on their way into the store, and up to which sequence all are in it after them."""

    records: Sequence[Record]
    sequence: int
    started: float

    @property
    def size_bytes(self) -> int:
        return sum(len(record.payload) for record in self.records)


class Pipeline:
    def __init__(
        self,
        journal: Journal,
        store: Store,
        max_waiting_bytes: int,
        min_free_bytes: int = 0,
        has_pending: Callable[[], bool] = lambda: False,
        on_store_thread: Callable[[], None] = lambda: None,
    ) -> None:
        """`has_pending`: something that follows from finished batches is not durable yet.

        The threads that write to the store call `on_store_thread` when they start.
        """
        self._journal = journal
        self._has_pending = has_pending
        self._on_store_thread = on_store_thread
        self._store = store
        self._max_waiting_bytes = max_waiting_bytes
        self._min_free_bytes = min_free_bytes
        # One lock, and what each thread waits for: a request wakes nobody that it does not concern.
        self._lock = threading.Lock()
        self._may_journal = threading.Condition(self._lock)
        self._may_insert = threading.Condition(self._lock)
        self._has_enough = threading.Condition(self._lock)
        self._may_finish = threading.Condition(self._lock)
        self._waiting: deque[_Waiting] = deque()
        self._waiting_bytes = 0
        self._is_waking = False
        self._journaling = False
        self._backlog: deque[tuple[int, Record]] = deque()
        # Of all that is not in the store yet, and of what no batch has taken yet.
        self._backlog_bytes = 0
        self._queued_bytes = 0
        self._journaled = 0
        # When each sequence that is not applied yet was journalled, the oldest first.
        self._journaled_at: deque[tuple[float, int]] = deque()
        self._inserted: deque[_Batch] = deque()
        self._inserting = True
        self._applied = 0
        self._applied_at = 0.0
        self._apply_rate = math.inf
        self._paced_until = 0.0
        self._settling: list[tuple[int, asyncio.Future[None]]] = []
        self._stalled = False
        self._disk_is_low = False
        self._disk_is_good_until = 0.0
        self._stopping = False
        self._threads: list[threading.Thread] = []

    async def start(self) -> None:
        """Apply what an earlier process left in the journal, then take requests.

        A store that cannot take it now is no reason not to start: what is there can be read.
        """
        self._loop = asyncio.get_running_loop()
        await asyncio.to_thread(self._load_left_over)
        for work in (self._journal_waiting, self._insert_backlog, self._finish_inserted):
            thread = threading.Thread(target=work, name=work.__name__.strip("_"), daemon=True)
            thread.start()
            self._threads.append(thread)
        await self.settle(timeout_seconds=None)

    def _load_left_over(self) -> None:
        self._backlog.extend((0, record) for record in self._journal.left_over())
        # Whatever the clock says by now: these come first.
        start_after(max((record.version for _, record in self._backlog), default=0))
        self._backlog_bytes = sum(len(record.payload) for _, record in self._backlog)
        self._queued_bytes = self._backlog_bytes
        if self._backlog:
            log.info("journal_replayed", records=len(self._backlog), bytes=self._backlog_bytes)
            self._applied = -1
        else:
            self._journal.release(0)

    async def stop(self) -> None:
        """Finish everything that was submitted, then stop."""
        with self._lock:
            self._stopping = True
            self._wake_all()
        for thread in self._threads:
            await asyncio.to_thread(thread.join)

    async def submit(self, records: Sequence[Record]) -> None:
        """Return when the records are safe. Raises Unavailable, with nothing kept, when not."""
        future: asyncio.Future[None] = self._loop.create_future()
        self.enqueue(records, partial(_finish, future))
        await future

    def enqueue(self, records: Sequence[Record], tell: Tell) -> None:
        """Do the same without waiting: the loop calls `tell` when it is known."""
        size = sum(len(record.payload) for record in records)
        with self._lock:
            if self._stopping:
                raise Unavailable("the service is stopping")
            if self._stalled:
                raise _store_is_stalled()
            if self._waiting and self._waiting_bytes + size > self._max_waiting_bytes:
                raise Unavailable("too much is waiting to be stored")
            self._waiting.append(_Waiting(records, size, tell))
            self._waiting_bytes += size
        if not self._is_waking:
            self._is_waking = True
            self._loop.call_soon(self._wake_journal)

    def _wake_journal(self) -> None:
        """Wake the journal's thread once the loop has seen to all requests that are there.

        Earlier it would get nowhere, as the loop holds the interpreter, but take the loop's core.
        """
        self._is_waking = False
        with self._lock:
            self._may_journal.notify()

    async def settle(self, timeout_seconds: float | None = SETTLE_SECONDS) -> None:
        """Wait until all that is acknowledged by now can be read, unless the store is stuck."""
        await self._wait_until_visible(accepted_age.get(), timeout_seconds)

    async def wait_until_visible(self, freshness: Freshness = LATEST) -> None:
        """Wait until what an answer must include is visible, unless the store is stuck."""
        await self._wait_until_visible(freshness.max_age_seconds, SETTLE_SECONDS)

    async def _wait_until_visible(self, max_age: float, timeout_seconds: float | None) -> None:
        with self._lock:
            wanted = self._acknowledged(max_age)
            if self._applied >= wanted or self._stalled:
                return
            future: asyncio.Future[None] = self._loop.create_future()
            self._settling.append((wanted, future))
            self._has_enough.notify()
        await asyncio.wait([future], timeout=timeout_seconds)

    def visible_as_of(self) -> float:
        """Return a time of the monotonic clock: all that was acknowledged before can be read."""
        with self._lock:
            return self._journaled_at[0][0] if self._journaled_at else time.monotonic()

    def _acknowledged(self, seconds_ago: float) -> int:
        """Up to which sequence all was acknowledged so long ago."""
        latest = time.monotonic() - seconds_ago
        younger = next((sequence for at, sequence in self._journaled_at if at > latest), None)
        return self._journaled if younger is None else younger - 1

    def load(self) -> Load:
        with self._lock:
            return Load(self._waiting_bytes, self._backlog_bytes, self._stalled)

    async def check(self) -> None:
        """Raise Unavailable when what comes in now would not be taken."""
        with self._lock:
            if self._stalled:
                raise _store_is_stalled()
        self._check_free_space()
        try:
            await asyncio.to_thread(check_folder, self._journal.folder)
        except OSError as error:
            raise Unavailable(f"the journal cannot be written: {error.strerror}", 5) from error

    # --- the journalling thread -----------------------------------------------------------------

    def _journal_waiting(self) -> None:
        while taken := self._take_waiting():
            records = [record for request in taken for record in request.records]
            failure: Unavailable | None = None
            try:
                self._make_safe(records)
            except Unavailable as error:
                failure = error
            except OSError as error:
                log.error("journal_failed", error=str(error))
                failure = Unavailable(f"the journal cannot be written: {error.strerror}", 5)
            except Exception:
                log.exception("journal_crashed")
                failure = Unavailable("the journal cannot be written", 5)
            size = sum(request.size_bytes for request in taken)
            with self._lock:
                self._journaling = False
                pace = time.monotonic() + size / self._apply_rate
                self._paced_until = max(self._paced_until, pace)
                self._may_insert.notify()
                if self._queued_bytes >= LINGER_BYTES:
                    self._has_enough.notify()
            self._loop.call_soon_threadsafe(_tell, taken, failure)

    def _take_waiting(self) -> list[_Waiting]:
        """Wait for requests and take the oldest; none when all is done and the service stops."""
        with self._lock:
            while True:
                pause = self._seconds_to_pace()
                taken = self._take_group(is_paced=pause is not None)
                if taken or (self._stopping and not self._waiting):
                    break
                self._may_journal.wait(pause)
            self._journaling = bool(taken)
            return taken

    def _take_group(self, *, is_paced: bool) -> list[_Waiting]:
        """Take what may be journalled now. Small requests need not wait for the store's pace."""
        if self._backlog_bytes >= BACKLOG_BYTES and not self._stalled:
            return []
        taken: list[_Waiting] = []
        paced: list[_Waiting] = []
        size = 0
        while self._waiting and (not taken or size < GROUP_BYTES):
            request = self._waiting.popleft()
            if is_paced and request.size_bytes > SMALL_BYTES:
                paced.append(request)
            else:
                taken.append(request)
                size += request.size_bytes
        self._waiting.extendleft(reversed(paced))
        self._waiting_bytes -= size
        return taken

    def _seconds_to_pace(self) -> float | None:
        """How long until the store has taken as much as was journalled last, when it is behind.

        Requests then wait evenly, not in lumps of a whole batch.
        """
        if self._stalled or self._stopping or self._backlog_bytes < PACED_BYTES:
            return None
        seconds = self._paced_until - time.monotonic()
        return seconds if seconds > 0 else None

    def _make_safe(self, records: Sequence[Record]) -> None:
        with self._lock:
            # Acknowledged now, they could not be seen by the next read.
            if self._stalled:
                raise _store_is_stalled()
        self._check_free_space()
        # Only here is their order final: small requests overtake large ones in the queue.
        records = [with_version(record, next_version()) for record in records]
        sequence = self._journaled + 1
        self._journal.append(records, sequence)
        with self._lock:
            self._journaled = sequence
            self._journaled_at.append((time.monotonic(), sequence))
            self._backlog.extend((sequence, record) for record in records)
            size = sum(len(record.payload) for record in records)
            self._backlog_bytes += size
            self._queued_bytes += size

    def _check_free_space(self) -> None:
        """Stop early: on a full disk the engine could not even merge or delete."""
        now = time.monotonic()
        if now < self._disk_is_good_until:
            return
        disk = os.statvfs(self._journal.folder)
        free_bytes = disk.f_bavail * disk.f_frsize
        is_low = free_bytes < self._min_free_bytes
        if is_low != self._disk_is_low:
            self._disk_is_low = is_low
            log.warning("disk_is_low" if is_low else "disk_has_room_again", free_bytes=free_bytes)
        if is_low:
            raise Unavailable("the disk is almost full", 5)
        self._disk_is_good_until = now + DISK_CHECK_SECONDS

    # --- the inserting thread -------------------------------------------------------------------

    def _insert_backlog(self) -> None:
        self._on_store_thread()
        while batch := self._next_batch():
            if not self._carry_out(self._store.insert, batch.records):
                break
            with self._lock:
                self._may_insert.wait_for(lambda: not self._inserted or self._stopping)
                self._inserted.append(batch)
                self._may_finish.notify()
        with self._lock:
            self._inserting = False
            self._may_finish.notify()

    def _next_batch(self) -> _Batch | None:
        """Wait for records and take the oldest; none when all is done and the service stops."""
        with self._lock:
            self._may_insert.wait_for(lambda: self._backlog or self._has_all())
            if not self._backlog:
                return None
            self._linger()
            taken: list[tuple[int, Record]] = []
            size = 0
            while self._backlog and (not taken or size < APPLY_BYTES):
                taken.append(self._backlog.popleft())
                size += len(taken[-1][1].payload)
            self._queued_bytes -= size
            complete = self._backlog[0][0] - 1 if self._backlog else taken[-1][0]
            return _Batch([record for _, record in taken], complete, time.perf_counter())

    def _has_all(self) -> bool:
        return self._stopping and not self._waiting and not self._journaling

    def _linger(self) -> None:
        """Let records gather until there are enough, a reader waits for them, or time is up.

        An insert costs the engine the same for one record as for hundreds.
        """
        self._has_enough.wait_for(
            lambda: self._queued_bytes >= LINGER_BYTES or self._settling or self._stopping,
            timeout=LINGER_SECONDS,
        )

    # --- the finishing thread -------------------------------------------------------------------

    def _finish_inserted(self) -> None:
        self._on_store_thread()
        while batch := self._take_inserted():
            if not self._carry_out(self._store.finish, batch.records):
                return
            self._release(batch)

    def _take_inserted(self) -> _Batch | None:
        with self._lock:
            self._may_finish.wait_for(lambda: self._inserted or not self._inserting)
            batch = self._inserted.popleft() if self._inserted else None
            self._may_insert.notify()
            return batch

    def _release(self, batch: _Batch) -> None:
        """Forget what is in the store by now, and wake the readers that wait for it."""
        try:
            # Kept records come back after a crash, and what is pending is done then. The release of
            # a later batch covers this one.
            if not self._has_pending():
                self._journal.release(batch.sequence)
        except OSError as error:
            # The records are applied; if they come back after a restart, they change nothing.
            log.error("journal_release_failed", error=str(error))
        with self._lock:
            now = time.perf_counter()
            # A small batch says little: much of its time would be the same for a large one.
            if batch.size_bytes >= LINGER_BYTES:
                self._apply_rate = batch.size_bytes / (now - max(batch.started, self._applied_at))
            self._applied_at = now
            self._backlog_bytes -= batch.size_bytes
            self._applied = batch.sequence
            while self._journaled_at and self._journaled_at[0][1] <= batch.sequence:
                self._journaled_at.popleft()
            done = [future for target, future in self._settling if target <= batch.sequence]
            self._settling = [(t, f) for t, f in self._settling if t > batch.sequence]
            self._may_journal.notify()
        if done:
            self._loop.call_soon_threadsafe(_finish_all, done)

    # --- both -----------------------------------------------------------------------------------

    def _carry_out(self, step: Step, records: Sequence[Record]) -> bool:
        """Do a step, trying until it works; False when the service stops before it does.

        A batch that is refused is halved until the bad record is alone, so that it harms only
        itself. One that fails otherwise is halved too: perhaps it is just too large for now.
        """
        tries = 0
        while True:
            tries += 1
            try:
                self._try(step, records, tries)
            except Refused:
                return self._carry_out_halves(step, records)
            except Exception as error:
                # No traceback: a person's data could be in it.
                log.error("apply_failed", error=repr(error)[:500], records=len(records))
                if not self._wait_to_retry():
                    return False
                if len(records) > 1 and tries >= SPLIT_AFTER_TRIES:
                    return self._carry_out_halves(step, records)
            else:
                with self._lock:
                    self._stalled = False
                return True

    def _try(self, step: Step, records: Sequence[Record], tries: int) -> None:
        """Try once. A single record that cannot be taken is put aside: that is success too."""
        try:
            step(records)
        except Refused as error:
            if len(records) > 1:
                raise
            self._store.quarantine(records[0], str(error))
        except Suspect as error:
            if len(records) > 1 or tries < SUSPECT_TRIES:
                raise
            self._store.quarantine(records[0], str(error))

    def _carry_out_halves(self, step: Step, records: Sequence[Record]) -> bool:
        middle = len(records) // 2
        return self._carry_out(step, records[:middle]) and self._carry_out(step, records[middle:])

    def _wait_to_retry(self) -> bool:
        """Wait before the next try; False when the service is stopping."""
        with self._lock:
            self._stalled = True
            waiting, self._settling = self._settling, []
            self._wake_all()
        self._loop.call_soon_threadsafe(_finish_all, [future for _, future in waiting])
        with self._lock:
            return not self._may_finish.wait_for(lambda: self._stopping, timeout=RETRY_SECONDS)

    def _wake_all(self) -> None:
        for condition in (self._may_journal, self._may_insert, self._has_enough, self._may_finish):
            condition.notify_all()


def _store_is_stalled() -> Unavailable:
    return Unavailable("the store cannot take more at the moment", 5)


def _tell(requests: Sequence[_Waiting], failure: Unavailable | None) -> None:
    for request in requests:
        try:
            request.tell(failure)
        except Exception:
            # The others are not to blame.
            log.exception("tell_crashed")


def _finish_all(futures: Sequence[asyncio.Future[None]]) -> None:
    for future in futures:
        _finish(future, None)


def _finish(future: asyncio.Future[None], failure: Unavailable | None) -> None:
    if future.done():
        return
    if failure is None:
        future.set_result(None)
    else:
        future.set_exception(failure)
