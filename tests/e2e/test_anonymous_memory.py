"""Memory that unauthenticated callers can make the service use, measured on the process."""

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import grpc
import grpc.aio
import pytest

from spanwise.ingest.compression import MAX_BODY_BYTES
from support.process import Running, run_service
from support.servers import free_port

MAX_KIB_PER_CONNECTION = 256


@pytest.fixture
def grpc_port() -> int:
    return free_port()


# One process per test: memory freed by an earlier test would hide what this one uses.
@pytest.fixture
def running(tmp_path: Path, grpc_port: int) -> Iterator[Running]:
    with run_service(tmp_path, otlp_grpc_port=grpc_port, rate_limit_standard=0) as service:
        service.get("/health")
        yield service


@pytest.fixture
def before_mb(running: Running) -> int:
    running.forget_peak()
    return running.peak_memory_mb()


async def test_anonymous_grpc_calls_end_before_their_messages_are_buffered(
    running: Running, grpc_port: int, before_mb: int
) -> None:
    calls = 160
    async with grpc.aio.insecure_channel(f"127.0.0.1:{grpc_port}") as channel:
        export: Any = channel.unary_unary(
            "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
        )
        body = bytes(MAX_BODY_BYTES - 64)
        sent = [export(body) for _ in range(calls)]
        async with asyncio.timeout(120):
            codes = {await call.code() for call in sent}
    assert codes == {grpc.StatusCode.UNAUTHENTICATED}
    assert running.peak_memory_mb() - before_mb < calls * MAX_KIB_PER_CONNECTION / 1024


LOGIN = b"POST /api/auth/login HTTP/1.1\r\nContent-Type: application/json\r\n"
PADDING = b"X-Pad: " + b"x" * 60_000 + b"\r\n"
FLOOD = b"x" * 2_000_000


REQUESTS = {
    "header": b"GET / HTTP/1.1\r\nX-Endless: " + FLOOD,
    "body": LOGIN + PADDING + b"Content-Length: 1000000\r\n\r\n" + FLOOD,
    "trailer": (LOGIN + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\nX-Trailer: " + FLOOD),
    "pipelined requests": b"GET /api/health HTTP/1.1\r\n\r\n" * 9_000,
    "unread responses": b"GET /api/openapi.json HTTP/1.1\r\n\r\n" * 20,
}


@pytest.mark.parametrize(
    ("kinds", "each"),
    [
        pytest.param(list(REQUESTS), 80, id="all"),
        *(pytest.param([kind], 200, marks=pytest.mark.long, id=kind) for kind in REQUESTS),
    ],
)
async def test_anonymous_connections_use_little_memory(
    running: Running, before_mb: int, kinds: list[str], each: int
) -> None:
    async def connect(sent: bytes) -> asyncio.StreamWriter:
        _, writer = await asyncio.open_connection("127.0.0.1", urlsplit(running.url).port)
        with contextlib.suppress(ConnectionError, TimeoutError):
            async with asyncio.timeout(2):
                for start in range(0, len(sent), 65_536):
                    writer.write(sent[start : start + 65_536])
                    await writer.drain()
        return writer

    sent = [REQUESTS[kind] for kind in kinds for _ in range(each)]
    writers = await asyncio.gather(*map(connect, sent))
    # The event loop takes turns: it has read more from every connection before each answer.
    for _ in range(10):
        assert (await asyncio.to_thread(running.get, "/health")).status_code == 200
    held_mb = running.peak_memory_mb() - before_mb
    for writer in writers:
        writer.transport.abort()
    assert held_mb < len(sent) * MAX_KIB_PER_CONNECTION / 1024
