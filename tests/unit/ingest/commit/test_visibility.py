"""Readers wait for records acknowledged before them, but never forever."""

import asyncio
import threading
import time
from pathlib import Path

import pytest

from spanwise.ingest.commit.backlog import Backlog
from spanwise.ingest.commit.visibility import Visibility
from spanwise.model.freshness import Freshness
from support.commit import FakeStore, make_records, running


async def test_waiting_returns_after_a_record_is_stored(tmp_path: Path) -> None:
    store = FakeStore()
    async with running(tmp_path, store) as pipeline:
        await pipeline.submit(make_records(1))
        await pipeline.wait_until_visible()
        assert store.finished == [1]


async def test_a_reader_waits_for_records_acknowledged_before(tmp_path: Path) -> None:
    store = FakeStore()
    async with running(tmp_path, store) as pipeline:
        with store.held():
            await pipeline.submit(make_records(1))
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
            await pipeline.submit(make_records(1))
            await asyncio.sleep(0.3)
            await pipeline.submit(make_records(2))
            await asyncio.wait_for(pipeline.wait_until_visible(Freshness(10)), 1)
            assert store.finished == []
            waiting = asyncio.create_task(pipeline.wait_until_visible(Freshness(0.2)))
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
            await pipeline.submit(make_records(1))
            started = time.monotonic()
            await pipeline.wait_until_visible(timeout_seconds=0.1)
            assert time.monotonic() - started < 2


async def test_data_is_visible_up_to_the_oldest_unapplied_group() -> None:
    lock = threading.Lock()
    visibility = Visibility(asyncio.get_running_loop(), lock, Backlog(lock))
    started = time.monotonic()
    with lock:
        visibility.mark_journaled(1)
        visibility.mark_journaled(2)
    written = time.monotonic()
    assert started <= visibility.as_of() <= written
    with lock:
        assert visibility.mark_applied(2) == []
    assert visibility.as_of() >= written
