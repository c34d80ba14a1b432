"""Limits of OTLP exports: sizes of ids, the accepted range of times, and months per request."""

from collections.abc import Sequence
from datetime import timedelta

from spanwise.model.errors import Invalid
from spanwise.model.times import EARLIEST, EARLIEST_STORED, LATEST_STORED, MAX_AHEAD, to_unix_nano

TRACE_ID_BYTES = 16
SPAN_ID_BYTES = 8
EARLIEST_NANO = to_unix_nano(EARLIEST_STORED)
LATEST_NANO = to_unix_nano(LATEST_STORED)
# Clocks of senders may be ahead by this much.
MAX_AHEAD_NANO = int(MAX_AHEAD.total_seconds()) * 10**9

# One year touches up to 13 months. Tables are partitioned by month, and each partition of an insert
# takes the engine about 15 ms, during which readers wait: a request with 323 months took seconds.
MAX_MONTHS = 13
_HOUR_NANO = 3600 * 10**9
_DAY_NANO = 24 * _HOUR_NANO
# Times within a shorter range cannot fall into more than `MAX_MONTHS` months.
_MIN_RANGE_NANO = (MAX_MONTHS - 1) * 28 * _DAY_NANO


def refuse_many_months(times: Sequence[int]) -> None:
    """Raise Invalid when times fall into too many months. Implausible times do not count."""
    if len(times) <= MAX_MONTHS or max(times) - min(times) < _MIN_RANGE_NANO:
        return
    days = {at // _DAY_NANO for at in times if EARLIEST_NANO <= at < LATEST_NANO}
    months = {f"{EARLIEST + timedelta(days=day):%Y-%m}" for day in days}
    if len(months) > MAX_MONTHS:
        raise Invalid(
            f"the request has items of {len(months):,} months; at most {MAX_MONTHS} are allowed"
        )


def hours_of(times: Sequence[int]) -> frozenset[int]:
    """Return the hours since 1970 of all plausible times."""
    if not times:
        return frozenset()
    first, last = min(times) // _HOUR_NANO, max(times) // _HOUR_NANO
    if first == last:
        return frozenset([first])
    return frozenset(at // _HOUR_NANO for at in times if EARLIEST_NANO <= at < LATEST_NANO)
