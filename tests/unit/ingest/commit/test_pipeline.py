"""Group commit: what is acknowledged is safe, what is not safe is refused, nobody waits forever."""

import asyncio
import os
import threading
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path

import pytest

from spanwise.ingest.commit import pipeline as module
from spanwise.ingest.commit.journal import Journal, Kind, Record
from spanwise.ingest.commit.pipeline import Pipeline, Refused, Suspect
from spanwise.ingest.commit.versions import VersionClock
from spanwise.model.errors import Unavailable
from spanwise.model.freshness import Freshness
from support.journal import leave_over, read_as_left_over
from support.polling import until

MIB = 2**20


class Shelf:
    """A store that keeps what it is given, and can be told to fail, to refuse or to wait."""

    def __init__(self) -> None:
        self.inserted: list[int] = []
        # The numbers of records that are finished, and their versions.
        self.finished: list[int] = []
        self.versions: list[int] = []
        self.batches: list[int] = []
        self.quarantined: list[int] = []
        self.failure: Exception | None = None
        self.poison: dict[int, Exception] = {}
        self.gate = threading.Event()
        self.gate.set()

    def insert(self, records: Sequence[Record]) -> None:
        assert self.gate.wait(20)
        if self.failure is not None:
            raise self.failure
        for record in records:
            if number_of(record) in self.poison:
                raise self.poison[number_of(record)]
        self.batches.append(len(records))
        self.inserted += map(number_of, records)

    def finish(self, records: Sequence[Record]) -> None:
        numbers = [*map(number_of, records)]
        assert set(numbers) <= {*self.inserted, *self.quarantined}
        self.finished += [number for number in numbers if number in self.inserted]
        self.versions += [record.version for record in records]

    def quarantine(self, record: Record, reason: str) -> None:
        assert reason
        self.quarantined.append(number_of(record))

    @contextmanager
    def held(self) -> Iterator[None]:
        """While this lasts, applying takes as long."""
        self.gate.clear()
        try:
            yield
        finally:
            self.gate.set()


def files_in(folder: Path) -> list[Path]:
    return list(folder.glob("*.journal"))


def rows(number: int, size_bytes: int = 100) -> list[Record]:
    return [Record(Kind.EXPOSURES, number.to_bytes(4) + bytes(size_bytes - 4))]


def number_of(record: Record) -> int:
    return int.from_bytes(record.payload[:4])


@asynccontextmanager
async def running(
    folder: Path, store: Shelf, max_waiting_bytes: int = 10 * MIB, min_free_bytes: int = 0
) -> AsyncIterator[Pipeline]:
    with closing(Journal(folder)) as journal:
        pipeline = Pipeline(journal, store, max_waiting_bytes, min_free_bytes)
        await pipeline.start()
        try:
            yield pipeline
        finally:
            await pipeline.stop()


@pytest.fixture(autouse=True)
def _retry_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.05)


async def stalled(pipeline: Pipeline) -> None:
    async def check() -> bool:
        return pipeline.load().is_stalled

    await until(check)


async def test_what_was_submitted_is_in_the_store_after_settling(tmp_path: Path) -> None:
    store = Shelf()
    async with running(tmp_path, store) as pipeline:
        await pipeline.submit(rows(1))
        await pipeline.wait_until_visible()
        assert store.finished == [1]


async def test_an_acknowledged_record_is_in_the_journal_while_the_store_is_busy(
    tmp_path: Path,
) -> None:
    store = Shelf()
    async with running(tmp_path, store) as pipeline:
        with store.held():
            await pipeline.submit(rows(1))
            await pipeline.submit(rows(2))
            # A kill at this moment loses neither.
            assert [number_of(r) for r in read_as_left_over(tmp_path)] == [1, 2]
            assert store.finished == []


async def test_the_journal_keeps_records_while_something_of_them_is_pending(tmp_path: Path) -> None:
    pending = [True]
    journal = Journal(tmp_path)
    pipeline = Pipeline(journal, Shelf(), MIB, has_pending=lambda: bool(pending))
    await pipeline.start()
    await pipeline.submit(rows(1))
    await pipeline.wait_until_visible()
    assert len(read_as_left_over(tmp_path)) == 1
    pending.clear()
    await pipeline.submit(rows(2))
    await pipeline.wait_until_visible()
    assert read_as_left_over(tmp_path) == []
    await pipeline.stop()
    journal.close()


