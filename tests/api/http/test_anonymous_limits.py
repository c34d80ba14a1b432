"""Limits on size and time of a request before its caller is authenticated."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass

import pytest

from spanwise.api.http.anonymous_limits import (
    MAX_BODY_BYTES,
    MAX_HEAD_BYTES,
    MAX_HEADERS,
    MAX_PARAMETERS,
    MAX_URL_BYTES,
)
from support.listening import Listening, listening, raw
from support.polling import until
from support.service import Service

REQUEST_SECONDS = 1.0
KEEP_ALIVE_SECONDS = 2.5
CLOSE = "Connection: close"


@pytest.fixture(scope="module")
async def here(shared_service: Service) -> AsyncIterator[Listening]:
    async with listening(shared_service, KEEP_ALIVE_SECONDS, REQUEST_SECONDS) as opened:
        yield opened


def head(*headers: str, first: str = "GET /api/health HTTP/1.1") -> bytes:
    return "".join(f"{line}\r\n" for line in (first, "Host: x", *headers, "")).encode()


def login(*headers: str) -> bytes:
    first = "POST /api/auth/login HTTP/1.1"
    return head("Content-Type: application/json", *headers, first=first)


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def assert_refused(answer: bytes, reason: str) -> None:
    """Check that the response is one 400 in the envelope."""
    start, _, body = answer.partition(b"\r\n\r\n")
    assert start.startswith(b"HTTP/1.1 400 "), answer[:200]
    assert b"connection: close" in start
    sent = json.loads(body)
    assert sent["success"] is False
    assert sent["error"]["code"] == "VALIDATION_ERROR"
    assert reason in sent["error"]["message"]


async def until_connected(here: Listening, count: int) -> None:
    async def is_so() -> bool:
        return len(here.server.server_state.connections) == count

    await until(is_so, 20)


async def send_until_closed(port: int, packets: Iterable[bytes]) -> bytes:
    """Send until the service closes the connection, and return its response."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for packet in packets:
            writer.write(packet)
            await asyncio.wait_for(writer.drain(), 10)
    except ConnectionError:
        pass
    try:
        return await asyncio.wait_for(reader.read(), 10)
    except ConnectionError:
        return b""
    finally:
        writer.close()


@pytest.mark.parametrize("headers", [["X-Pad: " + "x" * 60_000], [f"X-{n}: x" for n in range(100)]])
async def test_headers_within_the_limits_are_accepted(here: Listening, headers: list[str]) -> None:
    assert status_of(await raw(here.port, head(*headers, CLOSE))) == 200


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        (["X-Pad: " + "x" * MAX_HEAD_BYTES], "larger than 65,536 bytes"),
        ([f"X-{n}: {'x' * 1000}" for n in range(80)], "larger than 65,536 bytes"),
        ([f"X-{n}: x" for n in range(MAX_HEADERS)], "128 headers at most"),
    ],
)
async def test_headers_over_a_limit_are_400_and_close(
    here: Listening, headers: list[str], reason: str
) -> None:
    assert_refused(await raw(here.port, head(*headers)), reason)


@pytest.mark.parametrize(
    ("query", "reason"),
    [("x" * MAX_URL_BYTES, "longer than"), ("a&" * MAX_PARAMETERS, "more than 256 parameters")],
)
async def test_a_url_over_a_limit_is_400_and_closes(
    here: Listening, query: str, reason: str
) -> None:
    request = head(first=f"GET /api/health?{query} HTTP/1.1")
    assert_refused(await raw(here.port, request), reason)


@pytest.mark.parametrize(
    "start",
    [
        head()[:-2] + b"X-Endless: ",
        head()[:-2] + b"Endless-name-",
        b"GET /api/health?",
        login("Transfer-Encoding: chunked") + b"1\r\n{\r\n0\r\nX-Trailer: ",
        login("Transfer-Encoding: chunked") + b"1;extension=",
        login("Content-Length: 2") + b"{}" + head()[:-2] + b"X-Endless: ",
    ],
    ids=["header", "header name", "address", "trailer", "chunk extension", "next request"],
)
async def test_endless_input_is_rejected_while_it_arrives(here: Listening, start: bytes) -> None:
    endless = (b"x" * 16_384 for _ in range(100))
    answer = await send_until_closed(here.port, (start, *endless))
    # The kernel may drop the response together with the unread input.
    assert not answer or b'"code":"VALIDATION_ERROR"' in answer
    await until_connected(here, 0)


