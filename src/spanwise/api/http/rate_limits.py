"""Three tiers, counted per caller: the account, the key, or the address of the unknown."""

from collections.abc import Mapping
from enum import StrEnum

from spanwise.api.otlp.responses import PATHS
from spanwise.model.errors import RateLimited
from spanwise.settings import Settings
from spanwise.storage.counters import Count, Limit


class Tier(StrEnum):
    STANDARD = "standard"
    STRICT = "strict"
    INGESTION = "ingestion"


_UNLIMITED = ("health", "ready", "version", "docs", "openapi.json")
_STRICT = ("keys", "admin")
_INGESTION = ("spans", "signals", "logs", "otlp")


def tier_of(path: str) -> Tier | None:
    """Return the tier of a path under the API, or None when it is not limited."""
    if path in PATHS:
        return Tier.INGESTION
    root, _, rest = path.lstrip("/").partition("/")
    if root != "api":
        return None
    noun, _, below = rest.partition("/")
    if noun in _UNLIMITED:
        return None
    if noun in _STRICT:
        return Tier.STRICT
    if noun in _INGESTION and not (noun == "spans" and below.partition("/")[0] == "alerts"):
        return Tier.INGESTION
    return Tier.STANDARD


def limits_from(settings: Settings) -> Mapping[Tier, Limit]:
    """Return the limit of each tier that has one."""
    amounts = {
        Tier.STANDARD: settings.rate_limit_standard,
        Tier.STRICT: settings.rate_limit_strict,
        Tier.INGESTION: settings.rate_limit_ingestion,
    }
    return {tier: Limit(tier, amount) for tier, amount in amounts.items() if amount}


def headers_of(limit: Limit, count: Count) -> dict[str, str]:
    return {
        "X-RateLimit-Limit": str(limit.amount),
        "X-RateLimit-Remaining": str(count.remaining),
        "X-RateLimit-Reset": str(count.reset_at),
    }


def refuse(limit: Limit, count: Count) -> RateLimited:
    return RateLimited(
        f"more than {limit.amount} requests a minute; try again in {count.retry_after_seconds} s",
        count.retry_after_seconds,
    )
