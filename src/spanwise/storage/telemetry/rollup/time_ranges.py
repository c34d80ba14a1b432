"""Arithmetic on time ranges, hours and ten-second slices."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from spanwise.model.times import BoundedRange, Granularity, floor_time, next_bucket

# Ingest accepts only traces that start between these.
FIRST_START, LAST_START = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 2, tzinfo=UTC)
ALL_TIME = BoundedRange(FIRST_START, LAST_START)

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
SLICE_LENGTH = timedelta(seconds=10)
# SQL for the start of the slice that a trace starts in.
SLICE_START = "toDateTime(intDiv(toUnixTimestamp(start), 10) * 10, 'UTC')"


def clamp(period: BoundedRange) -> BoundedRange:
    """Return the part of a period in which traces can start."""
    return BoundedRange(
        min(max(period.start, FIRST_START), LAST_START),
        max(min(period.end, LAST_START), FIRST_START),
    )


def find_whole_buckets(period: BoundedRange, granularity: Granularity) -> BoundedRange | None:
    """Return the range of buckets entirely within a period, None if there are none."""
    first, end = (floor_time(edge, granularity) for edge in (period.start, period.end))
    if first != period.start:
        first = next_bucket(first, granularity)
    return BoundedRange(first, end) if first < end else None


def floor_hour(moment: datetime) -> datetime:
    return floor_time(moment, Granularity.HOURLY)


def floor_slice(moment: datetime) -> datetime:
    return moment - (moment - FIRST_START) % SLICE_LENGTH


def to_seconds(bucket: datetime) -> int:
    """Return the Unix time of a bucket's start, which the engine returns without a time zone."""
    return int(bucket.replace(tzinfo=UTC).timestamp())


def list_hours(start: datetime, end: datetime) -> list[datetime]:
    """Return the whole hours of a range that starts on the hour."""
    return [start + n * HOUR for n in range((end - start) // HOUR)]


def list_days(start: datetime, end: datetime) -> list[datetime]:
    """Return the whole days of a range that starts at midnight."""
    return [start + n * DAY for n in range((end - start) // DAY)]


def join_slices(slices: Sequence[datetime]) -> list[BoundedRange]:
    """Join adjacent slices, given in order, into ranges."""
    ranges: list[BoundedRange] = []
    for at in slices:
        if ranges and ranges[-1].end == at:
            ranges[-1] = BoundedRange(ranges[-1].start, at + SLICE_LENGTH)
        else:
            ranges.append(BoundedRange(at, at + SLICE_LENGTH))
    return ranges


def join_hours(hours: Sequence[datetime], period: BoundedRange) -> list[BoundedRange]:
    """Join adjacent hours, given in order, into ranges clipped to the period."""
    ranges: list[BoundedRange] = []
    for at in hours:
        start, end = max(at, period.start), min(at + HOUR, period.end)
        if ranges and ranges[-1].end == start:
            start = ranges.pop().start
        ranges.append(BoundedRange(start, end))
    return ranges


def subtract(
    ranges: Sequence[BoundedRange], excluded: Sequence[BoundedRange]
) -> list[BoundedRange]:
    """Return sorted ranges without the parts in excluded ranges, which are sorted too."""
    left: list[BoundedRange] = []
    for piece in ranges:
        start = piece.start
        for other in excluded:
            if other.start < piece.end and other.end > start:
                left.append(BoundedRange(start, max(start, other.start)))
                start = other.end
        left.append(BoundedRange(start, max(start, piece.end)))
    return [piece for piece in left if piece.start < piece.end]
