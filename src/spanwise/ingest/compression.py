"""Decompresses request bodies as a stream, with a size limit against decompression bombs."""

import zlib
from collections.abc import AsyncIterator, Callable
from typing import Protocol

import zstandard

from spanwise.model.errors import Invalid

MAX_BODY_BYTES = 16 * 2**20

_CHUNK_BYTES = 2**20
_GZIP_BITS = 16 + zlib.MAX_WBITS


class TooLarge(Invalid):
    """The body exceeds the limit after decompression."""

    def __init__(self) -> None:
        super().__init__(f"the body is larger than {MAX_BODY_BYTES:,} bytes after decompression")


class _Decompressor(Protocol):
    input_bytes: int

    def decompress(self, data: bytes) -> tuple[bytes, bytes]:
        """Return some output and the input that is left."""

    def finish(self) -> None:
        """Raise when the stream is truncated."""


async def read_body(
    chunks: AsyncIterator[bytes], encoding: str, reserve: Callable[[int], None] = lambda _: None
) -> bytes:
    """Read and decompress a whole body. Raises Invalid when it is too large or malformed.

    `reserve` is called with the size of each chunk before it is kept, and may raise.
    """
    if encoding in {"", "identity"}:
        return await _collect(chunks, reserve)
    try:
        decompressor = _DECOMPRESSORS[encoding]()
    except KeyError:
        known = ", ".join(_DECOMPRESSORS)
        raise Invalid.field("Content-Encoding", f"must be one of {known}") from None
    try:
        return await _collect(_decompress_all(chunks, decompressor), reserve)
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


async def _decompress_all(
    chunks: AsyncIterator[bytes], decompressor: _Decompressor
) -> AsyncIterator[bytes]:
    async for chunk in chunks:
        for start in range(0, len(chunk), decompressor.input_bytes):
            data = chunk[start : start + decompressor.input_bytes]
            while data:
                decompressed, data = decompressor.decompress(data)
                yield decompressed
    decompressor.finish()


class _Zlib:
    """gzip and deflate. A body may consist of several streams (RFC 1952)."""

    input_bytes = 65_536

    def __init__(self, window_bits: int) -> None:
        self._window_bits = window_bits
        self._stream = zlib.decompressobj(window_bits)

    def decompress(self, data: bytes) -> tuple[bytes, bytes]:
        if self._stream.eof:
            self._stream = zlib.decompressobj(self._window_bits)
        decompressed = self._stream.decompress(data, _CHUNK_BYTES)
        return decompressed, self._stream.unused_data or self._stream.unconsumed_tail

    def finish(self) -> None:
        if not self._stream.eof:
            raise EOFError("it ends too early")


class _Zstd:
    """zstd. A body may consist of several frames (RFC 8878)."""

    # The library cannot limit its output, so small inputs have to: 4 bytes can encode a block of
    # 128 KiB, so one call returns at most 8 MiB.
    input_bytes = 256

    def __init__(self) -> None:
        # 8 MiB is the largest window that a receiver must accept (RFC 8878).
        self._decompressor = zstandard.ZstdDecompressor(max_window_size=2**23)
        self._stream = self._decompressor.decompressobj()

    def decompress(self, data: bytes) -> tuple[bytes, bytes]:
        if self._stream.eof:
            self._stream = self._decompressor.decompressobj()
        decompressed = self._stream.decompress(data)
        return decompressed, self._stream.unused_data

    def finish(self) -> None:
        if not self._stream.eof:
            raise EOFError("it ends too early")


_DECOMPRESSORS: dict[str, Callable[[], _Decompressor]] = {
    "gzip": lambda: _Zlib(_GZIP_BITS),
    "deflate": lambda: _Zlib(zlib.MAX_WBITS),
    "zstd": _Zstd,
}
