"""Which hours and days of a period are read from where: together each of them once."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from spanwise.model.times import BoundedRange
from spanwise.storage.telemetry.analytics_source import MAX_HOURS_APART, Plan, make_plan

START = datetime(2026, 3, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


def hours_of(plan: Plan) -> list[datetime]:
    """Every hour that the plan reads, as often as it does."""
    found = list(plan.trace_hours)
    if isinstance(plan.hours, BoundedRange):
        moment = plan.hours.start
        while moment < plan.hours.end:
            found += [moment] if moment not in plan.trace_hours else []
            moment += HOUR
    else:
        found += plan.hours
    if plan.days is not None:
        day = plan.days.start
        while day < plan.days.end:
            if day not in plan.days_apart:
                found += [day + n * HOUR for n in range(24)]
            day += timedelta(days=1)
    return sorted(found)


@pytest.mark.parametrize("by_hour", [False, True])
@pytest.mark.parametrize("seed", range(200))
def test_every_hour_of_a_period_is_read_exactly_once(seed: int, by_hour: bool) -> None:
    dice = random.Random(seed)
    start = START + timedelta(seconds=dice.choice((0, 1, 3600, 86_400, dice.randrange(200_000))))
    end = start + timedelta(seconds=dice.choice((86_400, 3 * 86_400, dice.randint(1, 900_000))))
    floor = start.replace(minute=0, second=0)
    expected = []
    while floor < end:
        expected.append(floor)
        floor += HOUR
    dirty = set(dice.sample(expected, min(len(expected), dice.choice((0, 1, 3, 30)))))
    plan = make_plan(BoundedRange(start, end), dirty, by_hour=by_hour)
    if plan is not None:
        assert hours_of(plan) == expected
        cut = {hour for hour in expected if hour < start or hour + HOUR > end}
        assert set(plan.trace_hours) == dirty | cut


def test_a_period_without_a_whole_hour_is_read_from_the_traces() -> None:
    start = START + timedelta(minutes=10)
    plan = make_plan(BoundedRange(start, start + HOUR), set(), by_hour=False)
    assert plan == Plan([START, START + HOUR], [])
    assert make_plan(BoundedRange(START, START), set(), by_hour=False) is None


def test_too_much_that_changed_is_read_from_the_traces_altogether() -> None:
    period = BoundedRange(START, START + timedelta(days=365))
    changed = {START + n * HOUR for n in range(MAX_HOURS_APART + 1)}
    assert make_plan(period, changed, by_hour=False) is None
    scattered = {START + timedelta(days=n) for n in range(100)}
    assert make_plan(period, scattered, by_hour=False) is None