async def test_a_long_chunk_extension_is_rejected(here: Listening) -> None:
    packets = (b"2;", *[b"x" * 10_000] * 4, b"\r\n{}\r\n0\r\n\r\n")
    start = login("Transfer-Encoding: chunked", CLOSE)
    answer = await send_until_closed(here.port, (start, *packets))
    # The kernel may drop the response together with the unread input.
    assert not answer or b"trailers are larger than 16,384 bytes" in answer


async def test_short_chunk_extensions_are_ignored(here: Listening) -> None:
    chunks = b"1;%b\r\n \r\n" % (b"x" * 30) * 1000
    start = login("Transfer-Encoding: chunked", CLOSE)
    answer = await send_until_closed(here.port, (start, chunks, b"2\r\n{}\r\n0\r\n\r\n"))
    assert status_of(answer) == 400
    assert b"email: is required" in answer


async def test_one_host_is_needed(here: Listening) -> None:
    get = b"GET /api/health HTTP/1.1\r\n%b\r\n"
    for hosts in (b"", b"Host: x\r\nHost: x\r\n", b"Host: x\r\nhost: y\r\n"):
        assert_refused(await raw(here.port, get % hosts), "must have one Host header")
    for host in (b"a b", b"a/b", b"u@a", b'"><script>', b"a:b", b"a,b", b"[::1", b"\xe4"):
        assert_refused(await raw(here.port, get % b"Host: %b\r\n" % host), "the Host header is not")
    for host in (b"", b"x", b"x.example:80", b"[::1]:8787", b"127.0.0.1:8787", b"my_service"):
        request = get % b"Host: %b\r\nConnection: close\r\n" % host
        assert status_of(await raw(here.port, request)) == 200, host
    assert status_of(await raw(here.port, b"GET /api/health HTTP/1.0\r\n\r\n")) == 200


async def test_trailers_are_ignored(here: Listening) -> None:
    trailers = b"".join(b"x-request-id: trailer-%03d\r\n" % number for number in range(500))
    body = b"2\r\n{}\r\n0\r\n" + trailers + b"\r\n"
    answer = await raw(here.port, login("Transfer-Encoding: chunked", CLOSE) + body)
    assert status_of(answer) == 400
    assert b"email: is required" in answer
    assert b"trailer-" not in answer


async def test_a_bad_request_is_rejected_after_earlier_responses(here: Listening) -> None:
    answer = await raw(here.port, head() + head() + b"NONSENSE\r\n\r\n")
    assert [part[:3] for part in answer.split(b"HTTP/1.1 ")[1:]] == [b"200", b"200", b"400"]


async def test_pipelined_requests_wait_unparsed(here: Listening) -> None:
    count = 500
    reader, writer = await asyncio.open_connection("127.0.0.1", here.port)
    writer.write(head() * (count - 1) + head(CLOSE))
    answer, most = b"", 0
    while piece := await asyncio.wait_for(reader.read(65_536), 20):
        answer += piece
        connections = here.server.server_state.connections
        most = max([most, *(len(connection.pipeline) for connection in connections)])  # type: ignore[union-attr]
    writer.close()
    assert answer.count(b"HTTP/1.1 200 OK") == count
    assert 0 < most < 64


async def test_bodies_without_authentication_are_limited(here: Listening) -> None:
    size = MAX_BODY_BYTES + 1
    answer = await raw(here.port, login(f"Content-Length: {size}", CLOSE) + b" " * size)
    assert status_of(answer) == 400
    assert b"larger than 8,192 bytes" in answer


async def test_the_largest_registration_fits(service: Service) -> None:
    body = {
        "email": f"{'a' * 64}@{'b' * 60}.example.com",
        "password": "\U0001f511\U0001f5dd" * 64,
        "name": "\U0001f600" * 200,
    }
    headers = {"Content-Type": "application/json"}
    sent = json.dumps(body).encode()
    assert b"\\ud83d" in sent
    answer = await service.call("POST", "/auth/register", content=sent, headers=headers)
    assert answer.status_code == 201, answer.text


