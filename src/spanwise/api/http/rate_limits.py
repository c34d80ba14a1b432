"""Rate limits in three tiers, counted per account, API key, or address of anonymous callers."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from spanwise.api.http.headers import RawHeader
from spanwise.api.http.paths import EXPORT_PATHS
from spanwise.model.errors import RateLimited
from spanwise.settings import Settings
from spanwise.storage.counters import Count, Counters, Limit


class Tier(StrEnum):
    STANDARD = "standard"
    STRICT = "strict"
    INGESTION = "ingestion"


_UNLIMITED = ("health", "ready", "version", "docs", "openapi.json")
_STRICT = ("keys", "admin")
_INGESTION = ("spans", "signals", "logs", "otlp", "public")
# Paths of other products outside of the API.
_VENDOR_PATHS = ("/feedback", "/v2/traces/")


def tier_of(path: str) -> Tier | None:
    """Return the tier of a path under the API, or None when it is not limited."""
    if path in EXPORT_PATHS or path.startswith(_VENDOR_PATHS):
        return Tier.INGESTION
    root, _, rest = path.lstrip("/").partition("/")
    if root != "api":
        return None
    resource, _, below = rest.partition("/")
    if resource in _UNLIMITED:
        return None
    if resource in _STRICT:
        return Tier.STRICT
    is_alerts = resource == "spans" and below.partition("/")[0] == "alerts"
    return Tier.INGESTION if resource in _INGESTION and not is_alerts else Tier.STANDARD


def limits_from(settings: Settings) -> Mapping[Tier, Limit]:
    """Return the limit of each tier that has one."""
    amounts = {
        Tier.STANDARD: settings.rate_limit_standard,
        Tier.STRICT: settings.rate_limit_strict,
        Tier.INGESTION: settings.rate_limit_ingestion,
    }
    return {tier: Limit(tier, amount) for tier, amount in amounts.items() if amount}


@dataclass(frozen=True, slots=True)
class CountedRequest:
    """The state of a caller's limit after one more request."""

    limit: Limit
    count: Count

    @property
    def is_exceeded(self) -> bool:
        return self.count.exceeded

    @property
    def headers(self) -> list[RawHeader]:
        return [
            (b"x-ratelimit-limit", b"%d" % self.limit.amount),
            (b"x-ratelimit-remaining", b"%d" % self.count.remaining),
            (b"x-ratelimit-reset", b"%d" % self.count.reset_at),
        ]

    def to_error(self) -> RateLimited:
        seconds = self.count.retry_after_seconds
        return RateLimited(
            f"more than {self.limit.amount} requests per minute; try again in {seconds} s", seconds
        )


class RateLimits:
    def __init__(self, settings: Settings, counters: Counters) -> None:
        self._limits = limits_from(settings)
        self._counters = counters

    def has_limit(self, tier: Tier) -> bool:
        return tier in self._limits

    async def count(self, tier: Tier | None, caller: str) -> CountedRequest | None:
        """Count a request; None when it is not limited."""
        limit = None if tier is None else self._limits.get(tier)
        if limit is None:
            return None
        return CountedRequest(limit, await self._counters.hit(limit, caller))

    def count_in_memory(self, tier: Tier, caller: str) -> CountedRequest | None:
        """Count a request without I/O; None, without counting, when counters are in Redis."""
        limit = self._limits[tier]
        count = self._counters.hit_nowait(limit, caller)
        return None if count is None else CountedRequest(limit, count)
