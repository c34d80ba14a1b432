"""Readers wait for records acknowledged before them, but never forever."""

import asyncio
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from spanwise.ingest.commit.backlog import Backlog
from spanwise.ingest.commit.journal import Journal
from spanwise.ingest.commit.visibility import Visibility
from spanwise.ingest.records.record import Kind, Record
from spanwise.model.accounts import Sender
from spanwise.model.freshness import Freshness
from support.commit import SENDER, FakeStore, make_records, running


async def test_waiting_returns_after_a_record_is_stored(tmp_path: Path) -> None:
    store = FakeStore()
    async with running(tmp_path, store) as pipeline:
        await pipeline.submit(SENDER, make_records(1))
        await pipeline.wait_until_visible()
        assert store.finished == [1]


async def test_a_reader_waits_for_records_acknowledged_before(tmp_path: Path) -> None:
    store = FakeStore()
    async with running(tmp_path, store) as pipeline:
        with store.held():
            await pipeline.submit(SENDER, make_records(1))
            waiting = asyncio.create_task(pipeline.wait_until_visible())
            await asyncio.sleep(0.1)
            assert not waiting.done()
        await waiting
        assert store.finished == [1]


async def test_a_reader_may_skip_only_recent_records(
    tmp_path: Path,
) -> None:
    store = FakeStore()
    async with running(tmp_path, store) as pipeline:
        with store.held():
            await pipeline.submit(SENDER, make_records(1))
            await asyncio.sleep(0.3)
            await pipeline.submit(SENDER, make_records(2))
            await asyncio.wait_for(pipeline.wait_until_visible(Freshness(max_age_seconds=10)), 1)
            assert store.finished == []
            waiting = asyncio.create_task(
                pipeline.wait_until_visible(Freshness(max_age_seconds=0.2))
            )
            await asyncio.sleep(0.1)
            assert not waiting.done()
        await waiting
        assert 1 in store.finished


async def test_a_reader_does_not_wait_forever_for_a_slow_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = FakeStore()
    async with running(tmp_path, store) as pipeline:
        with store.held():
            await pipeline.submit(SENDER, make_records(1))
            started = time.monotonic()
            await pipeline.wait_until_visible(timeout_seconds=0.1)
            assert time.monotonic() - started < 2


async def test_data_is_visible_up_to_the_oldest_unapplied_group() -> None:
    lock = threading.Lock()
    visibility = Visibility(asyncio.get_running_loop(), lock, Backlog(lock))
    started = time.monotonic()
    with lock:
        visibility.mark_journaled(1, {SENDER})
        visibility.mark_journaled(2, {Sender("other", "key")})
    assert started <= (visibility.pending_since() or 0) <= time.monotonic()
    with lock:
        visibility.mark_applied(1)
    assert visibility.pending_since(SENDER.workspace) is None
    assert visibility.pending_since("other") is not None
    with lock:
        assert visibility.mark_applied(2) == []
    assert visibility.pending_since() is None


async def test_replayed_records_are_as_old_as_their_versions(tmp_path: Path) -> None:
    with closing(Journal(tmp_path)) as journal:
        journal.append([Record(Kind.EXPOSURES, b"0000", time.time_ns() - 60 * 10**9)], 1)
    store = FakeStore()
    store.failure = OSError("the disk is full")
    async with running(tmp_path, store) as pipeline:
        pending = pipeline.pending_since("workspace")
        assert pending is not None
        assert time.monotonic() - pending == pytest.approx(60, abs=5)
        store.failure = None
        await pipeline.wait_until_visible(timeout_seconds=5)


@pytest.mark.parametrize(
    ("freshness", "is_waiting"),
    [
        (Freshness(), True),
        (Freshness("workspace"), True),
        (Freshness("workspace", "key"), True),
        (Freshness("workspace", "other key"), False),
        (Freshness("other"), False),
        (Freshness("other", "key"), False),
    ],
)
async def test_a_reader_waits_only_for_the_sender_that_it_names(
    tmp_path: Path, freshness: Freshness, is_waiting: bool
) -> None:
    store = FakeStore()
    async with running(tmp_path, store) as pipeline:
        with store.held():
            await pipeline.submit(SENDER, make_records(1))
            waiting = asyncio.create_task(pipeline.wait_until_visible(freshness))
            await asyncio.sleep(0.1)
            assert waiting.done() != is_waiting
        await waiting


async def test_a_reader_waits_for_its_own_records_and_not_for_later_ones(tmp_path: Path) -> None:
    store = FakeStore()
    async with running(tmp_path, store) as pipeline:
        await pipeline.submit(SENDER, make_records(1))
        await pipeline.wait_until_visible(Freshness(*SENDER))
        with store.held():
            await pipeline.submit(Sender("workspace", "other key"), make_records(2))
            await asyncio.wait_for(pipeline.wait_until_visible(Freshness(*SENDER)), 1)
        assert store.finished[0] == 1
