"""Unpacks request bodies in a stream that stops at the limit, so that a bomb cannot fill memory."""

import zlib
from collections.abc import AsyncIterator, Callable
from typing import Protocol

import zstandard

from spanwise.model.errors import Invalid

MAX_BODY_BYTES = 16 * 2**20

_CHUNK_BYTES = 2**20


class TooLarge(Invalid):
    """The body is larger than the limit after unpacking."""

    def __init__(self) -> None:
        super().__init__(f"the body is larger than {MAX_BODY_BYTES:,} bytes after decompression")


class _Unpacker(Protocol):
    def unpack(self, data: bytes, max_bytes: int) -> bytes:
        """Return at most `max_bytes` of what the data unpacks to."""

    def pending(self) -> bytes:
        """Return the input that is not unpacked yet because the output limit was reached."""

    def finish(self) -> None:
        """Raise when the stream ended early."""


async def read_body(chunks: AsyncIterator[bytes], encoding: str) -> bytes:
    """Read a whole body, unpacked, or raise when it is too large or not what it says it is."""
    if encoding in {"", "identity"}:
        return await _collect(chunks)
    try:
        unpacker = _UNPACKERS[encoding]()
    except KeyError:
        known = ", ".join(_UNPACKERS)
        raise Invalid.field("Content-Encoding", f"must be one of {known}") from None
    try:
        return await _collect(_unpack(chunks, unpacker))
    except (zlib.error, zstandard.ZstdError, EOFError) as error:
        raise Invalid(f"the body is not valid {encoding}: {error}") from None


async def _collect(chunks: AsyncIterator[bytes]) -> bytes:
    parts, size = [], 0
    async for chunk in chunks:
        size += len(chunk)
        if size > MAX_BODY_BYTES:
            raise TooLarge
        parts.append(chunk)
    return parts[0] if len(parts) == 1 else b"".join(parts)


async def _unpack(chunks: AsyncIterator[bytes], unpacker: _Unpacker) -> AsyncIterator[bytes]:
    async for chunk in chunks:
        data = chunk
        while data:
            yield unpacker.unpack(data, _CHUNK_BYTES)
            data = unpacker.pending()
    unpacker.finish()


class _Zlib:
    def __init__(self, window_bits: int) -> None:
        self._stream = zlib.decompressobj(window_bits)

    def unpack(self, data: bytes, max_bytes: int) -> bytes:
        return self._stream.decompress(data, max_bytes)

    def pending(self) -> bytes:
        return self._stream.unconsumed_tail

    def finish(self) -> None:
        if not self._stream.eof:
            raise EOFError("it ends too early")


class _Zstd:
    def __init__(self) -> None:
        # A window of 8 MiB is the most that a receiver has to accept (RFC 8878).
        self._stream = zstandard.ZstdDecompressor(max_window_size=2**23).decompressobj()

    def unpack(self, data: bytes, max_bytes: int) -> bytes:
        # The library has no output limit; small pieces bound what one call can make of them.
        self._rest = data[_ZSTD_PIECE_BYTES:]
        return self._stream.decompress(data[:_ZSTD_PIECE_BYTES])

    def pending(self) -> bytes:
        return self._rest

    def finish(self) -> None:
        if not self._stream.eof:
            raise EOFError("it ends too early")


# One block of 128 KiB can be written in 4 bytes; 64 bytes of input are 2 MiB of output at most.
_ZSTD_PIECE_BYTES = 64

_UNPACKERS: dict[str, Callable[[], _Unpacker]] = {
    "gzip": lambda: _Zlib(16 + zlib.MAX_WBITS),
    "deflate": lambda: _Zlib(zlib.MAX_WBITS),
    "zstd": _Zstd,
}
