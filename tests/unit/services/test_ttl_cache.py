"""What was read in the last seconds: one reads it anew in time, so nobody else has to wait."""

from types import SimpleNamespace
from typing import Any

import pytest

from spanwise.services.ttl_cache import RecentlySeen

SECONDS = 4.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Any:
    clock: Any = SimpleNamespace(now=1000.0)
    clock.monotonic = lambda: clock.now
    monkeypatch.setattr("spanwise.services.ttl_cache.time", clock)
    return clock


def read(seen: RecentlySeen[str, int], value: int | None) -> None:
    seen.put("key", value, seen.begin_read("key"), SECONDS)


def test_one_reads_it_anew_while_the_others_still_have_it(clock: Any) -> None:
    seen = RecentlySeen[str, int]()
    assert seen.get("key") is None
    read(seen, 1)
    clock.now += 2.9
    assert seen.get("key") == 1
    clock.now += 0.2
    assert seen.get("key") is None
    reading = seen.begin_read("key")
    assert seen.get("key") == 1
    seen.put("key", 2, reading, SECONDS)
    assert seen.get("key") == 2


def test_nobody_has_it_longer_than_its_time_even_if_nobody_can_read_it(clock: Any) -> None:
    seen = RecentlySeen[str, int]()
    read(seen, 1)
    clock.now += 3.5
    seen.begin_read("key")
    clock.now += 0.4
    assert seen.get("key") == 1
    clock.now += 0.2
    assert seen.get("key") is None


def test_a_slow_read_counts_from_its_beginning(clock: Any) -> None:
    seen = RecentlySeen[str, int]()
    reading = seen.begin_read("key")
    clock.now += SECONDS
    seen.put("key", 1, reading, SECONDS)
    assert seen.get("key") is None


def test_what_is_gone_or_was_forgotten_meanwhile_is_not_kept(clock: Any) -> None:
    seen = RecentlySeen[str, int]()
    read(seen, 1)
    clock.now += 3.5
    read(seen, None)
    assert seen.get("key") is None
    reading = seen.begin_read("key")
    seen.forget(lambda key, _: key == "another")
    seen.put("key", 1, reading, SECONDS)
    assert seen.get("key") is None
    read(seen, 3)
    seen.forget(lambda _, value: value == 3)
    assert seen.get("key") is None
