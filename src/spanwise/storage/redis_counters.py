"""Rate-limit counters in Redis, shared by replicas; imported only when Redis is configured."""

import math
import time
from collections.abc import Awaitable, Callable

import redis.asyncio
import redis.exceptions
import structlog
from limits.aio.storage import RedisStorage
from limits.aio.strategies import FixedWindowRateLimiter
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from spanwise.model.errors import StartError
from spanwise.storage.counters import Count, Limit, MemoryCounters, rate_limit_item

log = structlog.get_logger()

_TIMEOUT_SECONDS = 1.0
# After a failure Redis is not called for this long, so that not every request waits for it.
_PAUSE_SECONDS = 2.0


class RedisCounters:
    """Falls back to in-memory counters while Redis does not respond."""

    def __init__(self, url: str) -> None:
        # Without timeouts a hanging Redis would block every request, and the client's default
        # retries would delay each by seconds. One retry covers a restarted server.
        self._pool = redis.asyncio.ConnectionPool.from_url(
            url,
            socket_timeout=_TIMEOUT_SECONDS,
            socket_connect_timeout=_TIMEOUT_SECONDS,
            retry=Retry(NoBackoff(), 1),
        )
        self._client = redis.asyncio.Redis(connection_pool=self._pool)
        storage = RedisStorage(
            f"async+{url}",
            implementation="redispy",
            key_prefix="spanwise",
            # The library accepts a pool, but its types allow plain options only.
            connection_pool=self._pool,  # type: ignore[arg-type]
        )
        self._windows = FixedWindowRateLimiter(storage)
        self._fallback = MemoryCounters()
        self._paused_until = 0.0

    @classmethod
    async def open(cls, url: str) -> "RedisCounters":
        counters = cls(url)
        try:
            await counters.ping()
        except redis.exceptions.RedisError as error:
            await counters.close()
            raise StartError(f"SPANWISE_REDIS_URL: Redis does not answer: {error}") from None
        return counters

    async def hit(self, limit: Limit, caller: str) -> Count:
        return await self._count(self._windows.hit, self._fallback.hit, limit, caller)

    def hit_nowait(self, _limit: Limit, _caller: str) -> None:
        """Not possible: Redis must be awaited."""

    async def peek(self, limit: Limit, caller: str) -> Count:
        return await self._count(self._windows.test, self._fallback.peek, limit, caller)

    async def _count(
        self,
        count: Callable[..., Awaitable[bool]],
        fallback: Callable[[Limit, str], Awaitable[Count]],
        limit: Limit,
        caller: str,
    ) -> Count:
        if time.monotonic() >= self._paused_until:
            item = rate_limit_item(limit)
            try:
                within = await count(item, limit.name, caller)
                stats = await self._windows.get_window_stats(item, limit.name, caller)
                return Count(not within, stats.remaining, math.ceil(stats.reset_time))
            except redis.exceptions.RedisError as error:
                self._paused_until = time.monotonic() + _PAUSE_SECONDS
                log.warning("redis_unavailable", error=str(error))
        return await fallback(limit, caller)

    async def ping(self) -> None:
        await self._client.ping()

    async def close(self) -> None:
        await self._client.aclose()
        await self._pool.aclose()
