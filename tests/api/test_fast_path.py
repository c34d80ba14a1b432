"""Small exports in protobuf take a fast path that responds like the normal path."""

import asyncio
import gzip
import re
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx
import pytest
from google.rpc import code_pb2
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from spanwise.api.fast_path import MAX_BODY_BYTES
from spanwise.api.protocol import fast_path_dispatch
from spanwise.services import access
from support.listening import (
    Listening,
    listening,
    paused_journal,
    raw,
    stable_headers,
    until_shutting_down,
)
from support.otlp import (
    JSON,
    PROTOBUF,
    Exporter,
    make_logs,
    make_metrics,
    make_span,
    make_traces,
    status_of,
)
from support.polling import until
from support.service import Person, Service, start_service

LIMIT = 9


@pytest.fixture(scope="module")
async def here(shared_service: Service) -> AsyncIterator[Listening]:
    async with listening(shared_service) as opened:
        yield opened


@pytest.fixture(scope="module")
async def limited(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Listening]:
    """A service with a low limit for each caller, whose requests and failures are counted."""
    folder = tmp_path_factory.mktemp("limited")
    async with (
        start_service(folder, rate_limit_ingestion=LIMIT) as service,
        listening(service) as opened,
    ):
        yield opened


async def counted(here: Listening, name: str) -> float:
    """Return a number in the metrics of the service."""
    text = (await here.http.get("/metrics")).text
    found = re.search(re.escape(name) + r" (\S+)", text)
    return float(found[1]) if found else 0


