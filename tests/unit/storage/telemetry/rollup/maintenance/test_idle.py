"""Maintenance runs only when something was written since the last complete run."""

import pytest

from spanwise.storage.telemetry.rollup.maintenance import idle
from spanwise.storage.telemetry.rollup.maintenance.idle import IdleCheck
from spanwise.storage.telemetry.rollup.recent_changes import RecentChanges


class Clock:
    now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(idle, "time", clock)
    return clock


def complete(check: IdleCheck) -> None:
    with check.completing():
        pass


def test_the_first_run_always_has_work(clock: Clock) -> None:
    check = IdleCheck(RecentChanges())
    assert check.has_work()
    complete(check)
    assert not check.has_work()


def test_a_change_makes_work(clock: Clock) -> None:
    changes = RecentChanges()
    check = IdleCheck(changes)
    check.has_work()
    complete(check)
    clock.now += 1
    changes.record({})
    assert check.has_work()
    complete(check)
    assert not check.has_work()


def test_a_change_during_a_run_makes_work(clock: Clock) -> None:
    changes = RecentChanges()
    check = IdleCheck(changes)
    check.has_work()
    with check.completing():
        clock.now += 1
        changes.record(None)
    assert check.has_work()


def test_a_run_before_the_delay_does_not_count(clock: Clock) -> None:
    check = IdleCheck(RecentChanges(), delay_seconds=600)
    check.has_work()
    clock.now += 599
    complete(check)
    assert check.has_work()
    clock.now += 2
    complete(check)
    assert not check.has_work()


def test_a_run_is_repeated_after_some_time(clock: Clock) -> None:
    check = IdleCheck(RecentChanges(), max_seconds=1800)
    check.has_work()
    complete(check)
    clock.now += 1800
    assert not check.has_work()
    clock.now += 1
    assert check.has_work()


def test_a_run_that_fails_or_is_not_complete_is_repeated(clock: Clock) -> None:
    check = IdleCheck(RecentChanges())
    check.has_work()
    with pytest.raises(ValueError, match="broken"), check.completing():
        raise ValueError("broken")
    assert check.has_work()
    with check.completing() as completion:
        completion.is_complete = False
    assert check.has_work()


def test_with_other_writers_there_is_always_work(clock: Clock) -> None:
    check = IdleCheck(None)
    complete(check)
    assert check.has_work()
