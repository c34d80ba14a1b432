"""Start applies records of an earlier process; stop finishes submitted ones."""

import asyncio
import time
from pathlib import Path

import pytest

from spanwise.ingest.commit import journal_writer
from spanwise.ingest.commit import pipeline as pipeline_module
from spanwise.ingest.commit.journal import Journal
from spanwise.ingest.commit.pipeline import Pipeline
from spanwise.ingest.records.versions import VersionClock
from spanwise.model.errors import Unavailable
from support.commit import SENDER, FakeStore, make_records, running, until_stalled
from support.journal import find_segments, write_unapplied
from support.polling import until

MIB = 2**20


async def test_stopping_applies_all_submitted_records(tmp_path: Path) -> None:
    store = FakeStore()
    journal = Journal(tmp_path)
    pipeline = Pipeline(journal, store, 64 * MIB)
    await pipeline.start()
    tasks = [
        asyncio.create_task(pipeline.submit(SENDER, make_records(n, 10_000))) for n in range(300)
    ]
    await asyncio.sleep(0)
    await pipeline.stop()
    journal.close()
    await asyncio.gather(*tasks)
    assert store.finished == list(range(300))
    assert find_segments(tmp_path) == []
    with pytest.raises(Unavailable):
        await pipeline.submit(SENDER, make_records(300))


async def test_stopping_while_the_store_fails_keeps_acknowledged_records(
    tmp_path: Path,
) -> None:
    store = FakeStore()
    store.failure = RuntimeError("no space")
    journal = Journal(tmp_path)
    pipeline = Pipeline(journal, store, 64 * MIB)
    await pipeline.start()
    await pipeline.submit(SENDER, make_records(1))
    await until_stalled(pipeline)
    async with asyncio.timeout(5):
        await pipeline.stop()
    journal.close()
    healthy = FakeStore()
    async with running(tmp_path, healthy):
        assert healthy.finished == [1]


async def test_records_of_an_earlier_process_are_applied_at_start(
    tmp_path: Path,
) -> None:
    write_unapplied(tmp_path, *make_records(1), *make_records(2))
    write_unapplied(tmp_path, *make_records(3))
    store = FakeStore()
    async with running(tmp_path, store) as pipeline:
        assert store.finished == [1, 2, 3]
        await pipeline.submit(SENDER, make_records(4))
    assert store.finished == [1, 2, 3, 4]
    assert find_segments(tmp_path) == []


async def test_versions_continue_after_those_of_an_earlier_process_whatever_the_clock_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A separate clock: the one of other tests must not run ahead.
    clock = VersionClock()
    monkeypatch.setattr(journal_writer, "next_version", clock.tick)
    monkeypatch.setattr(pipeline_module, "start_after", clock.start_after)
    ahead = time.time_ns() + 3600 * 10**9
    write_unapplied(tmp_path, make_records(1)[0]._replace(version=ahead))
    store = FakeStore()
    async with running(tmp_path, store) as pipeline:
        await pipeline.submit(SENDER, make_records(2))
        await pipeline.wait_until_visible()
    assert store.finished == [1, 2]
    assert store.versions[0] == ahead < store.versions[1]


async def test_a_start_on_a_failing_store_serves_reads_and_keeps_the_journal(
    tmp_path: Path,
) -> None:
    write_unapplied(tmp_path, *make_records(1))
    store = FakeStore()
    store.failure = RuntimeError("no space")
    async with asyncio.timeout(5), running(tmp_path, store) as pipeline:
        await pipeline.wait_until_visible()
        with pytest.raises(Unavailable):
            await pipeline.submit(SENDER, make_records(2))
        store.failure = None

        async def through() -> bool:
            return store.finished == [1]

        await until(through)
        await pipeline.submit(SENDER, make_records(3))
    assert store.finished == [1, 3]
