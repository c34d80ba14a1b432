"""Counts per window of time: in this process, or in Redis when replicas share them."""

import math
import time
from dataclasses import dataclass
from typing import Protocol

import redis.asyncio
import redis.exceptions
import structlog
from limits import RateLimitItem, RateLimitItemPerSecond
from limits.aio.storage import RedisStorage
from limits.aio.strategies import FixedWindowRateLimiter as AsyncFixedWindow
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter

from spanwise.model.errors import StartError

log = structlog.get_logger()


@dataclass(frozen=True)
class Limit:
    """So many a window, counted apart from every other limit's name."""

    name: str
    amount: int
    window_seconds: int = 60


@dataclass(frozen=True)
class Count:
    """How a caller stands after a hit."""

    exceeded: bool
    remaining: int
    reset_at: int

    @property
    def retry_after_seconds(self) -> int:
        return max(1, self.reset_at - int(time.time()))


class Counters(Protocol):
    async def hit(self, limit: Limit, caller: str) -> Count:
        """Count one more, and say how the caller stands."""

    async def peek(self, limit: Limit, caller: str) -> Count:
        """Say how the caller stands without counting."""

    async def ping(self) -> None: ...

    async def close(self) -> None: ...


class MemoryCounters:
    # The library's asyncio memory store walks every caller on each hit: 1.7 ms at 10,000 callers
    # against 18 µs for this one.
    def __init__(self) -> None:
        self._windows = FixedWindowRateLimiter(MemoryStorage())

    async def hit(self, limit: Limit, caller: str) -> Count:
        within = self._windows.hit(_item(limit), limit.name, caller)
        return self._count(limit, caller, exceeded=not within)

    async def peek(self, limit: Limit, caller: str) -> Count:
        within = self._windows.test(_item(limit), limit.name, caller)
        return self._count(limit, caller, exceeded=not within)

    def _count(self, limit: Limit, caller: str, *, exceeded: bool) -> Count:
        stats = self._windows.get_window_stats(_item(limit), limit.name, caller)
        return Count(exceeded, stats.remaining, math.ceil(stats.reset_time))

    async def ping(self) -> None:
        """Memory is always there."""

    async def close(self) -> None:
        """Nothing to close."""


class RedisCounters:
    """Falls back to this process's own counts while Redis does not answer."""

    def __init__(self, url: str) -> None:
        self._client = redis.asyncio.from_url(url)
        self._windows = AsyncFixedWindow(
            RedisStorage(f"async+{url}", implementation="redispy", key_prefix="spanwise")
        )
        self._fallback = MemoryCounters()

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
        try:
            within = await self._windows.hit(_item(limit), limit.name, caller)
            return await self._count(limit, caller, exceeded=not within)
        except redis.exceptions.RedisError as error:
            log.warning("redis_unavailable", error=str(error))
            return await self._fallback.hit(limit, caller)

    async def peek(self, limit: Limit, caller: str) -> Count:
        try:
            within = await self._windows.test(_item(limit), limit.name, caller)
            return await self._count(limit, caller, exceeded=not within)
        except redis.exceptions.RedisError as error:
            log.warning("redis_unavailable", error=str(error))
            return await self._fallback.peek(limit, caller)

    async def _count(self, limit: Limit, caller: str, *, exceeded: bool) -> Count:
        stats = await self._windows.get_window_stats(_item(limit), limit.name, caller)
        return Count(exceeded, stats.remaining, math.ceil(stats.reset_time))

    async def ping(self) -> None:
        await self._client.ping()

    async def close(self) -> None:
        await self._client.aclose()


async def open_counters(redis_url: str | None) -> Counters:
    return MemoryCounters() if redis_url is None else await RedisCounters.open(redis_url)


def _item(limit: Limit) -> RateLimitItem:
    return RateLimitItemPerSecond(limit.amount, limit.window_seconds)
