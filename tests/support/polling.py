"""Polls for conditions in tests."""

import asyncio
import time
from collections.abc import Awaitable, Callable


async def until(condition: Callable[[], Awaitable[bool]], seconds: float = 60) -> None:
    """Return as soon as the condition holds; fail when it does not in time."""
    async with asyncio.timeout(seconds):
        while not await condition():  # noqa: ASYNC110 -- what is awaited has no event
            await asyncio.sleep(0.02)


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    """The same for tests that have no event loop."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"did not happen within {seconds} s"
        time.sleep(0.1)
