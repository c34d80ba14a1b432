"""Finds dirty hours and slices: those with a trace written after the watermark."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from spanwise.model.times import BoundedRange, TimeRange
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.conditions import Conditions
from spanwise.storage.telemetry.rollup.recent_changes import RecentChanges
from spanwise.storage.telemetry.rollup.time_ranges import (
    ALL_TIME,
    DAY,
    HOUR,
    SLICE_LENGTH,
    SLICE_START,
    floor_hour,
    list_hours,
)
from spanwise.storage.telemetry.rollup.watermarks import Watermarks, to_engine_milliseconds
from spanwise.storage.telemetry.rows.decoding import in_utc

_MAX_CACHED = 100


@dataclass(frozen=True)
class _Lookup:
    """Ranges in which to find buckets written after a time, and buckets that need no lookup."""

    bucket: str
    written_after: datetime
    ranges: tuple[BoundedRange, ...]
    assumed_dirty: set[datetime] = field(default_factory=set)


class DirtyRanges:
    """Caches the dirty buckets of a watermark and adds recent changes to them.

    Without recent changes, where other processes write too, every call queries the traces.
    """

    def __init__(self, engine: Engine, changes: RecentChanges | None) -> None:
        self._engine = engine
        self._changes = changes
        self._cached: dict[tuple[object, ...], tuple[int, set[datetime]]] = {}

    async def find_hours(
        self, workspace: str, period: BoundedRange, watermarks: Watermarks
    ) -> set[datetime]:
        """Return the hours of a period that cannot be read from `trace_rollup`."""
        key = (workspace, watermarks.hours, watermarks.slices is None)
        found = await self._find(
            key, workspace, period, lambda within: _plan_hours(within, watermarks)
        )
        hours = {floor_hour(moment) for moment in found}
        return {at for at in hours if period.start < at + HOUR and at < period.end}

    async def find_slices(
        self, workspace: str, period: BoundedRange, watermarks: Watermarks
    ) -> set[datetime]:
        """Return the slices of a period that cannot be read from `trace_slices`."""
        key = (workspace, watermarks)
        found = await self._find(
            key, workspace, period, lambda within: _plan_slices(within, watermarks)
        )
        first = max(watermarks.first_sliced_hour, period.start)
        return {at for at in found if first < at + SLICE_LENGTH and at < period.end}

    async def _find(
        self,
        key: tuple[object, ...],
        workspace: str,
        period: BoundedRange,
        plan: Callable[[BoundedRange], _Lookup],
    ) -> set[datetime]:
        if self._changes is None:
            return await self._look_up(workspace, plan(period))
        # Read the count first: a change that arrives meanwhile is added twice, but never lost.
        count = self._changes.count
        found = self._get_cached(key, workspace, self._changes)
        if found is None:
            found = await self._look_up(workspace, plan(ALL_TIME))
        if len(self._cached) > _MAX_CACHED:
            self._cached.clear()
        self._cached[key] = count, found
        return found

    def _get_cached(
        self, key: tuple[object, ...], workspace: str, changes: RecentChanges
    ) -> set[datetime] | None:
        """Return the cached buckets and those changed since; None if that is not known."""
        if key not in self._cached:
            return None
        count, found = self._cached[key]
        changed = changes.find_since(count, workspace)
        return None if changed is None else found | changed

    async def _look_up(self, workspace: str, lookup: _Lookup) -> set[datetime]:
        queries = [
            _compile(workspace, within, lookup)
            for within in lookup.ranges
            if within.start < within.end
        ]
        results = await asyncio.gather(
            *(self._engine.fetch(sql, bound, tag="find_dirty") for sql, bound in queries)
        )
        return lookup.assumed_dirty.union(in_utc(row["bucket"]) for rows in results for row in rows)


def _plan_hours(period: BoundedRange, watermarks: Watermarks) -> _Lookup:
    hour = "toStartOfHour(start)"
    if watermarks.slices is None:
        return _Lookup(hour, watermarks.hours, (period,))
    # Nearly all new traces start in these hours. Finding them would be slow under heavy ingest, so
    # all are assumed dirty; their slices are read instead.
    first, end = watermarks.first_open_hour, watermarks.first_open_hour + DAY
    before = BoundedRange(period.start, min(period.end, first))
    after = BoundedRange(max(period.start, end), period.end)
    return _Lookup(hour, watermarks.hours, (before, after), set(list_hours(first, end)))


def _plan_slices(period: BoundedRange, watermarks: Watermarks) -> _Lookup:
    sliced = BoundedRange(max(period.start, watermarks.first_sliced_hour), period.end)
    return _Lookup(SLICE_START, watermarks.slices or watermarks.hours, (sliced,))


def _compile(
    workspace: str, within: BoundedRange, lookup: _Lookup
) -> tuple[str, dict[str, object]]:
    where = Conditions(workspace)
    where.within("start", TimeRange(within.start, within.end))
    where.add(
        "written_at > {written_after:DateTime64(3, 'UTC')}",
        written_after=to_engine_milliseconds(lookup.written_after),
    )
    sql = f"""SELECT DISTINCT {lookup.bucket} AS bucket FROM traces WHERE {where.sql}
    SETTINGS max_threads = 1"""
    return sql, where.parameters