@pytest.fixture(autouse=True)
def _long_cache_ttl(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep cached keys for the whole test, however slow the machine is."""
    monkeypatch.setattr(access, "CACHE_SECONDS", 60.0)


@dataclass
class Sender:
    """A sender whose key is cached, so that the fast path may handle its exports."""

    person: Person
    exporter: Exporter

    @classmethod
    async def of(cls, here: Listening) -> "Sender":
        person = await here.service.sign_up()
        exporter = Exporter(here.http, (await person.new_key(scopes=["ingest"]))["key"])
        assert (await exporter.post(b"")).status_code == 200
        here.handled.clear()
        return cls(person, exporter)

    def request(self, body: bytes, *headers: str) -> tuple[bytes, bytes]:
        """Return headers and body as they go over the wire."""
        lines = [
            "POST /v1/traces HTTP/1.1",
            "Host: test",
            f"x-api-key: {self.exporter.key}",
            f"Content-Type: {PROTOBUF}",
            f"Content-Length: {len(body)}",
            *headers,
        ]
        return ("\r\n".join(lines) + "\r\n\r\n").encode(), body

    async def names(self) -> list[str]:
        return sorted(trace["name"] for trace in await self.person.data("GET", "/spans/traces"))


def traces(*names: str) -> bytes:
    return make_traces([make_span(name=name) for name in names]).SerializeToString()


async def test_the_fast_path_responds_like_the_normal_path(here: Listening) -> None:
    exports = {
        "/api/otlp/v1/traces": make_traces([make_span()]),
        "/v1/logs": make_logs(),
        "/v1/metrics": make_metrics(),
    }
    sender = await Sender.of(here)
    normal = Exporter(here.service.http, sender.exporter.key)
    for path, body in exports.items():
        fast, other = await sender.exporter.post(body, path), await normal.post(body, path)
        assert fast.status_code == other.status_code == 200
        assert fast.content == other.content == b""
        assert stable_headers(fast) == stable_headers(other)
        packed = gzip.compress(body.SerializeToString())
        fast = await sender.exporter.post(packed, path, content_encoding="gzip")
        assert fast.status_code == 200
        assert stable_headers(fast) == stable_headers(other)
    assert here.handled == [True] * 6
    assert len(await sender.person.data("GET", "/spans/traces")) == 1
    assert len(await sender.person.data("GET", "/logs")) == 1


async def test_an_export_is_stored_before_it_is_acknowledged(
    limited: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = 'http_requests_total{method="POST",route="/api/otlp/v1/traces",status="200"}'
    items = 'spanwise_ingest_items_total{kind="traces"}'
    before = await counted(limited, requests), await counted(limited, items)
    sender = await Sender.of(limited)
    async with paused_journal(limited.service, monkeypatch) as (is_writing, may_write):
        sending = asyncio.create_task(sender.exporter.post(traces("kept")))
        await asyncio.to_thread(is_writing.wait, 20)
        await asyncio.sleep(0.1)
        assert not sending.done()
        may_write.set()
        assert (await sending).status_code == 200
    assert limited.handled == [True]
    after = await counted(limited, requests), await counted(limited, items)
    assert after == (before[0] + 2, before[1] + 1)
    assert await sender.names() == ["kept"]


async def test_a_cookie_does_not_change_what_a_key_gets(here: Listening) -> None:
    sender = await Sender.of(here)
    cookie = f"{here.service.services.identity.session_cookie.name}={sender.person.token}"
    posted = await sender.exporter.post(
        traces("x"), cookie=cookie, x_spanwise_dashboard="1", sec_fetch_site="same-origin"
    )
    assert posted.status_code == 200
    assert here.handled == [True]


async def test_other_exports_take_the_normal_path(here: Listening) -> None:
    sender = await Sender.of(here)
    post = sender.exporter.post
    # Concatenated gzip streams are one body.
    whole = traces("packed")
    packed = gzip.compress(whole[:9]) + gzip.compress(whole[9:])
    assert (await post(packed, content_encoding="gzip")).status_code == 200
    assert (await post(packed[:-1], content_encoding="gzip")).status_code == 400
    assert (await post(whole, content_encoding="gzip")).status_code == 400
    deflated = zlib.compress(traces("deflated"))
    assert (await post(deflated, content_encoding="deflate")).status_code == 200
    assert (await post(traces("of a page"), origin="https://a.example")).status_code == 200
    assert (await post(b'{"resourceSpans":[]}', content_type=JSON)).status_code == 200
    large = make_traces([make_span(name="large", text="x" * MAX_BODY_BYTES)])
    assert (await post(large)).status_code == 200
    bomb = gzip.compress(bytes(2**25))
    assert (await post(bomb, content_encoding="gzip")).status_code == 413
    half = make_traces([make_span(name="half"), make_span(b"short")])
    response = ExportTraceServiceResponse.FromString((await post(half)).content)
    assert response.partial_success.rejected_spans == 1
    assert status_of(await post(b"\xff\xff")).code == code_pb2.INVALID_ARGUMENT
    assert "/v1/logs" in status_of(await post(make_logs())).message
    assert (await post(traces("x"), x_api_key="sw_" + "0" * 48)).status_code == 401
    assert not any(here.handled)
    assert await sender.names() == ["deflated", "half", "large", "of a page", "packed"]


async def test_the_first_of_two_content_encodings_applies_on_both_paths(here: Listening) -> None:
    sender = await Sender.of(here)
    for encodings, status in ((("", "gzip"), 400), (("gzip", ""), 200), (("gzip", "deflate"), 200)):
        headers = [f"Content-Encoding: {encoding}" for encoding in encodings]
        packed = gzip.compress(traces(str(encodings)))
        request = sender.request(packed, *headers, "Connection: close")
        # Pages of other origins take the normal path.
        by_page = sender.request(packed, *headers, "Connection: close", "Origin: https://a.b")
        for sent in (request, by_page):
            assert (await raw(here.port, *sent)).startswith(b"HTTP/1.1 %d " % status), encodings
    assert await sender.names() == ["('gzip', '')", "('gzip', 'deflate')"]


async def test_the_body_may_arrive_in_parts(
    here: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    sender = await Sender.of(here)
    monkeypatch.setattr(fast_path_dispatch, "BODY_WAIT_SECONDS", 30.0)
    head, body = sender.request(traces("in pieces"), "Connection: close")
    answer = await raw(here.port, head[:20], head[20:], body[:9], body[9:])
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert here.handled == [True]
    # A slow body takes the normal path, with its longer timeout.
    monkeypatch.setattr(fast_path_dispatch, "BODY_WAIT_SECONDS", 0.05)
    head, body = sender.request(traces("slowly"), "Connection: close")
    answer = await raw(here.port, head, body[:9], body[9:], seconds_between=0.3)
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    asks = sender.request(traces("asks first"), "Connection: close", "Expect: 100-continue")
    answer = await raw(here.port, *asks)
    assert answer.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")
    assert here.handled == [True]
    assert await sender.names() == ["asks first", "in pieces", "slowly"]


async def test_a_connection_that_ends_early_is_counted_and_stores_nothing(
    limited: Listening,
) -> None:
    refused = 'http_requests_total{method="POST",route="/v1/traces",status="400"}'
    before = await counted(limited, refused)
    sender = await Sender.of(limited)
    head, body = sender.request(traces("gone"))
    for part in (head, head + body[:9]):
        _, writer = await asyncio.open_connection("127.0.0.1", limited.port)
        writer.write(part)
        await asyncio.sleep(0.1)
        writer.close()

    async def is_counted() -> bool:
        return await counted(limited, refused) == before + 2

    await until(is_counted)
    assert (await sender.exporter.post(traces("next"))).status_code == 200
    assert limited.handled == [True]
    assert await sender.names() == ["next"]


async def test_an_upgrade_is_ignored_and_the_export_stored(here: Listening) -> None:
    """Java's HTTP client offers HTTP/2 by default."""
    sender = await Sender.of(here)
    offer = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAEAAEAA")
    for packets in (1, 2):
        offered = sender.request(traces(f"offered {packets}"), *offer)
        sent = [b"".join(offered)] if packets == 1 else list(offered)
        sent.append(b"".join(sender.request(traces(f"next {packets}"), "Connection: close")))
        answer = await raw(here.port, *sent)
        assert answer.count(b"HTTP/1.1 200 OK") == 2
    assert here.handled == [True] * 4
    assert await sender.names() == ["next 1", "next 2", "offered 1", "offered 2"]


async def test_shutdown_finishes_exports_in_progress(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with listening(service) as here:
        sender = await Sender.of(here)
        head, body = sender.request(traces("held"))
        _, unfinished = await asyncio.open_connection("127.0.0.1", here.port)
        reader, held = await asyncio.open_connection("127.0.0.1", here.port)
        for writer in (unfinished, held):
            writer.write(head)
        async with paused_journal(service, monkeypatch) as (is_writing, may_write):
            waiting = asyncio.create_task(
                raw(here.port, b"".join(sender.request(traces("waiting"))))
            )
            await asyncio.to_thread(is_writing.wait, 20)
            here.server.should_exit = True
            await until_shutting_down(here)
            held.write(body)
            unfinished.close()
            assert not waiting.done()
            may_write.set()
            for answer in (await waiting, await reader.read()):
                assert answer.startswith(b"HTTP/1.1 200 OK")
                assert b"connection: close" in answer
        held.close()
    assert await sender.names() == ["held", "waiting"]


async def test_pipelined_exports_are_answered_in_order(here: Listening) -> None:
    sender = await Sender.of(here)
    names = [f"export {number:03}" for number in range(50)]
    sent = [
        b"".join(sender.request(traces(name), f"x-request-id: request-{name[-3:]}"))
        for name in names
    ]
    last = sender.request(traces("last"), "x-request-id: request-end", "Connection: close")
    answer = (await raw(here.port, b"".join(sent) + b"".join(last))).decode()
    ids = [part.split("\r\n")[0] for part in answer.split("x-request-id: request-")[1:]]
    assert ids == [*(name[-3:] for name in names), "end"]
    assert answer.count("HTTP/1.1 200 OK") == 51
    assert here.handled.count(True) >= 1
    total = (await sender.person.call("GET", "/spans/traces")).json()["pagination"]["total"]
    assert total == 51


async def test_limits_are_counted_once_on_either_path(limited: Listening) -> None:
    sender = await Sender.of(limited)
    bodies = [traces("a"), b"\xff\xff", *(traces(str(number)) for number in range(LIMIT - 2))]
    answers = [await sender.exporter.post(body) for body in bodies]
    ok = LIMIT - 3
    assert [answer.status_code for answer in answers] == [200, 400] + [200] * ok + [429]
    left = [int(answer.headers["x-ratelimit-remaining"]) for answer in answers]
    assert left == [*range(LIMIT - 2, -1, -1), 0]
    assert limited.handled == [True, False] + [True] * ok + [False]


async def test_a_failing_journal_is_reported_and_counted_once(limited: Listening) -> None:
    sender = await Sender.of(limited)
    disk = limited.service.services.ingest.pipeline._free_space
    disk._min_free_bytes, disk._valid_until = 2**62, 0.0
    refused = await sender.exporter.post(traces("lost"))
    assert refused.status_code == 503
    assert status_of(refused).code == code_pb2.UNAVAILABLE
    assert refused.headers["retry-after"] == "5"
    assert refused.headers["x-ratelimit-remaining"] == str(LIMIT - 2)
    disk._min_free_bytes = 0
    kept = await sender.exporter.post(traces("kept"))
    assert (kept.status_code, kept.headers["x-ratelimit-remaining"]) == (200, str(LIMIT - 3))
    assert limited.handled == [True, True]
    assert await sender.names() == ["kept"]


async def test_revoked_and_read_only_keys_are_rejected(here: Listening) -> None:
    sender = await Sender.of(here)
    read_only = Exporter(here.http, (await sender.person.new_key(scopes=["read"]))["key"])
    answers: list[httpx.Response] = [await read_only.post(traces("x")) for _ in range(2)]
    for key in await sender.person.data("GET", "/keys"):
        await sender.person.data("POST", f"/keys/{key['id']}/revoke")
    answers.append(await sender.exporter.post(traces("x")))
    assert [answer.status_code for answer in answers] == [403, 403, 401]
    assert not any(here.handled)
    assert await sender.names() == []
