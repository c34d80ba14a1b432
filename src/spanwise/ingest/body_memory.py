"""Limits the memory that all request bodies use together, from first byte to response.

Small exports on the fast path (`api/fast_path.py`) are limited per connection instead.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from spanwise.ingest.compression import read_body
from spanwise.model.errors import Invalid, Unavailable

READ_SECONDS = 60


class BodyMemory:
    """A budget of bytes. A body that does not fit is refused at once with Unavailable."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._free_bytes = max_bytes

    @asynccontextmanager
    async def read(self, chunks: AsyncIterator[bytes], encoding: str) -> AsyncIterator[bytes]:
        """Read and decompress a body, and keep its bytes reserved until the block ends.

        Bytes are reserved while they are received: many slow connections cannot exceed the budget.
        """
        with self._reservation() as reservation:
            try:
                async with asyncio.timeout(READ_SECONDS):
                    body = await read_body(chunks, encoding, reservation.grow)
            except TimeoutError:
                raise Invalid(f"the body did not arrive within {READ_SECONDS} s") from None
            yield body

    @contextmanager
    def reserve(self, size_bytes: int) -> Iterator[None]:
        """Reserve the size of a body that was read elsewhere, until the block ends."""
        with self._reservation() as reservation:
            reservation.grow(size_bytes)
            yield

    @contextmanager
    def _reservation(self) -> Iterator["_Reservation"]:
        reservation = _Reservation(self)
        try:
            yield reservation
        finally:
            self._free_bytes += reservation.size_bytes

    def take(self, size_bytes: int) -> None:
        if size_bytes > self._free_bytes:
            raise Unavailable("too much is being received")
        self._free_bytes -= size_bytes


class _Reservation:
    """The bytes that one body has taken from the budget."""

    def __init__(self, memory: BodyMemory) -> None:
        self._memory = memory
        self.size_bytes = 0

    def grow(self, size_bytes: int) -> None:
        self._memory.take(size_bytes)
        self.size_bytes += size_bytes
