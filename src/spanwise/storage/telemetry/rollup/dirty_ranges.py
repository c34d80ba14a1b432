"""Which hours and slices cannot be read from the rollup: traces of them were written since."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from spanwise.model.times import BoundedRange, Granularity, TimeRange, floor_time
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.conditions import Conditions, to_engine_time
from spanwise.storage.telemetry.rollup.recent_changes import Changes
from spanwise.storage.telemetry.spans.decoding import in_utc

# The times that ingest lets a trace have.
FIRST_START, LAST_START = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 2, tzinfo=UTC)
SLICE_LENGTH = timedelta(seconds=10)
_ALL_TIME = BoundedRange(FIRST_START, LAST_START)
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
_MAX_REMEMBERED = 100

# A trace's slice of ten seconds.
SLICE = "toDateTime(intDiv(toUnixTimestamp(start), 10) * 10, 'UTC')"
# How long before the mark of the hours a trace may start and still be in the slices.
SLICES_BACK = 2 * _HOUR


@dataclass(frozen=True)
class Marks:
    """Up to when all that was written is in the rollup of hours, and in that of slices."""

    hours: datetime
    slices: datetime | None = None
    slices_back: timedelta = SLICES_BACK

    @property
    def last_hour(self) -> datetime:
        """The first hour that cannot be whole in the rollup of hours."""
        return floor_time(self.hours, Granularity.HOURLY)

    @property
    def first_sliced(self) -> datetime:
        """The first hour of which every change is in the slices."""
        return self.last_hour - self.slices_back


class DirtySteps:
    """Knows which hours, and slices of hours that have some, were written to since swept.

    Where all changes are known, it looks once and then adds them.
    """

    def __init__(self, engine: Engine, changes: Changes | None) -> None:
        self._engine = engine
        self._changes = changes
        self._found: dict[tuple[object, ...], tuple[int, set[datetime]]] = {}

    async def find_hours(self, workspace: str, period: BoundedRange, marks: Marks) -> set[datetime]:
        """Return the hours of a period that cannot be read from the rollup."""
        found = await self._find(
            (workspace, marks.hours, marks.slices is None),
            workspace,
            period,
            lambda within: _find_dirty_hours(self._engine, workspace, within, marks),
        )
        hours = {floor_time(moment, Granularity.HOURLY) for moment in found}
        return {at for at in hours if period.start < at + _HOUR and at < period.end}

    async def find_slices(
        self, workspace: str, period: BoundedRange, marks: Marks
    ) -> set[datetime]:
        """Return the slices of a period that cannot be read from `trace_slices`."""
        found = await self._find(
            (workspace, marks),
            workspace,
            period,
            lambda within: _find_dirty_slices(self._engine, workspace, within, marks),
        )
        first = max(marks.first_sliced, period.start)
        return {at for at in found if first < at + SLICE_LENGTH and at < period.end}

    async def _find(
        self,
        key: tuple[object, ...],
        workspace: str,
        period: BoundedRange,
        look: Callable[[BoundedRange], Awaitable[set[datetime]]],
    ) -> set[datetime]:
        if self._changes is None:
            return await look(period)
        number = self._changes.number
        known = self._recall(key, workspace)
        if known is None:
            known = await look(_ALL_TIME)
        if len(self._found) > _MAX_REMEMBERED:
            self._found.clear()
        self._found[key] = number, known
        return known

    def _recall(self, key: tuple[object, ...], workspace: str) -> set[datetime] | None:
        """Return what was found before and what was changed since; None to look anew."""
        if self._changes is None or key not in self._found:
            return None
        number, known = self._found[key]
        moments = self._changes.since(number, workspace)
        return None if moments is None else known | moments


async def _find_dirty_hours(
    engine: Engine, workspace: str, period: BoundedRange, marks: Marks
) -> set[datetime]:
    if marks.slices is None:
        return await _find_dirty(engine, workspace, period, "toStartOfHour(start)", marks.hours)
    # All that is new is in these hours: looking at it would take long while much comes in.
    first, end = marks.last_hour, marks.last_hour + _DAY
    before = BoundedRange(period.start, min(period.end, first))
    after = BoundedRange(max(period.start, end), period.end)
    late, future = await asyncio.gather(
        _find_dirty(engine, workspace, before, "toStartOfHour(start)", marks.hours),
        _find_dirty(engine, workspace, after, "toStartOfHour(start)", marks.hours),
    )
    return {*hours_of(first, end), *late, *future}


async def _find_dirty_slices(
    engine: Engine, workspace: str, period: BoundedRange, marks: Marks
) -> set[datetime]:
    sliced = BoundedRange(max(period.start, marks.first_sliced), period.end)
    return await _find_dirty(engine, workspace, sliced, SLICE, marks.slices or marks.hours)


async def _find_dirty(
    engine: Engine, workspace: str, period: BoundedRange, step: str, swept_until: datetime
) -> set[datetime]:
    """Return the steps of a period of which a trace was written since they were swept."""
    if period.start >= period.end:
        return set()
    where = Conditions(workspace)
    where.within("start", TimeRange(period.start, period.end))
    where.add("written_at > {swept:DateTime64(3, 'UTC')}", swept=to_engine_time(swept_until)[:-3])
    rows = await engine.fetch(
        f"SELECT DISTINCT {step} AS step FROM traces WHERE {where.sql} SETTINGS max_threads = 1",
        where.parameters,
        tag="find_dirty",
    )
    return {in_utc(row["step"]) for row in rows}


def hours_of(start: datetime, end: datetime) -> list[datetime]:
    """Return the whole hours of a range that begins with one."""
    return [start + n * _HOUR for n in range((end - start) // _HOUR)]
