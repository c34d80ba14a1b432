"""The service on a port, as `spanwise serve` runs it: what goes by its way of speaking HTTP."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
import uvicorn

from spanwise.api.fast_path.assign import AssignLane
from spanwise.api.fast_path.dispatch import Asked, Begun, Lane, TellBegun
from spanwise.api.fast_path.export import ExportLane
from spanwise.cli.serve import listen, new_server
from support.service import Service

# They differ from one answer to the next.
_OF_ONE_ANSWER = {"date", "x-request-id"}


@dataclass
class Listening:
    service: Service
    server: uvicorn.Server
    port: int
    http: httpx.AsyncClient
    # Of each request for a lane whose caller was known: whether it took it.
    taken: list[bool] = field(default_factory=list)

    def note(self, lane: Lane) -> None:
        begin = lane.begin

        def begin_noted(asked: Asked, body: bytes, tell: TellBegun) -> Begun | None:
            begun = begin(asked, body, tell)
            self.taken.append(begun is not None)
            return begun

        lane.begin = begin_noted  # type: ignore[method-assign]


@asynccontextmanager
async def listening(
    service: Service, keep_alive_seconds: float = 5, request_seconds: float = 30
) -> AsyncIterator[Listening]:
    lanes = [lane(service.services, service.app.state.meter) for lane in (ExportLane, AssignLane)]
    server = new_server(service.app, *lanes, request_seconds=request_seconds)
    server.config.timeout_keep_alive = keep_alive_seconds  # type: ignore[assignment]
    socket = listen("127.0.0.1", 0)
    port = socket.getsockname()[1]
    serving = asyncio.create_task(server.serve(sockets=[socket]))
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=30) as http:
        here = Listening(service, server, port, http)
        for lane in lanes:
            here.note(lane)
        try:
            yield here
        finally:
            server.should_exit = True
    await serving


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


def lasting_headers(response: httpx.Response) -> dict[str, str]:
    """What the head of an answer says of more than this one answer."""
    return {name: value for name, value in response.headers.items() if name not in _OF_ONE_ANSWER}


@asynccontextmanager
async def a_journal_that_waits(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[threading.Event, threading.Event]]:
    """Let the journal write only when told; says when it wants to."""
    journal = service.services.pipeline._journal
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
