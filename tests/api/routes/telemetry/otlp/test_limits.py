"""Rate limits, memory limits and a full disk: OTLP errors with a retry delay."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from google.rpc import code_pb2

from spanwise.ingest import body_memory
from spanwise.ingest.body_memory import BodyMemory
from spanwise.model.errors import Invalid, Unavailable
from support.otlp import JSON, PROTOBUF, Exporter, make_span, make_traces, status_of
from support.service import start_service


@pytest.mark.parametrize("path", ["/api/otlp/v1/traces", "/v1/traces", "/v1/logs"])
async def test_a_request_over_the_rate_limit_is_429_as_otlp(tmp_path: Path, path: str) -> None:
    async with start_service(tmp_path, rate_limit_ingestion=1) as service:
        person = await service.sign_up()
        exporter = Exporter(service.http, (await person.new_key())["key"])
        assert (await exporter.post(b"", path)).status_code == 200
        response = await exporter.post(b"", path)
        assert response.status_code == 429
        assert status_of(response).code == code_pb2.RESOURCE_EXHAUSTED
        assert 1 <= int(response.headers["retry-after"]) <= 61
        assert response.headers["x-ratelimit-remaining"] == "0"
        as_json = await exporter.post(b"{}", path, JSON)
        assert as_json.headers["content-type"] == JSON
        assert as_json.json()["code"] == code_pb2.RESOURCE_EXHAUSTED


async def test_a_full_disk_is_503_with_retry_after_and_reads_continue(tmp_path: Path) -> None:
    async with start_service(tmp_path, min_free_disk_mb=2**40) as service:
        person = await service.sign_up()
        exporter = Exporter(service.http, (await person.new_key())["key"])
        response = await exporter.post(make_traces([make_span()]))
        assert response.status_code == 503
        assert status_of(response).code == code_pb2.UNAVAILABLE
        assert 1 <= int(response.headers["retry-after"]) <= 5
        as_rest = await person.call(
            "POST",
            "/spans",
            json={
                "traceId": "ab" * 16,
                "spanId": "cd" * 8,
                "name": "x",
                "startTime": "2026-01-01T00:00:00Z",
            },
        )
        assert as_rest.status_code == 503
        assert as_rest.json()["error"]["code"] == "INTERNAL_ERROR"
        assert 1 <= int(as_rest.headers["retry-after"]) <= 5
        assert await person.data("GET", "/spans/traces") == []


async def test_memory_for_bodies_in_flight_is_bounded(tmp_path: Path) -> None:
    memory = BodyMemory(max_bytes=100)
    release = asyncio.Event()

    async def slowly(size: int) -> AsyncIterator[bytes]:
        yield b"x" * size
        await release.wait()

    async def receive(size: int) -> int:
        async with memory.read(slowly(size), "") as body:
            return len(body)

    first = asyncio.create_task(receive(60))
    await asyncio.sleep(0)
    with pytest.raises(Unavailable) as caught:
        await receive(60)
    assert 1 <= caught.value.retry_after_seconds <= 5
    release.set()
    assert await first == 60
    # The memory is released after success and after refusal.
    assert await receive(100) == 100


async def test_a_body_that_never_ends_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body_memory, "READ_SECONDS", 0.05)

    async def never() -> AsyncIterator[bytes]:
        yield b"x"
        await asyncio.Event().wait()

    with pytest.raises(Invalid, match="did not arrive"):
        async with BodyMemory(max_bytes=100).read(never(), ""):
            pass


async def test_a_server_error_is_a_status_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with start_service(tmp_path) as service:
        person = await service.sign_up()
        exporter = Exporter(service.http, (await person.new_key())["key"])
        monkeypatch.setattr(service.services.receiver, "receive_otlp", None)
        response = await exporter.post(make_traces([make_span()]), content_type=PROTOBUF)
        assert response.status_code == 500
        assert status_of(response).code == code_pb2.INTERNAL
        assert "NoneType" not in status_of(response).message
