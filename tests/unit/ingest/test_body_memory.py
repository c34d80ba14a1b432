"""The memory for bodies that are being received is limited, and so is the time."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from spanwise.ingest import body_memory
from spanwise.ingest.body_memory import BodyMemory
from spanwise.model.errors import Invalid, Unavailable


async def test_memory_for_bodies_in_flight_is_bounded() -> None:
    memory = BodyMemory(max_bytes=100)
    release = asyncio.Event()

    async def slowly(size: int) -> AsyncIterator[bytes]:
        yield b"x" * size
        await release.wait()

    async def receive(size: int) -> int:
        async with memory.read(slowly(size), "") as body:
            return len(body)

    first = asyncio.create_task(receive(60))
    await asyncio.sleep(0)
    with pytest.raises(Unavailable) as caught:
        await receive(60)
    assert 1 <= caught.value.retry_after_seconds <= 5
    release.set()
    assert await first == 60
    # The memory is released after success and after refusal.
    assert await receive(100) == 100


async def test_a_body_that_never_ends_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body_memory, "READ_SECONDS", 0.05)

    async def never() -> AsyncIterator[bytes]:
        yield b"x"
        await asyncio.Event().wait()

    with pytest.raises(Invalid, match="did not arrive"):
        async with BodyMemory(max_bytes=100).read(never(), ""):
            pass
