"""Finds the traces before and after one in the order of a list."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from spanwise.model.telemetry.filters import Order, TraceFilter, TraceSort
from spanwise.model.telemetry.spans import Neighbours
from spanwise.model.times import TimeRange
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.filters.trace_filters import trace_conditions
from spanwise.storage.telemetry.rows.locations import TRACES_AT_LOCATION, TraceLocation
from spanwise.storage.telemetry.traces.trace_queries import SORTS

# Ranges tried first when sorted by start: in most lists a neighbour is near.
_NEAR_DAYS = (1, 30)


async def find_neighbours(
    engine: Engine, location: TraceLocation, wanted: TraceFilter, sort: TraceSort, order: Order
) -> Neighbours:
    """Return the neighbours of a trace among those that match; a trace without a root has none."""
    found = await engine.fetch(
        f"""SELECT toUnixTimestamp64Nano(start) AS nano FROM traces FINAL
        WHERE {TRACES_AT_LOCATION} LIMIT 1""",
        location.parameters,
        tag="find_trace_start",
    )
    if not found:
        return Neighbours(previous=None, next=None)
    start = datetime.fromtimestamp(found[0]["nano"] // 10**9, UTC)
    greater, lesser = await asyncio.gather(
        _find_nearest(engine, location, wanted, sort, start, is_greater=True),
        _find_nearest(engine, location, wanted, sort, start, is_greater=False),
    )
    if order is Order.ASC:
        return Neighbours(previous=lesser, next=greater)
    return Neighbours(previous=greater, next=lesser)


async def _find_nearest(
    engine: Engine,
    location: TraceLocation,
    wanted: TraceFilter,
    sort: TraceSort,
    start: datetime,
    *,
    is_greater: bool,
) -> str | None:
    """Return the trace with the next greater or lesser sort key."""
    key = f"({SORTS[sort]}, start, trace_id)"
    is_by_start = sort is TraceSort.START_TIME
    periods = _near_first(wanted.period, start, is_greater) if is_by_start else [wanted.period]
    for period in periods:
        where = trace_conditions(location.workspace, replace(wanted, period=period))
        # The key of the trace is read by the engine: a bound number may differ in its last digit.
        own_key = f"(SELECT {key} FROM traces FINAL WHERE {TRACES_AT_LOCATION} LIMIT 1)"
        rows = await engine.fetch(
            f"""SELECT lower(hex(trace_id)) AS id FROM traces FINAL
            WHERE {where.sql} AND {key} {">" if is_greater else "<"} {own_key}
            ORDER BY {key} {"ASC" if is_greater else "DESC"} LIMIT 1""",
            {**where.parameters, **location.parameters},
            tag="find_neighbour",
        )
        if rows:
            return str(rows[0]["id"])
    return None


def _near_first(period: TimeRange, start: datetime, is_greater: bool) -> Iterable[TimeRange]:
    """Return the days next to a start, more of them, and all of the period on that side."""
    if is_greater:
        after = max(period.start or start, start)
        ends = (start + timedelta(days=days) for days in _NEAR_DAYS)
        near = [TimeRange(after, min(period.end or end, end)) for end in ends]
        return dict.fromkeys((*near, TimeRange(after, period.end)))
    # `start` is in whole seconds, so the second itself is included.
    until = start + timedelta(seconds=1)
    before = min(period.end or until, until)
    starts = (start - timedelta(days=days) for days in _NEAR_DAYS)
    near = [TimeRange(max(period.start or first, first), before) for first in starts]
    return dict.fromkeys((*near, TimeRange(period.start, before)))
