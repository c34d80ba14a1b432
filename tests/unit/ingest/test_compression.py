"""Bodies are decompressed in a stream with bounded memory, completely or not at all."""

import asyncio
import gzip
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Callable

import pytest
import zstandard

from spanwise.ingest.compression import MAX_BODY_BYTES, TooLarge, read_body
from spanwise.model.errors import Invalid

PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "zstd": zstandard.compress,
}
TEXT = b"the quick brown fox " * 10_000
MIB = 2**20


async def in_chunks(data: bytes, size: int = 65_536) -> AsyncIterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


@pytest.mark.parametrize("chunk_bytes", [1, 7, 65_536, 10**9])
@pytest.mark.parametrize("encoding", PACK)
async def test_a_compressed_body_is_decompressed_whatever_its_chunks(
    encoding: str, chunk_bytes: int
) -> None:
    packed = PACK[encoding](TEXT)
    assert await read_body(in_chunks(packed, chunk_bytes), encoding) == TEXT


@pytest.mark.parametrize("encoding", ["", "identity"])
async def test_a_plain_body_is_unchanged(encoding: str) -> None:
    assert await read_body(in_chunks(TEXT), encoding) == TEXT


async def test_an_empty_plain_body_is_empty() -> None:
    assert await read_body(in_chunks(b""), "") == b""


@pytest.mark.parametrize("encoding", PACK)
async def test_concatenated_streams_are_one_body(encoding: str) -> None:
    packed = PACK[encoding](b"first ") + PACK[encoding](b"second")
    for size in (1, 5, 10_000):
        assert await read_body(in_chunks(packed, size), encoding) == b"first second"


@pytest.mark.parametrize("encoding", ["", *PACK])
async def test_a_body_at_the_limit_is_accepted_and_one_byte_more_is_not(
    encoding: str,
) -> None:
    pack = PACK.get(encoding, bytes)
    body = await read_body(in_chunks(pack(b"x" * MAX_BODY_BYTES)), encoding)
    assert len(body) == MAX_BODY_BYTES
    with pytest.raises(TooLarge):
        await read_body(in_chunks(pack(b"x" * (MAX_BODY_BYTES + 1))), encoding)


@pytest.mark.parametrize("chunk_bytes", [65_536, 10**9])
@pytest.mark.parametrize("encoding", PACK)
async def test_a_decompression_bomb_stops_at_the_limit_with_bounded_memory(
    encoding: str, chunk_bytes: int
) -> None:
    bomb = PACK[encoding](bytes(64 * MIB))
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge):
            await read_body(in_chunks(bomb, chunk_bytes), encoding)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # The collected body, and one more chunk.
    assert peak_bytes < MAX_BODY_BYTES + 16 * MIB


@pytest.mark.parametrize("encoding", PACK)
async def test_empty_streams_are_bounded(encoding: str) -> None:
    """They never reach the limit of the decompressed size."""
    empty = PACK[encoding](b"")
    assert await read_body(in_chunks(PACK[encoding](TEXT) + empty * 99), encoding) == TEXT
    with pytest.raises(Invalid, match="more than 100 compressed streams"):
        await read_body(in_chunks(empty * 101), encoding)


async def test_compressed_bytes_are_bounded_too() -> None:
    # Stored blocks without content (RFC 1951): five bytes of input each, and no output.
    endless = zlib.compress(b"")[:2] + b"\0\0\0\xff\xff" * (MAX_BODY_BYTES // 5)
    taken = 0

    async def count() -> AsyncIterator[bytes]:
        nonlocal taken
        async for chunk in in_chunks(endless + bytes(MAX_BODY_BYTES)):
            taken += len(chunk)
            yield chunk

    with pytest.raises(TooLarge):
        await read_body(count(), "deflate")
    assert taken <= MAX_BODY_BYTES + 65_536


async def test_others_get_their_turn_while_a_large_body_is_decompressed() -> None:
    turns = 0

    async def take_turns() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    other = asyncio.create_task(take_turns())
    body = await read_body(in_chunks(gzip.compress(bytes(MAX_BODY_BYTES))), "gzip")
    other.cancel()
    assert len(body) == MAX_BODY_BYTES
    # One for each MiB at least.
    assert turns >= 16


async def test_a_zstd_frame_that_demands_a_huge_window_is_refused() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=27)
    packed = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    data = packed.compress(bytes(MIB)) + packed.flush()
    with pytest.raises(Invalid, match="not valid zstd"):
        await read_body(in_chunks(data), "zstd")


@pytest.mark.parametrize("encoding", PACK)
async def test_garbage_is_refused(encoding: str) -> None:
    with pytest.raises(Invalid, match=f"not valid {encoding}"):
        await read_body(in_chunks(b"this is not packed at all"), encoding)


@pytest.mark.parametrize("encoding", PACK)
async def test_garbage_after_a_valid_stream_is_refused(encoding: str) -> None:
    with pytest.raises(Invalid, match=f"not valid {encoding}"):
        await read_body(in_chunks(PACK[encoding](TEXT) + b"garbage!"), encoding)


@pytest.mark.parametrize("kept", [0, 1, 10, -1])
@pytest.mark.parametrize("encoding", PACK)
async def test_a_truncated_body_is_refused(encoding: str, kept: int) -> None:
    with pytest.raises(Invalid, match="too early"):
        await read_body(in_chunks(PACK[encoding](TEXT)[:kept]), encoding)


async def test_an_unknown_encoding_is_refused_with_its_name() -> None:
    with pytest.raises(Invalid) as caught:
        await read_body(in_chunks(b"x"), "br")
    assert [problem.field for problem in caught.value.details] == ["Content-Encoding"]
    assert "gzip, deflate, zstd" in caught.value.message
