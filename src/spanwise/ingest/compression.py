"""Reads request bodies and decompresses them, with limits against decompression bombs."""

import asyncio
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Protocol

import zstandard

from spanwise.model.errors import Invalid

MAX_BODY_BYTES = 16 * 2**20
# A body may consist of several streams (RFC 1952, RFC 8878). Empty ones take time, but no space.
MAX_STREAMS = 100

# More than this is decompressed in a thread.
_LOOP_BYTES = 65_536
_CHUNK_BYTES = 2**20
_GZIP_BITS = 16 + zlib.MAX_WBITS


class TooLarge(Invalid):
    """The body exceeds the limit, as it was sent or after decompression."""

    def __init__(self) -> None:
        super().__init__(f"the body is larger than {MAX_BODY_BYTES:,} bytes after decompression")


class _Stream(Protocol):
    # The size of the inputs that `decompress` gets.
    input_bytes: int

    @property
    def is_complete(self) -> bool: ...

    def decompress(self, data: bytes) -> tuple[bytes, bytes]:
        """Return some output and the input that is left."""


async def read_body(
    chunks: AsyncIterator[bytes], encoding: str, reserve: Callable[[int], None] = lambda _: None
) -> bytes:
    """Read and decompress a whole body. Raises Invalid when it is too large or malformed.

    `reserve` is called with the size of each chunk before it is kept, and may raise.
    """
    if encoding in {"", "identity"}:
        return await _collect(chunks, reserve)
    try:
        new_stream = _STREAMS[encoding]
    except KeyError:
        known = ", ".join(_STREAMS)
        raise Invalid.field("Content-Encoding", f"must be one of {known}") from None
    data = await _collect(chunks, reserve)
    try:
        return await _collect(_decompress(new_stream, data), reserve)
    except (zlib.error, zstandard.ZstdError, EOFError) as error:
        raise Invalid(f"the body is not valid {encoding}: {error}") from None


def unpack_small(body: bytes, max_bytes: int) -> bytes | None:
    """Decompress a gzip body in one call; None when it is larger or malformed."""
    stream = zlib.decompressobj(_GZIP_BITS)
    try:
        decompressed = stream.decompress(body, max_bytes)
    except zlib.error:
        return None
    return decompressed if stream.eof and not stream.unused_data else None


async def _collect(chunks: AsyncIterator[bytes], reserve: Callable[[int], None]) -> bytes:
    parts, size = [], 0
    async for chunk in chunks:
        size += len(chunk)
        if size > MAX_BODY_BYTES:
            raise TooLarge
        reserve(len(chunk))
        parts.append(chunk)
    return parts[0] if len(parts) == 1 else b"".join(parts)


async def _decompress(new_stream: Callable[[], _Stream], data: bytes) -> AsyncIterator[bytes]:
    pieces = _pieces(new_stream, data)
    if len(data) <= _LOOP_BYTES:
        yield (first := _join(pieces, _LOOP_BYTES))
        if len(first) < _LOOP_BYTES:
            return
    part: bytes | None = None
    while part is None or len(part) >= _CHUNK_BYTES:
        yield (part := await asyncio.to_thread(_join, pieces, _CHUNK_BYTES))


def _join(pieces: Iterator[bytes], wanted_bytes: int) -> bytes:
    """Return the next pieces, together at least that large unless they are the last ones."""
    parts, size = [], 0
    for piece in pieces:
        parts.append(piece)
        size += len(piece)
        if size >= wanted_bytes:
            break
    return b"".join(parts)


def _pieces(new_stream: Callable[[], _Stream], data: bytes) -> Iterator[bytes]:
    stream, streams = new_stream(), 1
    for start in range(0, len(data), stream.input_bytes):
        left = data[start : start + stream.input_bytes]
        while left:
            if stream.is_complete:
                stream, streams = new_stream(), streams + 1
            if streams > MAX_STREAMS:
                raise Invalid(f"the body has more than {MAX_STREAMS} compressed streams")
            piece, left = stream.decompress(left)
            yield piece
    if not stream.is_complete:
        raise EOFError("it ends too early")


class _Zlib:
    """A stream of gzip or deflate."""

    input_bytes = 65_536

    def __init__(self, window_bits: int) -> None:
        self._stream = zlib.decompressobj(window_bits)

    @property
    def is_complete(self) -> bool:
        return self._stream.eof

    def decompress(self, data: bytes) -> tuple[bytes, bytes]:
        decompressed = self._stream.decompress(data, _CHUNK_BYTES)
        return decompressed, self._stream.unused_data or self._stream.unconsumed_tail


class _Zstd:
    """A frame of zstd."""

    # The library cannot limit its output, so small inputs have to: 4 bytes can encode a block of
    # 128 KiB, so one call returns at most 8 MiB.
    input_bytes = 256

    def __init__(self) -> None:
        # 8 MiB is the largest window that a receiver must accept (RFC 8878).
        self._stream = zstandard.ZstdDecompressor(max_window_size=2**23).decompressobj()

    @property
    def is_complete(self) -> bool:
        return self._stream.eof

    def decompress(self, data: bytes) -> tuple[bytes, bytes]:
        return self._stream.decompress(data), self._stream.unused_data


_STREAMS: dict[str, Callable[[], _Stream]] = {
    "gzip": lambda: _Zlib(_GZIP_BITS),
    "deflate": lambda: _Zlib(zlib.MAX_WBITS),
    "zstd": _Zstd,
}
