"""Writes are refused before the disk is full."""

from pathlib import Path

import pytest

from spanwise.model.errors import Unavailable
from support.commit import SENDER, FakeStore, make_records, running


async def test_writes_are_refused_before_the_disk_is_full(tmp_path: Path) -> None:
    store = FakeStore()
    async with running(tmp_path, store, min_free_bytes=2**62) as pipeline:
        with pytest.raises(Unavailable, match="almost full") as caught:
            await pipeline.submit(SENDER, make_records(1))
        assert 1 <= caught.value.retry_after_seconds <= 5
    assert store.finished == []
