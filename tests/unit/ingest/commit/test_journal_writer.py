"""Group commit: acknowledged records are on disk, and requests share one write."""

import asyncio
import os
import time
from pathlib import Path

import pytest

from spanwise.model.errors import Unavailable
from support.commit import SENDER, FakeStore, make_records, number_of, running
from support.journal import read_unapplied

MIB = 2**20


async def test_an_acknowledged_record_is_in_the_journal_while_the_store_is_busy(
    tmp_path: Path,
) -> None:
    store = FakeStore()
    async with running(tmp_path, store) as pipeline:
        with store.held():
            await pipeline.submit(SENDER, make_records(1))
            await pipeline.submit(SENDER, make_records(2))
            # A kill at this moment loses neither.
            assert [number_of(r) for r in read_unapplied(tmp_path)] == [1, 2]
            assert store.finished == []


async def test_the_order_of_submission_is_the_order_in_the_store(tmp_path: Path) -> None:
    store = FakeStore()
    async with running(tmp_path, store, max_waiting_bytes=64 * MIB) as pipeline:
        await asyncio.gather(
            *(pipeline.submit(SENDER, make_records(n, 50_000)) for n in range(500))
        )
        await pipeline.wait_until_visible()
    assert store.finished == list(range(500))


async def test_requests_share_one_write_and_one_insert(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, writes = FakeStore(), 0
    write = os.write

    def counted(file: int, data: bytes) -> int:
        nonlocal writes
        writes += 1
        time.sleep(0.01)
        return write(file, data)

    monkeypatch.setattr(os, "write", counted)
    async with running(tmp_path, store) as pipeline:
        await asyncio.gather(*(pipeline.submit(SENDER, make_records(n)) for n in range(200)))
        await pipeline.wait_until_visible()
    assert len(store.finished) == 200
    assert writes < 20
    assert len(store.batches) < 20


async def test_a_callback_that_raises_does_not_block_other_requests(tmp_path: Path) -> None:
    def fail(_: object) -> None:
        raise RuntimeError("a defect of the caller")

    async with running(tmp_path, FakeStore()) as pipeline:
        # While the first is written, the others form one group.
        first = asyncio.create_task(pipeline.submit(SENDER, make_records(1)))
        await asyncio.sleep(0)
        pipeline.enqueue(SENDER, make_records(2), fail)
        async with asyncio.timeout(5):
            await asyncio.gather(
                first, *(pipeline.submit(SENDER, make_records(n)) for n in range(3, 50))
            )


async def test_a_full_disk_refuses_writes_until_space_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = FakeStore()
    async with running(tmp_path, store) as pipeline:
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", _no_space)
            with pytest.raises(Unavailable, match="journal cannot be written"):
                await pipeline.submit(SENDER, make_records(1))
        await pipeline.submit(SENDER, make_records(2))
        await pipeline.wait_until_visible()
    assert store.finished == [2]


def _no_space(_file: int, _data: bytes) -> int:
    raise OSError(28, "No space left on device")
