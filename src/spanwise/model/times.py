"""Time ranges, granularities and buckets."""

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum

from spanwise.model.errors import Invalid

MAX_BUCKETS = 10_000
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)
# Telemetry outside this range is rejected; the engine stores times within it exactly.
EARLIEST_STORED = datetime(2000, 1, 1, tzinfo=UTC)
LATEST_STORED = datetime(2100, 1, 1, tzinfo=UTC)
# Tolerance for client clocks that run ahead.
MAX_AHEAD = timedelta(days=2)

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_DATE_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?")


class Granularity(StrEnum):
    MINUTE = "1m"
    FIVE_MINUTES = "5m"
    QUARTER_HOUR = "15m"
    HOURLY = "hourly"
    DAILY = "daily"
    WEEKLY = "weekly"
    MONTHLY = "monthly"

    @property
    def length(self) -> timedelta | None:
        """The length of a bucket that is shorter than a day, else None."""
        return _LENGTHS.get(self)

    @property
    def is_below_hour(self) -> bool:
        return self.length is not None and self is not Granularity.HOURLY


_LENGTHS = {
    Granularity.MINUTE: timedelta(minutes=1),
    Granularity.FIVE_MINUTES: timedelta(minutes=5),
    Granularity.QUARTER_HOUR: timedelta(minutes=15),
    Granularity.HOURLY: timedelta(hours=1),
}


@dataclass(frozen=True)
class TimeRange:
    """From `start`, inclusive, to `end`, exclusive; None = unbounded."""

    start: datetime | None = None
    end: datetime | None = None

    @classmethod
    def parse(
        cls,
        start: str | None,
        end: str | None,
        start_field: str = "startDate",
        end_field: str = "endDate",
    ) -> "TimeRange":
        """Parse the bounds of a period. A date-only end includes that whole day."""
        start_at = parse_time(start_field, start) if start is not None else None
        end_at = parse_time(end_field, end) if end is not None else None
        last = end_at
        if end_at is not None and end is not None and _DATE.fullmatch(end):
            end_at += timedelta(days=1)
            last = end_at - timedelta(microseconds=1)
        if start_at is not None and last is not None and start_at > last:
            raise Invalid.field(start_field, f"must not be after {end_field}")
        return cls(start_at, end_at)

    def or_last_days(self, days: int, now: datetime) -> "BoundedRange":
        """Fill in missing bounds: `end` with now, `start` with this many days before the end."""
        end = self.end or max(now, self.start or now)
        return BoundedRange(self.start or max(EARLIEST, end - timedelta(days=days)), end)

    def or_all(self) -> "BoundedRange":
        """Fill in missing bounds with the earliest and the latest supported time."""
        return BoundedRange(self.start or EARLIEST, self.end or LATEST)


@dataclass(frozen=True)
class BoundedRange:
    start: datetime
    end: datetime

    def buckets(self, granularity: Granularity) -> list[datetime]:
        """Return the start of every bucket that overlaps the range, in order."""
        buckets: list[datetime] = []
        bucket = floor_time(self.start, granularity)
        while bucket < self.end:
            buckets.append(bucket)
            if len(buckets) > MAX_BUCKETS:
                raise Invalid.field(
                    "granularity",
                    f"{granularity} over this range gives more than 10,000 buckets; choose a "
                    "coarser one or a shorter range",
                )
            bucket = next_bucket(bucket, granularity)
        return buckets


def floor_time(at: datetime, granularity: Granularity) -> datetime:
    """Return the start of the bucket that contains the time; weeks start on Monday."""
    if granularity.length is not None:
        return at.astimezone(UTC) - (at - EARLIEST) % granularity.length
    midnight = datetime.combine(at.astimezone(UTC).date(), time(), UTC)
    if granularity is Granularity.WEEKLY:
        return midnight - timedelta(days=midnight.weekday())
    return midnight.replace(day=1) if granularity is Granularity.MONTHLY else midnight


def next_bucket(bucket: datetime, granularity: Granularity) -> datetime:
    if granularity.length is not None:
        return bucket + granularity.length
    if granularity is Granularity.MONTHLY:
        return bucket + timedelta(days=monthrange(bucket.year, bucket.month)[1])
    return bucket + timedelta(days=7 if granularity is Granularity.WEEKLY else 1)


def bucket_label(bucket: datetime, granularity: Granularity) -> str:
    """Format a bucket's start as the `date` of a series point."""
    if granularity.length is not None:
        return bucket.strftime("%Y-%m-%dT%H:%M:00Z")
    return bucket.strftime("%Y-%m-%d")


def parse_time(field: str, text: str) -> datetime:
    """Parse a date (midnight UTC) or a time (UTC unless it has an offset)."""
    try:
        if _DATE.fullmatch(text):
            at = datetime.combine(date.fromisoformat(text), time(), UTC)
        elif _DATE_TIME.fullmatch(text):
            parsed = datetime.fromisoformat(text)
            at = parsed.replace(tzinfo=parsed.tzinfo or UTC).astimezone(UTC)
        else:
            raise ValueError(text)
    except (ValueError, OverflowError):
        raise Invalid.field(
            field, "must be a date such as 2026-01-31 or a time such as 2026-01-31T12:00:00Z"
        ) from None
    if not EARLIEST <= at < LATEST:
        raise Invalid.field(field, "must lie between 1970-01-01 and 2199-12-31")
    return at


def to_unix_nano(at: datetime) -> int:
    """Convert exactly: seconds as a float would lose microseconds."""
    delta = at - EARLIEST
    return (delta.days * 86_400 + delta.seconds) * 1_000_000_000 + delta.microseconds * 1000
