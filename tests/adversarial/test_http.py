"""Ambiguous and broken HTTP never gets a second answer, and is never half stored."""

import asyncio
import random
from collections.abc import AsyncIterator

import pytest

from support.listening import Listening, listening, raw
from support.otlp import make_span, make_traces
from support.service import Service

SEED = 20
HIDDEN = b"GET /api/version HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
POST = b"POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
SIZE = str(len(HIDDEN)).encode()
# The end of a body for those who read chunks, and its first bytes for those who read a length.
END = b"0\r\n\r\n" + HIDDEN


def framed(*headers: bytes, body: bytes = END, start: bytes = POST) -> bytes:
    return start + b"".join(b"%b\r\n" % header for header in headers) + b"\r\n" + body


def chunked(body: bytes) -> bytes:
    return framed(b"Transfer-Encoding: chunked", body=body)


# In each of them one server could see the hidden request as a second one, and another as a body.
SHAPES = {
    "length and chunks": framed(b"Content-Length: 5", b"Transfer-Encoding: chunked"),
    "chunks and length": framed(b"Transfer-Encoding: chunked", b"Content-Length: 5"),
    "two lengths": framed(b"Content-Length: 5", b"Content-Length: 99"),
    "a list of lengths": framed(b"Content-Length: 5, 99"),
    "a signed length": framed(b"Content-Length: +5"),
    "a negative length": framed(b"Content-Length: -1"),
    "a hexadecimal length": framed(b"Content-Length: 0x5"),
    "an octal length": framed(b"Content-Length: 5 5"),
    "a length with an exponent": framed(b"Content-Length: 5e0"),
    "an endless length": framed(b"Content-Length: 99999999999999999999999"),
    "an empty length": framed(b"Content-Length: "),
    "an unknown coding": framed(b"Transfer-Encoding: xchunked"),
    "chunks that are not last": framed(b"Transfer-Encoding: chunked, identity"),
    "two codings": framed(b"Transfer-Encoding: chunked", b"Transfer-Encoding: identity"),
    "chunks twice": framed(b"Transfer-Encoding: chunked", b"Transfer-Encoding: xchunked"),
    "a space before the colon": framed(b"Transfer-Encoding : chunked"),
    "a vertical tab": framed(b"Transfer-Encoding: \x0bchunked"),
    "a folded header": framed(b"X-A: a", b" Transfer-Encoding: chunked", b"Content-Length: 99"),
    "a bare line feed": framed(b"X-A: a\nTransfer-Encoding: chunked", b"Content-Length: 99"),
    "a bare carriage return": framed(b"X-A: a\rTransfer-Encoding: chunked", b"Content-Length: 99"),
    "a NUL": framed(b"X-A: a\x00b", b"Content-Length: 0", body=HIDDEN),
    "a name with a space": framed(b"X A: a", b"Content-Length: 0", body=HIDDEN),
    "a name with a bracket": framed(b"X[A]: a", b"Content-Length: 0", body=HIDDEN),
    "no name": framed(b": a", b"Content-Length: 0", body=HIDDEN),
    "no colon": framed(b"Header", b"Content-Length: 0", body=HIDDEN),
    "a hexadecimal chunk": chunked(b"0x0\r\n\r\n" + HIDDEN),
    "a signed chunk": chunked(b"+0\r\n\r\n" + HIDDEN),
    "a negative chunk": chunked(b"-1\r\n\r\n" + HIDDEN),
    "an overflowing chunk": chunked(b"10000000000000000\r\n" + HIDDEN),
    "a chunk that is longer": chunked(b"1\r\nab\r\n0\r\n\r\n" + HIDDEN),
    "a chunk without an end": chunked(b"1\r\na" + END),
    "line feeds after chunks": chunked(b"0\n\n" + HIDDEN),
    "a bare line feed in an extension": chunked(b"0;a\n\r\n\r\n" + HIDDEN),
    "an old version with chunks": framed(
        b"Transfer-Encoding: chunked", start=POST.replace(b"1.1", b"1.0"), body=b"5\r\n" + END
    ),
    "an unknown version": framed(start=POST.replace(b"1.1", b"1.9"), body=HIDDEN),
    "another major version": framed(start=POST.replace(b"1.1", b"3.0"), body=HIDDEN),
    "no version": b"GET /api/health\r\n\r\n" + HIDDEN,
    "a body of a read": framed(
        b"Content-Length: " + SIZE,
        b"Connection: close",
        start=b"GET /api/health HTTP/1.1\r\nHost: x\r\n",
        body=HIDDEN,
    ),
    "an upgrade with a body": framed(
        b"Upgrade: h2c", b"Connection: upgrade, close", b"Content-Length: " + SIZE, body=HIDDEN
    ),
    "a tunnel": framed(start=b"CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n", body=HIDDEN),
    "two hosts": framed(b"Host: y", b"Content-Length: 0", body=HIDDEN),
    "a host that is no name": HIDDEN.replace(b"Host: x", b"Host: x/../y") + HIDDEN,
}


@pytest.fixture(scope="module")
async def here(shared_service: Service) -> AsyncIterator[Listening]:
    async with listening(shared_service, keep_alive_seconds=0.5, request_seconds=1) as opened:
        yield opened


@pytest.mark.parametrize("shape", SHAPES)
async def test_an_ambiguous_request_hides_no_other(here: Listening, shape: str) -> None:
    answer = await asyncio.wait_for(raw(here.port, SHAPES[shape]), 20)
    assert answer.count(b"HTTP/1.1 ") <= 1, answer
    assert b'"version"' not in answer, answer
    assert not answer.startswith(b"HTTP/1.1 5"), answer


async def test_the_hidden_request_has_an_answer_of_its_own(here: Listening) -> None:
    """Otherwise the test above could not fail."""
    assert b'"version"' in await raw(here.port, framed(b"Content-Length: 0", body=HIDDEN))


async def test_pipelined_requests_are_answered_in_order(here: Listening) -> None:
    count = 300
    requests = [
        b"GET /api/nothing/%d HTTP/1.1\r\nHost: x\r\n\r\n" % number for number in range(count)
    ]
    answer = await asyncio.wait_for(raw(here.port, b"".join(requests) + HIDDEN), 60)
    places = [answer.find(b'GET /api/nothing/%d"' % number) for number in range(count)]
    assert -1 not in places
    assert places == sorted(places)


@pytest.mark.long
async def test_an_export_that_is_cut_is_not_stored(here: Listening) -> None:
    person = await here.service.sign_up()
    key = (await person.new_key(scopes=["ingest"]))["key"]
    dice = random.Random(SEED)
    for number in range(300):
        body = make_traces([make_span(name=f"cut {number}", text="x" * 5000)]).SerializeToString()
        request = b"".join(
            (
                b"POST /v1/traces HTTP/1.1\r\nHost: x\r\nx-api-key: %b\r\n" % key.encode(),
                b"Content-Type: application/x-protobuf\r\nContent-Length: %d\r\n\r\n" % len(body),
                body,
            )
        )
        _, writer = await asyncio.open_connection("127.0.0.1", here.port)
        writer.write(request[: dice.randrange(20, len(request) - 1)])
        await writer.drain()
        writer.close() if number % 2 else writer.transport.abort()
    whole = make_traces([make_span(name="whole")]).SerializeToString()
    headers = {"x-api-key": key, "content-type": "application/x-protobuf"}
    sent = await here.http.post("/v1/traces", content=whole, headers=headers)
    assert sent.status_code == 200
    assert [trace["name"] for trace in await person.data("GET", "/spans/traces")] == ["whole"]