async def test_only_the_threads_that_write_to_the_store_make_way_for_readers(
    tmp_path: Path,
) -> None:
    lowered: list[str] = []
    with closing(Journal(tmp_path)) as journal:
        pipeline = Pipeline(
            journal,
            Shelf(),
            MIB,
            on_store_thread=lambda: lowered.append(threading.current_thread().name),
        )
        await pipeline.start()
        await pipeline.submit(rows(1))
        await pipeline.wait_until_visible()
        await pipeline.stop()
    assert sorted(lowered) == ["finish_inserted", "insert_backlog"]


async def test_the_order_of_submission_is_the_order_in_the_store(tmp_path: Path) -> None:
    store = Shelf()
    async with running(tmp_path, store, max_waiting_bytes=64 * MIB) as pipeline:
        await asyncio.gather(*(pipeline.submit(rows(n, 50_000)) for n in range(500)))
        await pipeline.wait_until_visible()
    assert store.finished == list(range(500))


async def test_one_that_fails_to_be_told_keeps_no_other_waiting(tmp_path: Path) -> None:
    def fail(_: object) -> None:
        raise RuntimeError("a defect of the caller")

    async with running(tmp_path, Shelf()) as pipeline:
        # While the first is written the others gather, and are told together.
        first = asyncio.create_task(pipeline.submit(rows(1)))
        await asyncio.sleep(0)
        pipeline.enqueue(rows(2), fail)
        async with asyncio.timeout(5):
            await asyncio.gather(first, *(pipeline.submit(rows(n)) for n in range(3, 50)))


