"""Decides which table answers which part of a time range, so that each part is read once."""

from dataclasses import dataclass, field, replace
from datetime import datetime

from spanwise.model.times import BoundedRange, Granularity, floor_time, next_bucket
from spanwise.storage.telemetry.rollup.time_ranges import (
    DAY,
    find_whole_buckets,
    floor_hour,
    floor_slice,
    join_slices,
    list_days,
    list_hours,
)

# With more single hours than this, reading all traces is no slower.
MAX_SINGLE_HOURS = 2000
# With more ranges of dirty slices than this, reading the traces of their hours is no slower.
MAX_TRACE_RANGES = 200


@dataclass(frozen=True)
class Plan:
    """Which hours, days and months to read from where; together they cover the period once.

    Buckets excluded from a range are read at a finer resolution.
    """

    # Hours to read from raw traces: dirty, or only partly in the period.
    trace_hours: list[datetime]
    # Clean aggregates of `trace_rollup`; `hours` as a range excludes `trace_hours`.
    hours: BoundedRange | list[datetime]
    days: BoundedRange | list[datetime] = field(default_factory=list)
    excluded_days: list[datetime] = field(default_factory=list)
    months: BoundedRange | None = None
    excluded_months: list[datetime] = field(default_factory=list)
    # Hours to read from `trace_slices`, except these ranges, which are read from raw traces.
    sliced_hours: list[datetime] = field(default_factory=list)
    trace_ranges: list[BoundedRange] = field(default_factory=list)


def make_plan(
    period: BoundedRange, dirty_hours: set[datetime], granularity: Granularity
) -> Plan | None:
    """Return how to read a period, or None if reading all of its traces is as fast."""
    hours = find_whole_buckets(period, Granularity.HOURLY)
    edges = (period.start, period.end)
    cut_hours = {floor_hour(edge) for edge in edges if floor_hour(edge) != edge}
    trace_hours = sorted(dirty_hours | cut_hours)
    if granularity.is_below_hour and hours is not None:
        # An hour of the rollup has no minutes; slices have.
        trace_hours = sorted({*trace_hours, *list_hours(hours.start, hours.end)})
        hours = None
    if len(trace_hours) > MAX_SINGLE_HOURS:
        return None
    if hours is None:
        return Plan(trace_hours, []) if trace_hours else None
    days = find_whole_buckets(hours, Granularity.DAILY)
    if granularity is Granularity.HOURLY or days is None:
        return Plan(trace_hours, hours)
    plan = _plan_days(trace_hours, days, granularity)
    single = [*list_hours(hours.start, days.start), *list_hours(days.end, hours.end)]
    single += [hour for day in plan.excluded_days for hour in list_hours(day, day + DAY)]
    if len(single) > MAX_SINGLE_HOURS:
        return None
    return replace(plan, hours=sorted(set(single) - set(trace_hours)))


def _plan_days(trace_hours: list[datetime], days: BoundedRange, granularity: Granularity) -> Plan:
    """Plan which whole days to read by day and by month; the caller adds the hours."""
    dirty_days = {floor_time(hour, Granularity.DAILY) for hour in trace_hours}
    is_monthly = granularity is Granularity.MONTHLY
    months = find_whole_buckets(days, Granularity.MONTHLY) if is_monthly else None
    if months is None:
        excluded = sorted(day for day in dirty_days if days.start <= day < days.end)
        return Plan(trace_hours, [], days, excluded)
    dirty_months = {floor_time(day, Granularity.MONTHLY) for day in dirty_days}
    excluded = sorted(month for month in dirty_months if months.start <= month < months.end)
    single = [*list_days(days.start, months.start), *list_days(months.end, days.end)]
    single += [
        day
        for month in excluded
        for day in list_days(month, next_bucket(month, Granularity.MONTHLY))
    ]
    return Plan(
        trace_hours,
        hours=[],
        days=sorted(set(single) - dirty_days),
        excluded_days=sorted(dirty_days.intersection(single)),
        months=months,
        excluded_months=excluded,
    )


def use_slices(
    plan: Plan, first_sliced_hour: datetime, period: BoundedRange, dirty_slices: set[datetime]
) -> Plan:
    """Read slices instead of raw traces in the hours of a plan that have slices.

    Slices that are dirty, or only partly in the period, are still read from raw traces.
    """
    hours = [hour for hour in plan.trace_hours if hour >= first_sliced_hour]
    edges = (period.start, period.end)
    cut_slices = {floor_slice(edge) for edge in edges if floor_slice(edge) != edge}
    ranges = join_slices(sorted(at for at in dirty_slices | cut_slices if floor_hour(at) in hours))
    if len(ranges) > MAX_TRACE_RANGES:
        return plan
    return replace(
        plan,
        trace_hours=[hour for hour in plan.trace_hours if hour < first_sliced_hour],
        sliced_hours=hours,
        trace_ranges=ranges,
    )
