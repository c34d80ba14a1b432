"""Parsing of time ranges, and buckets of a series."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.model.errors import Invalid
from spanwise.model.times import (
    EARLIEST,
    LATEST,
    MAX_BUCKETS,
    BoundedRange,
    Granularity,
    TimeRange,
    bucket_label,
    floor_time,
    next_bucket,
)

JAN_31 = datetime(2026, 1, 31, tzinfo=UTC)
moments = st.datetimes(
    EARLIEST.replace(tzinfo=None),
    datetime(2199, 12, 31, tzinfo=UTC).replace(tzinfo=None),
    timezones=st.just(UTC),
)


def test_a_date_only_end_includes_its_whole_day() -> None:
    assert TimeRange.parse("2026-01-31", "2026-01-31") == TimeRange(
        JAN_31, JAN_31 + timedelta(days=1)
    )


def test_a_time_as_end_is_exclusive() -> None:
    assert TimeRange.parse(None, "2026-01-31T00:00:00Z").end == JAN_31


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-31T12:30:15Z",
        "2026-01-31T12:30:15",
        "2026-01-31T13:30:15+01:00",
        "2026-01-31T13:30:15+0100",
        "2026-01-31T12:30:15.000000000Z",
    ],
)
def test_a_time_is_read_as_utc_unless_it_names_a_zone(text: str) -> None:
    assert TimeRange.parse(text, None).start == datetime(2026, 1, 31, 12, 30, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2026-02-30",
        "2026-13-01",
        "2026-1-1",
        "20260101",
        "2026-01-01T25:00:00Z",
        "2026-01-01T00:00:00+99:00",
        "2026-01-01 00:00:00",
        "1769860800",
        "2026-W05-6",
        "1969-12-31",
        "2200-01-01",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "\uff12\uff10\uff12\uff16-01-01",
    ],
)
@pytest.mark.parametrize("field", ["startDate", "endDate"])
def test_an_invalid_date_is_rejected_with_the_field_name(text: str, field: str) -> None:
    start, end = (text, None) if field == "startDate" else (None, text)
    with pytest.raises(Invalid) as refused:
        TimeRange.parse(start, end)
    assert [problem.field for problem in refused.value.details] == [field]


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("2026-02-01", "2026-01-31"),
        ("2026-02-01T00:00:00Z", "2026-01-31"),
        ("2026-01-31T00:00:01Z", "2026-01-31T00:00:00Z"),
    ],
)
def test_a_start_after_the_end_is_refused(start: str, end: str) -> None:
    with pytest.raises(Invalid, match="startDate"):
        TimeRange.parse(start, end)


def test_a_start_at_the_very_end_is_an_empty_range() -> None:
    empty = TimeRange.parse("2026-01-31T00:00:00Z", "2026-01-31T00:00:00Z")
    assert (empty.start, empty.end) == (JAN_31, JAN_31)


def test_an_open_range_becomes_the_last_days_up_to_now() -> None:
    closed = TimeRange().or_last_days(30, JAN_31)
    assert closed == BoundedRange(JAN_31 - timedelta(days=30), JAN_31)


def test_the_days_are_counted_back_from_a_given_end() -> None:
    end = JAN_31 - timedelta(days=100)
    assert TimeRange(end=end).or_last_days(30, JAN_31).start == end - timedelta(days=30)


def test_an_open_range_never_begins_before_the_earliest_time() -> None:
    assert TimeRange(end=EARLIEST).or_last_days(30, JAN_31).start == EARLIEST


def test_a_start_in_the_future_gives_an_empty_range() -> None:
    future = JAN_31 + timedelta(days=5)
    assert TimeRange(start=future).or_last_days(30, JAN_31) == BoundedRange(future, future)


@pytest.mark.parametrize(
    ("granularity", "start", "label"),
    [
        (Granularity.MINUTE, datetime(2026, 1, 31, 13, 59, tzinfo=UTC), "2026-01-31T13:59:00Z"),
        (Granularity.HOURLY, datetime(2026, 1, 31, 13, tzinfo=UTC), "2026-01-31T13:00:00Z"),
        (Granularity.DAILY, JAN_31, "2026-01-31"),
        (Granularity.WEEKLY, datetime(2026, 1, 26, tzinfo=UTC), "2026-01-26"),
        (Granularity.MONTHLY, datetime(2026, 1, 1, tzinfo=UTC), "2026-01-01"),
    ],
)
def test_a_moment_falls_into_its_labelled_bucket(
    granularity: Granularity, start: datetime, label: str
) -> None:
    moment = datetime(2026, 1, 31, 13, 59, 59, 999_999, tzinfo=UTC)
    assert floor_time(moment, granularity) == start
    assert bucket_label(start, granularity) == label


def test_a_leap_february_is_one_month() -> None:
    february = datetime(2028, 2, 1, tzinfo=UTC)
    assert next_bucket(february, Granularity.MONTHLY) == datetime(2028, 3, 1, tzinfo=UTC)


@given(moment=moments, granularity=st.sampled_from(Granularity))
def test_every_moment_is_in_exactly_one_bucket(moment: datetime, granularity: Granularity) -> None:
    bucket = floor_time(moment, granularity)
    assert bucket <= moment < next_bucket(bucket, granularity)
    assert floor_time(bucket, granularity) == bucket


@given(start=moments, hours=st.integers(0, 5_000), granularity=st.sampled_from(Granularity))
def test_buckets_cover_the_range_without_gap(
    start: datetime, hours: int, granularity: Granularity
) -> None:
    hours = min(hours, 100) if granularity.is_below_hour else hours
    period = BoundedRange(start, start + timedelta(hours=hours))
    buckets = period.buckets(granularity)
    for bucket, following in pairwise(buckets):
        assert next_bucket(bucket, granularity) == following
    if buckets:
        assert buckets[0] <= period.start
        assert buckets[-1] < period.end <= next_bucket(buckets[-1], granularity)
    else:
        assert hours == 0 or period.start == period.end


def test_more_than_ten_thousand_buckets_are_rejected() -> None:
    start = datetime(2020, 1, 1, tzinfo=UTC)
    most = BoundedRange(start, start + timedelta(hours=MAX_BUCKETS))
    assert len(most.buckets(Granularity.HOURLY)) == MAX_BUCKETS
    with pytest.raises(Invalid, match="10,000 buckets"):
        BoundedRange(start, most.end + timedelta(seconds=1)).buckets(Granularity.HOURLY)


@given(moment=st.datetimes(timezones=st.just(UTC)))
def test_every_supported_time_round_trips(moment: datetime) -> None:
    text = moment.isoformat().replace("+00:00", "Z")
    if EARLIEST <= moment < LATEST:
        assert TimeRange.parse(text, None).start == moment
    else:
        with pytest.raises(Invalid):
            TimeRange.parse(text, None)