async def test_requests_share_one_write_and_one_insert(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, writes = Shelf(), 0
    write = os.write

    def counted(file: int, data: bytes) -> int:
        nonlocal writes
        writes += 1
        time.sleep(0.01)
        return write(file, data)

    monkeypatch.setattr(os, "write", counted)
    async with running(tmp_path, store) as pipeline:
        await asyncio.gather(*(pipeline.submit(rows(n)) for n in range(200)))
        await pipeline.wait_until_visible()
    assert len(store.finished) == 200
    assert writes < 20
    assert len(store.batches) < 20


async def test_batches_for_the_store_are_bounded(tmp_path: Path) -> None:
    store = Shelf()
    async with running(tmp_path, store, max_waiting_bytes=64 * MIB) as pipeline:
        with store.held():
            tasks = [asyncio.create_task(pipeline.submit(rows(n, MIB))) for n in range(30)]
            await asyncio.sleep(0.2)
        await asyncio.gather(*tasks)
        await pipeline.wait_until_visible()
    assert len(store.finished) == 30
    assert max(store.batches) <= module.APPLY_BYTES // MIB


async def test_settling_waits_for_what_was_acknowledged_before(tmp_path: Path) -> None:
    store = Shelf()
    async with running(tmp_path, store) as pipeline:
        with store.held():
            await pipeline.submit(rows(1))
            settling = asyncio.create_task(pipeline.wait_until_visible())
            await asyncio.sleep(0.1)
            assert not settling.done()
        await settling
        assert store.finished == [1]


async def test_a_reader_may_do_without_the_latest_but_not_without_what_is_older(
    tmp_path: Path,
) -> None:
    store = Shelf()
    async with running(tmp_path, store) as pipeline:
        with store.held():
            await pipeline.submit(rows(1))
            await asyncio.sleep(0.3)
            await pipeline.submit(rows(2))
            await asyncio.wait_for(pipeline.wait_until_visible(Freshness(10)), 1)
            assert store.finished == []
            settling = asyncio.create_task(pipeline.wait_until_visible(Freshness(0.2)))
            await asyncio.sleep(0.1)
            assert not settling.done()
        await settling
        assert 1 in store.finished


async def test_settling_does_not_wait_for_ever_on_a_slow_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Shelf()
    async with running(tmp_path, store) as pipeline:
        with store.held():
            await pipeline.submit(rows(1))
            started = time.monotonic()
            await pipeline.wait_until_visible(timeout_seconds=0.1)
            assert time.monotonic() - started < 2


async def test_overload_is_refused_at_once_and_what_waits_is_bounded(tmp_path: Path) -> None:
    store = Shelf()
    async with running(tmp_path, store, max_waiting_bytes=4 * MIB) as pipeline:
        with store.held():
            tasks = [asyncio.create_task(pipeline.submit(rows(n, MIB))) for n in range(100)]
            done, _ = await asyncio.wait(tasks, timeout=0.5)
            refused = [task for task in done if task.exception() is not None]
            load = pipeline.load()
            assert load.waiting_bytes <= 4 * MIB
            assert load.backlog_bytes <= module.BACKLOG_BYTES + module.GROUP_BYTES
            assert len(refused) > 40
            for task in refused:
                error = task.exception()
                assert isinstance(error, Unavailable)
                assert 1 <= error.retry_after_seconds <= 5
        await asyncio.wait(tasks)
        await pipeline.wait_until_visible()
        acknowledged = [n for n, task in enumerate(tasks) if task.exception() is None]
        assert sorted(store.finished) == acknowledged


async def test_a_small_request_does_not_wait_for_a_store_that_is_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LINGER_BYTES", MIB)
    monkeypatch.setattr(module, "PACED_BYTES", 2 * MIB)
    store = Shelf()
    async with running(tmp_path, store) as pipeline:
        with store.held():
            await pipeline.submit(rows(1, MIB))
            await asyncio.sleep(0.4)
        await pipeline.wait_until_visible()
        with store.held():
            # At the pace of the first, the store needs more than a second for this.
            await pipeline.submit(rows(2, 3 * MIB))
            large = asyncio.create_task(pipeline.submit(rows(3, MIB)))
            await asyncio.sleep(0)
            await pipeline.submit(rows(4))
            assert not large.done()
            await large
        await pipeline.wait_until_visible()
    # Versions are of the order in which they were journalled and applied, not of arrival.
    assert store.finished == [1, 2, 4, 3]
    assert store.versions == sorted(set(store.versions))


async def test_one_large_request_is_taken_however_small_the_queue_is(tmp_path: Path) -> None:
    store = Shelf()
    async with running(tmp_path, store, max_waiting_bytes=10) as pipeline:
        await pipeline.submit(rows(1, MIB))
        await pipeline.wait_until_visible()
    assert store.finished == [1]


async def test_a_refused_record_harms_only_itself(tmp_path: Path) -> None:
    store = Shelf()
    store.poison = {3: Refused("unreadable"), 77: Refused("unreadable")}
    async with running(tmp_path, store) as pipeline:
        with store.held():
            await asyncio.gather(*(pipeline.submit(rows(n)) for n in range(100)))
        await pipeline.wait_until_visible()
        assert store.finished == [n for n in range(100) if n not in {3, 77}]
        assert store.quarantined == [3, 77]
        # The batch is halved, not taken apart record by record.
        assert len(store.batches) < 30
        await pipeline.submit(rows(100))


async def test_a_record_that_fails_again_and_again_for_no_known_reason_is_put_aside(
    tmp_path: Path,
) -> None:
    store = Shelf()
    store.poison = {1: Suspect("never seen before")}
    async with running(tmp_path, store) as pipeline:
        with store.held():
            await asyncio.gather(*(pipeline.submit(rows(n)) for n in range(3)))

        async def all_through() -> bool:
            return store.finished == [0, 2]

        await until(all_through)
        assert store.quarantined == [1]


async def test_a_failing_store_is_never_a_reason_to_put_a_record_aside(tmp_path: Path) -> None:
    store = Shelf()
    store.failure = OSError(28, "No space left on device")
    async with running(tmp_path, store) as pipeline:
        await pipeline.submit(rows(1))
        await asyncio.sleep(0.05 * (module.SUSPECT_TRIES + 5))
        store.failure = None

        async def through() -> bool:
            return store.finished == [1]

        await until(through)
    assert store.quarantined == []


async def test_while_the_store_fails_writes_are_refused_and_reads_go_on(tmp_path: Path) -> None:
    store = Shelf()
    store.failure = RuntimeError("no space")
    async with running(tmp_path, store) as pipeline:
        await pipeline.submit(rows(1))
        await stalled(pipeline)
        with pytest.raises(Unavailable) as caught:
            await pipeline.submit(rows(2))
        assert 1 <= caught.value.retry_after_seconds <= 5
        async with asyncio.timeout(0.5):
            await pipeline.wait_until_visible()
        store.failure = None


async def test_the_store_recovers_without_a_restart(tmp_path: Path) -> None:
    store = Shelf()
    store.failure = RuntimeError("no space")
    async with running(tmp_path, store) as pipeline:
        await asyncio.gather(*(pipeline.submit(rows(n)) for n in range(50)))
        await stalled(pipeline)
        store.failure = None

        async def recovered() -> bool:
            return not pipeline.load().is_stalled

        await until(recovered)
        await pipeline.submit(rows(50))
        await pipeline.wait_until_visible()
        assert store.finished == list(range(51))
    assert read_as_left_over(tmp_path) == []


async def test_requests_that_wait_when_the_store_begins_to_fail_are_refused(
    tmp_path: Path,
) -> None:
    store = Shelf()
    count = 2 * module.BACKLOG_BYTES // MIB
    async with running(tmp_path, store, max_waiting_bytes=count * MIB) as pipeline:
        with store.held():
            tasks = [asyncio.create_task(pipeline.submit(rows(n, MIB))) for n in range(count)]
            await asyncio.sleep(0.3)
            assert pipeline.load().waiting_bytes > 0
            store.failure = RuntimeError("no space")
        done, pending = await asyncio.wait(tasks, timeout=5)
        assert not pending
        assert any(isinstance(task.exception(), Unavailable) for task in done)
        store.failure = None


async def test_a_full_disk_refuses_and_lets_go_on_when_there_is_room_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Shelf()
    async with running(tmp_path, store) as pipeline:
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", _no_space)
            with pytest.raises(Unavailable, match="journal cannot be written"):
                await pipeline.submit(rows(1))
        await pipeline.submit(rows(2))
        await pipeline.wait_until_visible()
    assert store.finished == [2]


async def test_a_disk_with_too_little_room_refuses_before_it_is_full(tmp_path: Path) -> None:
    store = Shelf()
    async with running(tmp_path, store, min_free_bytes=2**62) as pipeline:
        with pytest.raises(Unavailable, match="almost full") as caught:
            await pipeline.submit(rows(1))
        assert 1 <= caught.value.retry_after_seconds <= 5
    assert store.finished == []


async def test_stopping_finishes_what_was_submitted(tmp_path: Path) -> None:
    store = Shelf()
    journal = Journal(tmp_path)
    pipeline = Pipeline(journal, store, 64 * MIB)
    await pipeline.start()
    tasks = [asyncio.create_task(pipeline.submit(rows(n, 10_000))) for n in range(300)]
    await asyncio.sleep(0)
    await pipeline.stop()
    journal.close()
    await asyncio.gather(*tasks)
    assert store.finished == list(range(300))
    assert files_in(tmp_path) == []
    with pytest.raises(Unavailable):
        await pipeline.submit(rows(300))


async def test_stopping_while_the_store_fails_ends_and_keeps_what_was_acknowledged(
    tmp_path: Path,
) -> None:
    store = Shelf()
    store.failure = RuntimeError("no space")
    journal = Journal(tmp_path)
    pipeline = Pipeline(journal, store, 64 * MIB)
    await pipeline.start()
    await pipeline.submit(rows(1))
    await stalled(pipeline)
    async with asyncio.timeout(5):
        await pipeline.stop()
    journal.close()
    healthy = Shelf()
    async with running(tmp_path, healthy):
        assert healthy.finished == [1]


async def test_what_an_earlier_process_left_is_in_the_store_when_the_next_has_started(
    tmp_path: Path,
) -> None:
    leave_over(tmp_path, *rows(1), *rows(2))
    leave_over(tmp_path, *rows(3))
    store = Shelf()
    async with running(tmp_path, store) as pipeline:
        assert store.finished == [1, 2, 3]
        await pipeline.submit(rows(4))
    assert store.finished == [1, 2, 3, 4]
    assert files_in(tmp_path) == []


async def test_versions_go_on_after_those_of_an_earlier_process_whatever_the_clock_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A clock of its own: that of other tests shall not run ahead.
    clock = VersionClock()
    monkeypatch.setattr(module, "next_version", clock.tick)
    monkeypatch.setattr(module, "start_after", clock.start_after)
    ahead = time.time_ns() + 3600 * 10**9
    leave_over(tmp_path, rows(1)[0]._replace(version=ahead))
    store = Shelf()
    async with running(tmp_path, store) as pipeline:
        await pipeline.submit(rows(2))
        await pipeline.wait_until_visible()
    assert store.finished == [1, 2]
    assert store.versions[0] == ahead < store.versions[1]


async def test_a_start_on_a_failing_store_serves_reads_and_keeps_what_was_left(
    tmp_path: Path,
) -> None:
    leave_over(tmp_path, *rows(1))
    store = Shelf()
    store.failure = RuntimeError("no space")
    async with asyncio.timeout(5), running(tmp_path, store) as pipeline:
        await pipeline.wait_until_visible()
        with pytest.raises(Unavailable):
            await pipeline.submit(rows(2))
        store.failure = None

        async def through() -> bool:
            return store.finished == [1]

        await until(through)
        await pipeline.submit(rows(3))
    assert store.finished == [1, 3]


def _no_space(_file: int, _data: bytes) -> int:
    raise OSError(28, "No space left on device")
