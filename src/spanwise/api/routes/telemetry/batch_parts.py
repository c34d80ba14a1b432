"""Runs requests of a batch through the whole application, as if each had been sent alone.

The caller is that of the batch, which was counted against the rate limit as one request.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

import structlog
from fastapi import Request
from starlette.types import ASGIApp, Message, Scope

from spanwise.api.http.anonymous_limits import MAX_URL_BYTES
from spanwise.api.http.errors import error_response
from spanwise.api.http.rate_limits import Tier, tier_of
from spanwise.api.routing import BATCH_FIELD
from spanwise.model.errors import Invalid

# What one batch may hold in memory; answers that do not fit are replaced by an error.
MAX_ANSWER_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True)
class Part:
    """A request of a batch: `POST` if it has a body, else `GET`."""

    path: str
    query: str
    body: bytes | None


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes

    def encode(self) -> bytes:
        return b'{"status":%d,"body":%b}' % (self.status, self.body)


async def answer_all(request: Request, parts: Sequence[Part]) -> AsyncIterator[bytes]:
    """Yield the envelope with all answers in order, each as soon as those before it are there."""
    room = _Room()
    running = [asyncio.create_task(_answer(request, part, room)) for part in parts]
    try:
        yield b'{"success":true,"data":[\n'
        for number, task in enumerate(running):
            # A line each, so that a client can read the first before the last is there.
            yield (b"," if number else b"") + (await task).encode() + b"\n"
        yield b"]}"
    finally:
        for task in running:
            task.cancel()


class _Room:
    """The bytes that the answers of a batch may still take."""

    def __init__(self) -> None:
        self._left = MAX_ANSWER_BYTES

    def take(self, size: int) -> bool:
        if size > self._left:
            return False
        self._left -= size
        return True


async def _answer(request: Request, part: Part, room: _Room) -> Answer:
    if (problem := _find_problem(part)) is not None:
        return _refuse(problem)
    answer = await _call(request.app, _scope_of(request, part), part.body or b"")
    if not room.take(len(answer.body)):
        return _refuse(f"the answers are larger than {MAX_ANSWER_BYTES:,} bytes; send this alone")
    return answer


def _find_problem(part: Part) -> str | None:
    if len(part.path) + len(part.query) >= MAX_URL_BYTES:
        return f"the URL is longer than {MAX_URL_BYTES:,} bytes"
    if tier_of(unquote(part.path)) is not Tier.STANDARD:
        return "only requests of the standard tier can be part of a batch"
    return None


def _refuse(problem: str) -> Answer:
    refusal = error_response(Invalid.field(BATCH_FIELD, problem))
    return Answer(refusal.status_code, bytes(refusal.body))


def _scope_of(request: Request, part: Part) -> Scope:
    outer = request.scope
    request_id = structlog.contextvars.get_contextvars()["request_id"]
    freshness = request.headers.get("cache-control", "")
    headers = [(b"x-request-id", request_id.encode()), (b"cache-control", freshness.encode())]
    if part.body is not None:
        length = b"%d" % len(part.body)
        headers += [(b"content-type", b"application/json"), (b"content-length", length)]
    kept = ("type", "asgi", "http_version", "server", "client", "scheme")
    return {
        **{name: outer[name] for name in kept if name in outer},
        "method": "GET" if part.body is None else "POST",
        "root_path": "",
        "path": unquote(part.path),
        "raw_path": part.path.encode(),
        "query_string": part.query.encode(),
        "headers": headers,
        "state": {"principal": request.state.principal, "is_in_batch": True},
    }


async def _call(app: ASGIApp, scope: Scope, body: bytes) -> Answer:
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
    status, chunks = 0, list[bytes]()

    async def receive() -> Message:
        return messages.pop() if messages else {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        nonlocal status
        status = message.get("status", status)
        chunks.append(message.get("body", b""))

    await app(scope, receive, send)
    return Answer(status, b"".join(chunks))
