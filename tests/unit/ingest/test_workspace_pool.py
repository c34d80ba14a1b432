"""Threads for bodies: a workspace cannot take them all, nor hold up a shutdown."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator

import pytest

from spanwise.ingest.workspace_pool import WorkspacePool


@pytest.fixture
async def blocked() -> AsyncIterator[threading.Event]:
    """What the work of the busy workspace waits for."""
    event = threading.Event()
    yield event
    event.set()


async def test_a_workspace_leaves_threads_to_others(blocked: threading.Event) -> None:
    pool = WorkspacePool("test", 4)
    busy = [asyncio.create_task(pool.run("busy", blocked.wait)) for _ in range(20)]
    await asyncio.sleep(0)
    async with asyncio.timeout(10):
        assert await pool.run("other", lambda: 1) == 1
    assert not any(task.done() for task in busy)
    blocked.set()
    assert all(await asyncio.gather(*busy))
    pool.close()


async def test_closing_does_not_wait_for_work(blocked: threading.Event) -> None:
    pool = WorkspacePool("test", 4)
    busy = [asyncio.create_task(pool.run(f"w{n % 4}", blocked.wait)) for n in range(20)]
    await asyncio.sleep(0.05)
    started = time.monotonic()
    pool.close()
    assert time.monotonic() - started < 1
    blocked.set()
    await asyncio.gather(*busy, return_exceptions=True)
