"""TTL cache: one caller reloads a value early, so the others never wait for it."""

from types import SimpleNamespace
from typing import Any

import pytest

from spanwise.services.ttl_cache import TtlCache

TTL_SECONDS = 4.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Any:
    clock: Any = SimpleNamespace(now=1000.0)
    clock.monotonic = lambda: clock.now
    monkeypatch.setattr("spanwise.services.ttl_cache.time", clock)
    return clock


def load(cache: TtlCache[str, int], value: int | None) -> None:
    cache.put("key", value, cache.start_load("key"), TTL_SECONDS)


def test_one_caller_reloads_while_the_others_use_the_cached_value(clock: Any) -> None:
    cache = TtlCache[str, int]()
    assert cache.get("key") is None
    load(cache, 1)
    clock.now += 2.9
    assert cache.get("key") == 1
    clock.now += 0.2
    assert cache.get("key") is None
    started = cache.start_load("key")
    assert cache.get("key") == 1
    cache.put("key", 2, started, TTL_SECONDS)
    assert cache.get("key") == 2


def test_a_value_expires_after_its_ttl_even_if_the_reload_fails(clock: Any) -> None:
    cache = TtlCache[str, int]()
    load(cache, 1)
    clock.now += 3.5
    cache.start_load("key")
    clock.now += 0.4
    assert cache.get("key") == 1
    clock.now += 0.2
    assert cache.get("key") is None


def test_the_ttl_counts_from_the_start_of_the_load(clock: Any) -> None:
    cache = TtlCache[str, int]()
    started = cache.start_load("key")
    clock.now += TTL_SECONDS
    cache.put("key", 1, started, TTL_SECONDS)
    assert cache.get("key") is None


def test_a_missing_or_invalidated_value_is_not_cached(clock: Any) -> None:
    cache = TtlCache[str, int]()
    load(cache, 1)
    clock.now += 3.5
    load(cache, None)
    assert cache.get("key") is None
    started = cache.start_load("key")
    cache.invalidate(lambda key, _: key == "another")
    cache.put("key", 1, started, TTL_SECONDS)
    assert cache.get("key") is None
    load(cache, 3)
    cache.invalidate(lambda _, value: value == 3)
    assert cache.get("key") is None
