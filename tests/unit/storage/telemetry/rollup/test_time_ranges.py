"""Joining and subtracting ranges of hours and slices."""

from datetime import UTC, datetime, timedelta

from spanwise.model.times import BoundedRange, Granularity
from spanwise.storage.telemetry.rollup.time_ranges import (
    ALL_TIME,
    FIRST_START,
    LAST_START,
    clamp,
    find_whole_buckets,
    floor_slice,
    join_hours,
    join_slices,
    subtract,
)

START = datetime(2026, 3, 10, 12, tzinfo=UTC)


def seconds(first: float, end: float) -> BoundedRange:
    return BoundedRange(START + timedelta(seconds=first), START + timedelta(seconds=end))


def at(number: float) -> datetime:
    return START + timedelta(seconds=number)


def test_slices_that_touch_are_one_range() -> None:
    assert join_slices([at(0), at(10), at(30)]) == [seconds(0, 20), seconds(30, 40)]
    assert join_slices([]) == []


def test_hours_that_touch_are_one_range_within_the_period() -> None:
    hours = [at(0), at(3600), at(3 * 3600)]
    found = join_hours(hours, seconds(60, 3 * 3600 + 5))
    assert found == [seconds(60, 7200), seconds(3 * 3600, 3 * 3600 + 5)]


def test_excluded_ranges_are_subtracted() -> None:
    excluded = [seconds(-10, 10), seconds(30, 40), seconds(90, 120)]
    assert subtract([seconds(0, 100)], excluded) == [seconds(10, 30), seconds(40, 90)]
    assert subtract([seconds(0, 10)], [seconds(0, 10)]) == []
    assert subtract([seconds(0, 10)], []) == [seconds(0, 10)]


def test_only_buckets_that_lie_entirely_in_a_period_are_whole() -> None:
    assert find_whole_buckets(seconds(0, 7200), Granularity.HOURLY) == seconds(0, 7200)
    assert find_whole_buckets(seconds(1, 7300), Granularity.HOURLY) == seconds(3600, 7200)
    assert find_whole_buckets(seconds(1, 7199), Granularity.HOURLY) is None


def test_a_slice_starts_every_ten_seconds() -> None:
    assert floor_slice(at(9.999)) == START
    assert floor_slice(at(10)) == at(10)


def test_a_period_is_limited_to_valid_trace_times() -> None:
    ages = BoundedRange(datetime(1970, 1, 1, tzinfo=UTC), datetime(2199, 1, 1, tzinfo=UTC))
    assert clamp(ages) == ALL_TIME
    past = BoundedRange(ages.start, ages.start + timedelta(days=1))
    assert clamp(past) == BoundedRange(FIRST_START, FIRST_START)
    future = BoundedRange(ages.end, ages.end + timedelta(days=1))
    assert clamp(future) == BoundedRange(LAST_START, LAST_START)
