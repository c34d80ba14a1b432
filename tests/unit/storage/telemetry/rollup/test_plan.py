"""Plans: every hour of a period is read exactly once, from the right table."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from spanwise.model.times import BoundedRange, Granularity, floor_time, next_bucket
from spanwise.storage.telemetry.rollup.plan import MAX_SINGLE_HOURS, Plan, make_plan

START = datetime(2026, 3, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


def list_hours(plan: Plan) -> list[datetime]:
    """Return every hour that the plan reads, with repetitions."""
    found = list(plan.trace_hours)
    found += list_buckets(plan.hours, Granularity.HOURLY, plan.trace_hours)
    days = list_buckets(plan.days, Granularity.DAILY, plan.excluded_days)
    for month in list_buckets(plan.months or [], Granularity.MONTHLY, plan.excluded_months):
        days += list_buckets(
            BoundedRange(month, next_bucket(month, Granularity.MONTHLY)), Granularity.DAILY, []
        )
    found += [day + n * HOUR for day in days for n in range(24)]
    return sorted(found)


def list_buckets(
    buckets: BoundedRange | list[datetime], granularity: Granularity, excluded: list[datetime]
) -> list[datetime]:
    if not isinstance(buckets, BoundedRange):
        return buckets
    found, moment = [], buckets.start
    while moment < buckets.end:
        assert floor_time(moment, granularity) == moment
        found += [moment] if moment not in excluded else []
        moment = next_bucket(moment, granularity)
    return found


@pytest.mark.parametrize("seeds", [60, pytest.param(1000, marks=pytest.mark.long)])
@pytest.mark.parametrize("by", [Granularity.HOURLY, Granularity.WEEKLY, Granularity.MONTHLY])
def test_every_hour_of_a_period_is_read_exactly_once(by: Granularity, seeds: int) -> None:
    made = 0
    for seed in range(seeds):
        dice = random.Random(seed)
        offsets = (0, 1, 3600, 86_400, dice.randrange(200_000))
        start = START + timedelta(seconds=dice.choice(offsets))
        lengths = (86_400, 3 * 86_400, dice.randint(1, 900_000), dice.randint(1, 9_000_000))
        end = start + timedelta(seconds=dice.choice(lengths))
        floor = start.replace(minute=0, second=0)
        expected = []
        while floor < end:
            expected.append(floor)
            floor += HOUR
        dirty = set(dice.sample(expected, min(len(expected), dice.choice((0, 1, 3, 30)))))
        plan = make_plan(BoundedRange(start, end), dirty, by)
        if plan is not None:
            made += 1
            assert list_hours(plan) == expected, seed
            cut = {hour for hour in expected if hour < start or hour + HOUR > end}
            assert set(plan.trace_hours) == dirty | cut, seed
    assert made > seeds / 2


def test_a_year_is_read_by_months() -> None:
    start = datetime(2025, 11, 15, 12, tzinfo=UTC)
    late = datetime(2026, 2, 3, 4, tzinfo=UTC)
    plan = make_plan(BoundedRange(start, start.replace(year=2026)), {late}, Granularity.MONTHLY)
    assert plan is not None
    assert plan.months == BoundedRange(
        datetime(2025, 12, 1, tzinfo=UTC), datetime(2026, 11, 1, tzinfo=UTC)
    )
    assert plan.excluded_months == [datetime(2026, 2, 1, tzinfo=UTC)]
    assert plan.excluded_days == [datetime(2026, 2, 3, tzinfo=UTC)]
    # The 15 days after the start, 27 of February, and the 14 before the end.
    assert len(list_buckets(plan.days, Granularity.DAILY, [])) == 15 + 27 + 14


def test_a_period_without_a_whole_hour_is_read_from_the_traces() -> None:
    start = START + timedelta(minutes=10)
    plan = make_plan(BoundedRange(start, start + HOUR), set(), Granularity.DAILY)
    assert plan == Plan([START, START + HOUR], [])
    assert make_plan(BoundedRange(START, START), set(), Granularity.DAILY) is None


def test_a_period_with_too_many_dirty_hours_is_read_from_the_traces() -> None:
    period = BoundedRange(START, START + timedelta(days=365))
    changed = {START + n * HOUR for n in range(MAX_SINGLE_HOURS + 1)}
    assert make_plan(period, changed, Granularity.DAILY) is None
    scattered = {START + timedelta(days=n) for n in range(100)}
    assert make_plan(period, scattered, Granularity.DAILY) is None
