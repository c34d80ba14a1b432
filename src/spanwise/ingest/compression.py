"""Unpacks request bodies in a stream that stops at the limit, so that a bomb cannot fill memory."""

import zlib
from collections.abc import AsyncIterator, Callable
from typing import Protocol

import zstandard

from spanwise.model.errors import Invalid

MAX_BODY_BYTES = 16 * 2**20

_CHUNK_BYTES = 2**20
_GZIP_BITS = 16 + zlib.MAX_WBITS


class TooLarge(Invalid):
    """The body is larger than the limit after unpacking."""

    def __init__(self) -> None:
        super().__init__(f"the body is larger than {MAX_BODY_BYTES:,} bytes after decompression")


class _Unpacker(Protocol):
    piece_bytes: int

    def unpack(self, data: bytes) -> tuple[bytes, bytes]:
        """Return some of what the data unpacks to, and the input that is left to be unpacked."""

    def finish(self) -> None:
        """Raise when the stream ended early."""


async def read_body(
    chunks: AsyncIterator[bytes], encoding: str, take_room: Callable[[int], None] = lambda _: None
) -> bytes:
    """Read a whole body, unpacked, or raise when it is too large or not what it says it is.

    `take_room` is told of each piece before it is kept, and may raise.
    """
    if encoding in {"", "identity"}:
        return await _collect(chunks, take_room)
    try:
        unpacker = _UNPACKERS[encoding]()
    except KeyError:
        known = ", ".join(_UNPACKERS)
        raise Invalid.field("Content-Encoding", f"must be one of {known}") from None
    try:
        return await _collect(_unpack(chunks, unpacker), take_room)
    except (zlib.error, zstandard.ZstdError, EOFError) as error:
        raise Invalid(f"the body is not valid {encoding}: {error}") from None


def unpack_small(body: bytes, max_bytes: int) -> bytes | None:
    """Unpack a whole body in gzip at once; None if it is larger, or not what it says it is."""
    stream = zlib.decompressobj(_GZIP_BITS)
    try:
        unpacked = stream.decompress(body, max_bytes)
    except zlib.error:
        return None
    return unpacked if stream.eof and not stream.unused_data else None


async def _collect(chunks: AsyncIterator[bytes], take_room: Callable[[int], None]) -> bytes:
    parts, size = [], 0
    async for chunk in chunks:
        size += len(chunk)
        if size > MAX_BODY_BYTES:
            raise TooLarge
        take_room(len(chunk))
        parts.append(chunk)
    return parts[0] if len(parts) == 1 else b"".join(parts)


async def _unpack(chunks: AsyncIterator[bytes], unpacker: _Unpacker) -> AsyncIterator[bytes]:
    async for chunk in chunks:
        for start in range(0, len(chunk), unpacker.piece_bytes):
            data = chunk[start : start + unpacker.piece_bytes]
            while data:
                unpacked, data = unpacker.unpack(data)
                yield unpacked
    unpacker.finish()


class _Zlib:
    """gzip and deflate. A body may be several streams, one after the other (RFC 1952)."""

    piece_bytes = 65_536

    def __init__(self, window_bits: int) -> None:
        self._window_bits = window_bits
        self._stream = zlib.decompressobj(window_bits)

    def unpack(self, data: bytes) -> tuple[bytes, bytes]:
        if self._stream.eof:
            self._stream = zlib.decompressobj(self._window_bits)
        unpacked = self._stream.decompress(data, _CHUNK_BYTES)
        return unpacked, self._stream.unused_data or self._stream.unconsumed_tail

    def finish(self) -> None:
        if not self._stream.eof:
            raise EOFError("it ends too early")


class _Zstd:
    """zstd. A body may be several frames, one after the other (RFC 8878)."""

    # The library has no output limit; small pieces bound what one call can make of them: a block
    # of 128 KiB can be written in 4 bytes, so this is 8 MiB at most.
    piece_bytes = 256

    def __init__(self) -> None:
        # A window of 8 MiB is the most that a receiver has to accept.
        self._decompressor = zstandard.ZstdDecompressor(max_window_size=2**23)
        self._stream = self._decompressor.decompressobj()

    def unpack(self, data: bytes) -> tuple[bytes, bytes]:
        if self._stream.eof:
            self._stream = self._decompressor.decompressobj()
        unpacked = self._stream.decompress(data)
        return unpacked, self._stream.unused_data

    def finish(self) -> None:
        if not self._stream.eof:
            raise EOFError("it ends too early")


_UNPACKERS: dict[str, Callable[[], _Unpacker]] = {
    "gzip": lambda: _Zlib(_GZIP_BITS),
    "deflate": lambda: _Zlib(zlib.MAX_WBITS),
    "zstd": _Zstd,
}
