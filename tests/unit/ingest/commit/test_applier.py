"""Applying to the store: bounded batches, retries, and quarantine of unusable records."""

import asyncio
import threading
from contextlib import closing
from pathlib import Path

import pytest

from spanwise.ingest.commit import applier, backlog
from spanwise.ingest.commit.journal import Journal
from spanwise.ingest.commit.pipeline import Pipeline
from spanwise.ingest.commit.store import PermanentError, UnclassifiedError
from spanwise.model.errors import Unavailable
from support.commit import SENDER, FakeStore, make_records, running, until_stalled
from support.journal import read_unapplied
from support.polling import until

MIB = 2**20


async def test_batches_for_the_store_are_bounded(tmp_path: Path) -> None:
    store = FakeStore()
    async with running(tmp_path, store, max_waiting_bytes=64 * MIB) as pipeline:
        with store.held():
            tasks = [
                asyncio.create_task(pipeline.submit(SENDER, make_records(n, MIB)))
                for n in range(30)
            ]
            await asyncio.sleep(0.2)
        await asyncio.gather(*tasks)
        await pipeline.wait_until_visible()
    assert len(store.finished) == 30
    assert max(store.batches) <= backlog.BATCH_BYTES // MIB


async def test_the_journal_keeps_records_while_derived_work_is_pending(tmp_path: Path) -> None:
    pending = [True]
    journal = Journal(tmp_path)
    pipeline = Pipeline(journal, FakeStore(), MIB, has_pending=lambda: bool(pending))
    await pipeline.start()
    await pipeline.submit(SENDER, make_records(1))
    await pipeline.wait_until_visible()
    assert len(read_unapplied(tmp_path)) == 1
    pending.clear()
    await pipeline.submit(SENDER, make_records(2))
    await pipeline.wait_until_visible()
    assert read_unapplied(tmp_path) == []
    await pipeline.stop()
    journal.close()


async def test_only_the_store_threads_lower_their_priority(
    tmp_path: Path,
) -> None:
    lowered: list[str] = []
    with closing(Journal(tmp_path)) as journal:
        pipeline = Pipeline(
            journal,
            FakeStore(),
            MIB,
            on_store_thread=lambda: lowered.append(threading.current_thread().name),
        )
        await pipeline.start()
        await pipeline.submit(SENDER, make_records(1))
        await pipeline.wait_until_visible()
        await pipeline.stop()
    assert sorted(lowered) == ["finish_batches", "insert_batches"]


async def test_a_refused_record_does_not_affect_others(tmp_path: Path) -> None:
    store = FakeStore()
    store.poison = {3: PermanentError("unreadable"), 77: PermanentError("unreadable")}
    async with running(tmp_path, store) as pipeline:
        with store.held():
            await asyncio.gather(*(pipeline.submit(SENDER, make_records(n)) for n in range(100)))
        await pipeline.wait_until_visible()
        assert store.finished == [n for n in range(100) if n not in {3, 77}]
        assert store.quarantined == [3, 77]
        # The batch is bisected, not retried record by record.
        assert len(store.batches) < 30
        await pipeline.submit(SENDER, make_records(100))


async def test_a_record_that_keeps_failing_for_an_unknown_reason_is_quarantined(
    tmp_path: Path,
) -> None:
    store = FakeStore()
    store.poison = {1: UnclassifiedError("never seen before")}
    async with running(tmp_path, store) as pipeline:
        with store.held():
            await asyncio.gather(*(pipeline.submit(SENDER, make_records(n)) for n in range(3)))

        async def all_through() -> bool:
            return store.finished == [0, 2]

        await until(all_through)
        assert store.quarantined == [1]


async def test_a_failing_store_is_never_a_reason_to_quarantine_a_record(tmp_path: Path) -> None:
    store = FakeStore()
    store.failure = OSError(28, "No space left on device")
    async with running(tmp_path, store) as pipeline:
        await pipeline.submit(SENDER, make_records(1))
        await asyncio.sleep(0.05 * (applier.UNCLASSIFIED_TRIES + 5))
        store.failure = None

        async def through() -> bool:
            return store.finished == [1]

        await until(through)
    assert store.quarantined == []


async def test_while_the_store_fails_writes_are_refused_and_reads_continue(tmp_path: Path) -> None:
    store = FakeStore()
    store.failure = RuntimeError("no space")
    async with running(tmp_path, store) as pipeline:
        await pipeline.submit(SENDER, make_records(1))
        await until_stalled(pipeline)
        with pytest.raises(Unavailable) as caught:
            await pipeline.submit(SENDER, make_records(2))
        assert 1 <= caught.value.retry_after_seconds <= 5
        async with asyncio.timeout(0.5):
            await pipeline.wait_until_visible()
        store.failure = None


async def test_the_store_recovers_without_a_restart(tmp_path: Path) -> None:
    store = FakeStore()
    store.failure = RuntimeError("no space")
    async with running(tmp_path, store) as pipeline:
        await asyncio.gather(*(pipeline.submit(SENDER, make_records(n)) for n in range(50)))
        await until_stalled(pipeline)
        store.failure = None

        async def recovered() -> bool:
            return not pipeline.load().is_stalled

        await until(recovered)
        await pipeline.submit(SENDER, make_records(50))
        await pipeline.wait_until_visible()
        assert store.finished == list(range(51))
    assert read_unapplied(tmp_path) == []
