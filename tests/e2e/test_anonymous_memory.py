"""What callers without a key can make the real process hold, measured from outside."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest

from spanwise.ingest.compression import MAX_BODY_BYTES
from support.process import Running, run_service
from support.servers import free_port

MOST_KIB_EACH = 256


@pytest.fixture(scope="module")
def grpc_port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, grpc_port: int) -> Iterator[Running]:
    folder: Path = tmp_path_factory.mktemp("anonymous")
    with run_service(folder, otlp_grpc_port=grpc_port, rate_limit_standard=0) as service:
        service.get("/health")
        yield service


@pytest.fixture
def before_mb(running: Running) -> int:
    running.forget_peak()
    return running.peak_memory_mb()


async def test_anonymous_grpc_calls_end_before_their_messages_are_held(
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
    assert running.peak_memory_mb() - before_mb < calls * MOST_KIB_EACH / 1024
