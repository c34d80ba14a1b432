"""The service on a port with the HTTP protocol of `spanwise serve`, including the fast path."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
import uvicorn

from spanwise.api.fast_path import ExportFastPath, FastPathRequest, FastPathResponse, OnCommitted
from spanwise.cli.serve import listen, new_server
from spanwise.wiring.http import create_fast_path
from support.polling import until
from support.service import Service

# Headers that differ between responses.
_PER_RESPONSE = {"date", "x-request-id"}


@dataclass
class Listening:
    service: Service
    server: uvicorn.Server
    port: int
    http: httpx.AsyncClient
    # For each request that matched the fast path: whether the fast path handled it.
    handled: list[bool] = field(default_factory=list)

    def record(self, fast_path: ExportFastPath) -> None:
        handle = fast_path.handle

        def handle_recorded(
            request: FastPathRequest, body: bytes, on_committed: OnCommitted
        ) -> FastPathResponse | None:
            response = handle(request, body, on_committed)
            self.handled.append(response is not None)
            return response

        fast_path.handle = handle_recorded  # type: ignore[method-assign]


@asynccontextmanager
async def listening(
    service: Service, keep_alive_seconds: float = 5, request_seconds: float = 30
) -> AsyncIterator[Listening]:
    fast_path = create_fast_path(service.app)
    server = new_server(service.app, fast_path, request_seconds)
    server.config.timeout_keep_alive = keep_alive_seconds  # type: ignore[assignment]
    socket = listen("127.0.0.1", 0)
    port = socket.getsockname()[1]
    serving = asyncio.create_task(server.serve(sockets=[socket]))
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=30) as http:
        here = Listening(service, server, port, http)
        here.record(fast_path)
        try:
            yield here
        finally:
            server.should_exit = True
    await serving


async def until_shutting_down(here: Listening) -> None:
    """Wait until the server accepts no more connections."""

    async def is_closed() -> bool:
        return not any(server.is_serving() for server in here.server.servers)

    await until(is_closed, 20)


async def raw(port: int, *packets: bytes, seconds_between: float = 0.05) -> bytes:
    """Send bytes, and read until the service closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for number, packet in enumerate(packets):
        await asyncio.sleep(seconds_between if number else 0)
        writer.write(packet)
        await writer.drain()
    answer = await reader.read()
    writer.close()
    return answer


def stable_headers(response: httpx.Response) -> dict[str, str]:
    """Return the headers that do not differ between equal responses."""
    return {name: value for name, value in response.headers.items() if name not in _PER_RESPONSE}


@asynccontextmanager
async def paused_journal(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[threading.Event, threading.Event]]:
    """Block writes to the journal; yields the events `is_writing` and `may_write`."""
    journal = service.services.ingest.pipeline._journal
    append, may_write, is_writing = journal.append, threading.Event(), threading.Event()

    def append_later(*arguments: Any) -> None:
        is_writing.set()
        may_write.wait(20)
        append(*arguments)

    monkeypatch.setattr(journal, "append", append_later)
    try:
        yield is_writing, may_write
    finally:
        may_write.set()
