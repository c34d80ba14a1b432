"""Counters in memory and on a real Redis, also while that is unavailable."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import redis.exceptions

from spanwise.model.api_model import new_id
from spanwise.model.errors import StartError
from spanwise.storage.counters import Counters, Limit, MemoryCounters
from spanwise.wiring.stores import open_counters
from support.polling import until
from support.servers import free_port, run_redis


@pytest.fixture(params=["memory", "redis"])
async def counters(request: pytest.FixtureRequest) -> AsyncIterator[Counters]:
    url = request.getfixturevalue("redis_url") if request.param == "redis" else None
    opened = await open_counters(url)
    yield opened
    await opened.close()


@pytest.fixture
def limit() -> Limit:
    """A limit with a unique name, because tests share one Redis."""
    return Limit(new_id("limit"), 3)


async def may_call(counters: Counters, limit: Limit) -> bool:
    return not (await counters.peek(limit, "ann")).exceeded


async def test_requests_beyond_the_limit_exceed_it(counters: Counters, limit: Limit) -> None:
    counts = [await counters.hit(limit, "ann") for _ in range(5)]
    assert [count.exceeded for count in counts] == [False, False, False, True, True]
    assert [count.remaining for count in counts] == [2, 1, 0, 0, 0]


async def test_the_window_ends_within_a_minute_and_stays_put(
    counters: Counters, limit: Limit
) -> None:
    started = time.time()
    first, second = await counters.hit(limit, "ann"), await counters.hit(limit, "ann")
    assert started < first.reset_at <= started + 62
    assert abs(first.reset_at - second.reset_at) <= 1
    assert 1 <= first.retry_after_seconds <= 62


async def test_callers_and_limits_are_counted_separately(counters: Counters, limit: Limit) -> None:
    for _ in range(3):
        await counters.hit(limit, "ann")
    assert (await counters.hit(limit, "bob")).remaining == 2
    assert (await counters.hit(Limit(limit.name + "2", 3), "ann")).remaining == 2


async def test_peeking_counts_nothing(counters: Counters, limit: Limit) -> None:
    for _ in range(5):
        assert (await counters.peek(limit, "ann")).remaining == 3
    for _ in range(3):
        await counters.hit(limit, "ann")
    assert (await counters.peek(limit, "ann")).exceeded


async def test_a_new_window_begins_when_the_old_one_ends(counters: Counters) -> None:
    short = Limit(new_id("limit"), 1, window_seconds=1)
    await counters.hit(short, "ann")
    assert (await counters.hit(short, "ann")).exceeded
    await until(lambda: may_call(counters, short))
    assert not (await counters.hit(short, "ann")).exceeded


async def test_hits_at_the_same_time_are_all_counted(counters: Counters) -> None:
    many = Limit(new_id("limit"), 50)
    counts = await asyncio.gather(*(counters.hit(many, "ann") for _ in range(60)))
    assert sum(count.exceeded for count in counts) == 10


async def test_replicas_on_one_redis_share_their_counts(redis_url: str, limit: Limit) -> None:
    one, two = await open_counters(redis_url), await open_counters(redis_url)
    await one.hit(limit, "ann")
    assert (await two.hit(limit, "ann")).remaining == 1
    await one.close()
    await two.close()


async def test_counting_falls_back_to_this_process_without_redis(
    tmp_path: Path, limit: Limit
) -> None:
    with run_redis(tmp_path) as server:
        counters = await open_counters(server.url)
        assert (await counters.hit(limit, "ann")).remaining == 2
        server.process.kill()
        server.process.wait()
        async with asyncio.timeout(20):
            counts = [await counters.hit(limit, "ann") for _ in range(50)]
        assert [count.exceeded for count in counts] == [False] * 3 + [True] * 47
        assert (await counters.peek(limit, "ann")).exceeded
        with pytest.raises(redis.exceptions.RedisError):
            await counters.ping()
    with run_redis(tmp_path, port=int(server.url.split(":")[2].split("/")[0])):
        await until(lambda: may_call(counters, limit))
        assert (await counters.hit(limit, "ann")).remaining == 2
        await counters.close()


async def test_a_redis_that_hangs_does_not_hang_the_caller(limit: Limit) -> None:
    server = await asyncio.start_server(_answer_only_pings, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    counters = await open_counters(f"redis://127.0.0.1:{port}/0?protocol=2")
    async with asyncio.timeout(20):
        counts = [await counters.hit(limit, "ann") for _ in range(50)]
    assert [count.exceeded for count in counts] == [False] * 3 + [True] * 47
    await counters.close()
    server.close()


async def _answer_only_pings(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(4096):
        if b"PING" in data:
            writer.write(b"+PONG\r\n")
        elif b"CLIENT" in data:
            writer.write(b"+OK\r\n" * data.count(b"CLIENT"))
    writer.close()


async def test_an_unreachable_redis_is_one_sentence_at_start() -> None:
    with pytest.raises(StartError, match="SPANWISE_REDIS_URL: Redis does not answer"):
        await open_counters(f"redis://127.0.0.1:{free_port()}/0")


async def test_without_an_address_counts_are_kept_in_memory() -> None:
    assert isinstance(await open_counters(None), MemoryCounters)