# What a client sends before it stops, and why it is refused: not at all if nothing has begun.
INCOMPLETE = {
    "nothing": (b"", None),
    "an empty line": (b"\r\n", None),
    "half of the address": (b"GET /api/hea", "headers did not arrive within 1 s"),
    "half of a header": (head()[:-2] + b"X-Half: ", "headers did not arrive within 1 s"),
    "half of the body": (login("Content-Length: 100") + b"{", "body did not arrive within 1 s"),
}
MANY = 50


async def drip(port: int, start: bytes, seconds: float) -> float:
    """Send single bytes; return the seconds until the service closes the connection."""
    loop = asyncio.get_running_loop()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(start)
    started = loop.time()
    reading = asyncio.create_task(reader.read())
    while not reading.done() and loop.time() - started < seconds:
        await asyncio.sleep(0.1)
        if not writer.transport.is_closing():
            writer.write(b"x")
    writer.close()
    await asyncio.gather(reading, return_exceptions=True)
    return loop.time() - started


@dataclass
class Waited:
    """What happened on connections that were left waiting at the same time."""

    incomplete: dict[str, bytes]
    many: list[bytes]
    # Seconds until the connection was closed.
    single_bytes: float
    unread_body: float
    slow_body: bytes
    idle: bytes


@pytest.fixture(scope="module")
async def waited(here: Listening) -> Waited:
    port, refused = here.port, head("Content-Length: 100000", first="POST /api/keys HTTP/1.1")
    key = (await (await here.service.sign_up()).new_key())["key"]
    slow = head(
        f"x-api-key: {key}",
        "Content-Type: application/json",
        "Content-Length: 2",
        CLOSE,
        first="POST /v1/traces HTTP/1.1",
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("spanwise.api.routing.REQUEST_SECONDS", 1)
        async with asyncio.timeout(60):
            incomplete, many, single_bytes, unread_body, slow_body, idle = await asyncio.gather(
                asyncio.gather(*(raw(port, sent) for sent, _ in INCOMPLETE.values())),
                asyncio.gather(*(raw(port, head()[:-2]) for _ in range(MANY))),
                drip(port, head()[:-2] + b"X-Half: ", 15),
                drip(port, refused, 15),
                raw(port, slow, b"[]", seconds_between=REQUEST_SECONDS * 2),
                raw(port, head(), head(CLOSE), seconds_between=REQUEST_SECONDS * 1.5),
            )
    await until_connected(here, 0)
    names = dict(zip(INCOMPLETE, incomplete, strict=True))
    return Waited(names, many, single_bytes, unread_body, slow_body, idle)


@pytest.mark.parametrize("name", INCOMPLETE)
async def test_an_incomplete_request_times_out(waited: Waited, name: str) -> None:
    answer, reason = waited.incomplete[name], INCOMPLETE[name][1]
    if reason is None:
        assert answer == b""
    else:
        assert status_of(answer) == 400
        assert reason.encode() in answer


async def test_single_bytes_do_not_extend_the_timeout(waited: Waited) -> None:
    assert waited.single_bytes < 8


async def test_an_unread_body_does_not_keep_the_connection_open(waited: Waited) -> None:
    assert waited.unread_body < 8


async def test_many_incomplete_requests_are_closed(waited: Waited) -> None:
    assert len(waited.many) == MANY
    for answer in waited.many:
        assert_refused(answer, "headers did not arrive within 1 s")


async def test_an_authenticated_caller_may_send_a_body_slowly(waited: Waited) -> None:
    assert b"did not arrive" not in waited.slow_body
    assert status_of(waited.slow_body) == 400


async def test_an_idle_connection_stays_open(waited: Waited) -> None:
    assert waited.idle.count(b"HTTP/1.1 200 OK") == 2


async def test_an_unread_response_ends_the_connection(here: Listening) -> None:
    await until_connected(here, 0)
    request = head(first="GET /api/openapi.json HTTP/1.1")
    _, writer = await asyncio.open_connection("127.0.0.1", here.port, limit=1024)
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    writer.write(request * 60)
    await until_connected(here, 1)
    await until_connected(here, 0)
    writer.close()
