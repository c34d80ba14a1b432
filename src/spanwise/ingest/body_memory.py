"""Bounds what bodies hold in memory together, from their first byte to their answer.

Small exports on the fast path (`api/fast_path/export.py`) are bounded by their connections instead.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from spanwise.ingest.compression import read_body
from spanwise.model.errors import Invalid, Unavailable

READ_SECONDS = 60


class Intake:
    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._free_bytes = max_bytes

    @asynccontextmanager
    async def body(self, chunks: AsyncIterator[bytes], encoding: str) -> AsyncIterator[bytes]:
        """Read a body and keep its place until the block ends.

        Raises Unavailable at once when too much is on its way in already: many connections that
        send slowly must not add up to more than the memory there is.
        """
        with self._holding() as held:
            try:
                async with asyncio.timeout(READ_SECONDS):
                    body = await read_body(chunks, encoding, held.grow)
            except TimeoutError:
                raise Invalid(f"the body did not arrive within {READ_SECONDS} s") from None
            yield body

    @contextmanager
    def hold(self, size_bytes: int) -> Iterator[None]:
        """Keep the place of a body that somebody else has read."""
        with self._holding() as held:
            held.grow(size_bytes)
            yield

    @contextmanager
    def _holding(self) -> Iterator["_Held"]:
        held = _Held(self)
        try:
            yield held
        finally:
            self._free_bytes += held.size_bytes

    def take(self, size_bytes: int) -> None:
        if size_bytes > self._free_bytes:
            raise Unavailable("too much is being received")
        self._free_bytes -= size_bytes


class _Held:
    """What one body has taken of the intake."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake
        self.size_bytes = 0

    def grow(self, size_bytes: int) -> None:
        self._intake.take(size_bytes)
        self.size_bytes += size_bytes
