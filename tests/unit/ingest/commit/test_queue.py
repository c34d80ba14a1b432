"""Admission: the queue is bounded, overload is refused at once, small requests overtake."""

import asyncio
import threading
from pathlib import Path

import pytest

from spanwise.ingest.commit import backlog, queue
from spanwise.ingest.commit.backlog import Backlog
from spanwise.ingest.commit.queue import CommitQueue
from spanwise.model.errors import Unavailable
from support.commit import SENDER, FakeStore, make_records, running

MIB = 2**20


def ignore(_failure: Unavailable | None) -> None:
    pass


def make_queue(max_bytes: int = MIB) -> tuple[CommitQueue, Backlog, threading.Lock]:
    lock = threading.Lock()
    pending = Backlog(lock)
    return CommitQueue(asyncio.get_running_loop(), lock, pending, max_bytes), pending, lock


async def test_a_group_is_taken_in_order_of_arrival_and_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(queue, "GROUP_BYTES", 300)
    waiting, _, _ = make_queue()
    for number in range(5):
        waiting.put(SENDER, make_records(number), ignore)
    sizes = [len(waiting.take_group()), len(waiting.take_group())]
    assert sizes == [3, 2]
    assert waiting.size_bytes == 0


async def test_the_journal_writer_is_woken_once_for_all_requests_of_a_loop_iteration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waiting, _, _ = make_queue()
    wakes: list[None] = []
    monkeypatch.setattr(waiting, "_wake_writer", lambda: wakes.append(None))
    for number in range(50):
        waiting.put(SENDER, make_records(number), ignore)
    assert wakes == []
    await asyncio.sleep(0)
    assert len(wakes) == 1


async def test_a_closed_queue_refuses_requests_and_is_drained_once_its_last_group_is() -> None:
    waiting, _, lock = make_queue()
    waiting.put(SENDER, make_records(1), ignore)
    with lock:
        waiting.close()
        assert not waiting.is_drained()
    with pytest.raises(Unavailable, match="stopping"):
        waiting.put(SENDER, make_records(2), ignore)
    assert len(waiting.take_group()) == 1
    with lock:
        assert not waiting.is_drained()
        waiting.finish_group(100)
        assert waiting.is_drained()
    assert waiting.take_group() == []


async def test_a_stalled_store_refuses_requests() -> None:
    waiting, pending, _ = make_queue()
    pending.is_stalled = True
    with pytest.raises(Unavailable, match="the store cannot take more"):
        waiting.put(SENDER, make_records(1), ignore)


async def test_overload_is_refused_at_once_and_the_queue_is_bounded(tmp_path: Path) -> None:
    store = FakeStore()
    async with running(tmp_path, store, max_waiting_bytes=4 * MIB) as pipeline:
        with store.held():
            tasks = [
                asyncio.create_task(pipeline.submit(SENDER, make_records(n, MIB)))
                for n in range(100)
            ]
            done, _ = await asyncio.wait(tasks, timeout=0.5)
            refused = [task for task in done if task.exception() is not None]
            load = pipeline.load()
            assert load.waiting_bytes <= 4 * MIB
            assert load.backlog_bytes <= backlog.MAX_BYTES + queue.GROUP_BYTES
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
    monkeypatch.setattr(backlog, "LINGER_BYTES", MIB)
    monkeypatch.setattr(backlog, "PACED_BYTES", 2 * MIB)
    store = FakeStore()
    async with running(tmp_path, store) as pipeline:
        with store.held():
            await pipeline.submit(SENDER, make_records(1, MIB))
            await asyncio.sleep(0.4)
        await pipeline.wait_until_visible()
        with store.held():
            # At the throughput of the first, the store needs more than a second for this.
            await pipeline.submit(SENDER, make_records(2, 3 * MIB))
            large = asyncio.create_task(pipeline.submit(SENDER, make_records(3, MIB)))
            await asyncio.sleep(0)
            await pipeline.submit(SENDER, make_records(4))
            assert not large.done()
            await large
        await pipeline.wait_until_visible()
    # Versions follow the order in which records were journaled, not that of arrival.
    assert store.finished == [1, 2, 4, 3]
    assert store.versions == sorted(set(store.versions))


async def test_a_single_large_request_is_accepted_by_a_small_queue(tmp_path: Path) -> None:
    store = FakeStore()
    async with running(tmp_path, store, max_waiting_bytes=10) as pipeline:
        await pipeline.submit(SENDER, make_records(1, MIB))
        await pipeline.wait_until_visible()
    assert store.finished == [1]


async def test_waiting_requests_are_refused_when_the_store_begins_to_fail(
    tmp_path: Path,
) -> None:
    store = FakeStore()
    count = 2 * backlog.MAX_BYTES // MIB
    async with running(tmp_path, store, max_waiting_bytes=count * MIB) as pipeline:
        with store.held():
            tasks = [
                asyncio.create_task(pipeline.submit(SENDER, make_records(n, MIB)))
                for n in range(count)
            ]
            await asyncio.sleep(0.3)
            assert pipeline.load().waiting_bytes > 0
            store.failure = RuntimeError("no space")
        done, pending = await asyncio.wait(tasks, timeout=5)
        assert not pending
        assert any(isinstance(task.exception(), Unavailable) for task in done)
        store.failure = None
