"""Tiers of paths, and counting per caller."""

from pathlib import Path

import pytest

from spanwise.api.http.rate_limits import RateLimits, Tier, limits_from, tier_of
from spanwise.settings import load_settings
from spanwise.storage.counters import MemoryCounters

TIERS: dict[Tier | None, list[str]] = {
    Tier.STANDARD: [
        "/api/auth/login",
        "/api/users/profile",
        "/api/analytics/metrics",
        "/api/analytics/traces/list",
        "/api/agents",
        "/api/events",
        "/api/spans/alerts",
        "/api/spans/alerts/summary",
        "/api/spans/alerts/alr_1/acknowledge",
        "/api/experiments/exp_1/assign",
        "/api/models/prices",
        "/api/nothing-here",
        "/api/healthy",
        "/api",
    ],
    Tier.STRICT: ["/api/keys", "/api/keys/key_1/refresh", "/api/admin/users", "/api/admin/stats"],
    Tier.INGESTION: [
        "/api/spans",
        "/api/spans/traces",
        "/api/spans/alertsx",
        "/api/signals/batch",
        "/api/logs/trace/1",
        "/api/otlp/v1/traces",
    ],
    None: [
        "/api/health",
        "/api/ready",
        "/api/version",
        "/api/docs",
        "/api/docs/assets/swagger-ui.css",
        "/api/openapi.json",
        "/metrics",
        "/",
        "/assets/app.js",
        "/keys",
    ],
}


@pytest.mark.parametrize(
    ("path", "tier"), [(path, tier) for tier, paths in TIERS.items() for path in paths]
)
def test_a_path_has_the_tier_of_its_group(path: str, tier: Tier | None) -> None:
    assert tier_of(path) is tier


def test_the_tiers_have_the_limits_of_the_specification(tmp_path: Path) -> None:
    limits = limits_from(load_settings(data_dir=tmp_path))
    assert {tier: (limit.amount, limit.window_seconds) for tier, limit in limits.items()} == {
        Tier.STANDARD: (100, 60),
        Tier.STRICT: (20, 60),
        Tier.INGESTION: (500, 60),
    }


def test_zero_removes_a_limit(tmp_path: Path) -> None:
    limits = limits_from(load_settings(data_dir=tmp_path, rate_limit_strict=0))
    assert set(limits) == {Tier.STANDARD, Tier.INGESTION}


async def test_requests_are_counted_per_caller_and_tier(tmp_path: Path) -> None:
    settings = load_settings(data_dir=tmp_path, rate_limit_standard=1, rate_limit_strict=0)
    rate_limits = RateLimits(settings, MemoryCounters())
    first = await rate_limits.count(Tier.STANDARD, "ann")
    second = rate_limits.count_in_memory(Tier.STANDARD, "ann")
    other = rate_limits.count_in_memory(Tier.STANDARD, "bob")
    assert first is not None
    assert second is not None
    assert other is not None
    assert [first.is_exceeded, second.is_exceeded, other.is_exceeded] == [False, True, False]
    assert dict(first.headers)[b"x-ratelimit-remaining"] == b"0"
    assert "more than 1 requests per minute" in second.to_error().message
    assert not rate_limits.has_limit(Tier.STRICT)
    assert await rate_limits.count(Tier.STRICT, "ann") is None
    assert await rate_limits.count(None, "ann") is None
