"""Readiness check: writes to and reads from every store."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping

import structlog

from spanwise.model.api_model import utc_now
from spanwise.model.errors import Unavailable
from spanwise.storage.catalog import Catalog
from spanwise.storage.catalog.leases import touch_lease

log = structlog.get_logger()

# The endpoint needs no authentication, so results are cached for this long.
_CACHE_SECONDS = 1.0
_TIMEOUT_SECONDS = 5.0

Check = Callable[[], Awaitable[None]]


class Readiness:
    def __init__(self, checks: Mapping[str, Check]) -> None:
        self._checks = checks
        self._lock = asyncio.Lock()
        self._checked_at = -_CACHE_SECONDS
        self._failure: Unavailable | None = None

    async def check(self) -> list[str]:
        """Check every store and return their names; raises Unavailable if one fails."""
        async with self._lock:
            if time.monotonic() - self._checked_at >= _CACHE_SECONDS:
                self._failure = await self._find_failure()
                self._checked_at = time.monotonic()
            failure = self._failure
        if failure is not None:
            raise Unavailable(failure.message, failure.retry_after_seconds)
        return list(self._checks)

    async def _find_failure(self) -> Unavailable | None:
        for name, check in self._checks.items():
            try:
                async with asyncio.timeout(_TIMEOUT_SECONDS):
                    await check()
            except Exception as error:
                log.warning("store_not_ready", store=name, error=repr(error)[:500])
                reason = f": {error.message}" if isinstance(error, Unavailable) else ""
                return Unavailable(f"the {name} store does not work{reason}")
        return None


async def check_catalog(catalog: Catalog) -> None:
    """Commit a small write."""
    async with catalog.write() as tx:
        await touch_lease(tx, "ready", "ready", utc_now())
