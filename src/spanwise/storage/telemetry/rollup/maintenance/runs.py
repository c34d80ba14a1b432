"""Keeps the rollup up to date: recomputes what was written since the last maintenance run.

A run recomputes the hours that were written since the watermark and have been quiet for a while,
then their days and months, and only then advances the watermark. Nothing depends on the write path:
a run that dies is repeated, and a rebuild is a run from the beginning.

Under heavy ingest the hours that are not quiet have too many traces to read. For them, slices of
ten seconds are recomputed every few seconds.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta

from clickhouse_connect.driver.client import Client

from spanwise.model.times import BoundedRange, Granularity, floor_time, next_bucket
from spanwise.storage.telemetry.engine.client_pool import BACKGROUND_SETTINGS, Engine
from spanwise.storage.telemetry.engine.conditions import to_engine_seconds
from spanwise.storage.telemetry.engine.query import query_rows
from spanwise.storage.telemetry.rollup.maintenance.expiry import drop_slices
from spanwise.storage.telemetry.rollup.maintenance.idle import IdleCheck
from spanwise.storage.telemetry.rollup.maintenance.recompute import recompute, recompute_slices
from spanwise.storage.telemetry.rollup.recent_changes import RecentChanges
from spanwise.storage.telemetry.rollup.time_ranges import DAY, HOUR, SLICE_START, join_slices
from spanwise.storage.telemetry.rollup.watermarks import (
    BEGINNING,
    WatermarkStore,
    to_engine_milliseconds,
)
from spanwise.storage.telemetry.rows.decoding import in_utc

# Longer than any insert may take, so that the watermark never passes a row that is not visible yet.
QUIET_SECONDS = 600
# Fewer traces than this are read as fast as their slices.
MIN_SLICE_TRACES = 2000
# A month is merged into one part when nothing was written to it for this long.
QUIET_MONTH_SECONDS = 600
_MERGE_SECONDS = 30
# Limits per statement: many small ones add fixed costs, a large one needs much memory.
MAX_BATCH_LENGTH, MAX_BATCH_TRACES = 31 * DAY, 200_000
_RANGES_PER_STATEMENT = 50
# Without changes, hours are updated this often.
_IDLE_SECONDS = 1800

_CHANGED_DAYS = """
SELECT toStartOfDay(start) AS day, count() AS traces FROM traces
WHERE written_at > {since:DateTime64(3, 'UTC')} AND written_at <= {until:DateTime64(3, 'UTC')}
GROUP BY day ORDER BY day"""
_CHANGED_SLICES = f"""
SELECT {SLICE_START} AS slice, count() AS traces FROM traces
WHERE start >= {{from:DateTime64(9, 'UTC')}}
    AND written_at > {{since:DateTime64(3, 'UTC')}} AND written_at <= {{until:DateTime64(3, 'UTC')}}
GROUP BY slice ORDER BY slice"""
_QUIET_MONTHS = """
SELECT table, partition_id FROM system.parts
WHERE database = currentDatabase() AND active AND table IN ('traces', 'trace_rollup')
AND partition_id < toString(toYYYYMM(now('UTC')))
GROUP BY table, partition_id
HAVING count() > 1 AND max(modification_time) < now() - {quiet:Float64}
ORDER BY table, partition_id DESC LIMIT 1"""


class Interrupted(Exception):  # noqa: N818 -- an outcome, not a defect
    """A run was interrupted. Nothing is lost: its watermark was not advanced."""


class Maintenance:
    """Runs in worker threads. A lock keeps runs and retention apart; slices need none.

    `visible_until` returns the write time up to which all traces are visible, or None if unknown.
    `changes` are those of this process, if no other process writes.
    """

    def __init__(
        self,
        engine: Engine,
        watermarks: WatermarkStore,
        quiet_seconds: float,
        visible_until: Callable[[], datetime | None],
        min_slice_traces: int,
        changes: RecentChanges | None,
    ) -> None:
        self._engine = engine
        self._watermarks = watermarks
        self._quiet_seconds = quiet_seconds
        self._visible_until = visible_until
        self._min_slice_traces = min_slice_traces
        # A change is recomputed after the quiet period; the watermark advances every hour.
        self._hours_idle = IdleCheck(changes, quiet_seconds, _IDLE_SECONDS)
        self._slices_idle = IdleCheck(changes)
        self._clients: dict[str, Client] = {}
        self._running = threading.Lock()
        self._interrupted = threading.Event()

    async def update(self, quiet_seconds: float | None = None) -> int:
        """Bring hours, days and months up to date; returns the number of changed days."""
        quiet = self._quiet_seconds if quiet_seconds is None else quiet_seconds
        return await asyncio.to_thread(self._update, quiet)

    async def update_slices(self) -> int:
        """Bring the slices up to date; returns the number of new traces, 0 if too few."""
        if not self._slices_idle.has_work():
            return 0
        with self._slices_idle.completing() as completion:
            traces = await asyncio.to_thread(self._update_slices)
            completion.is_complete = traces is not None
            return traces or 0

    async def update_and_merge(self) -> None:
        """Update, then merge months without recent writes, unless interrupted."""
        if not self._hours_idle.has_work():
            return
        with suppress(Interrupted), self._hours_idle.completing() as completion:
            await self.update()
            completion.is_complete = await asyncio.to_thread(self._merge_quiet_months)

    def _merge_quiet_months(self) -> bool:
        """Merge months for about as long as the interval between runs; False if some are left."""
        deadline = time.monotonic() + _MERGE_SECONDS
        while time.monotonic() < deadline and not self._interrupted.is_set():
            if merge_quiet_month(self._client("hours")) is None:
                return True
        return False

    async def rebuild(self) -> int:
        """Recompute the whole rollup; returns the number of days. Nothing may read during it."""
        for table in ("rollup_sweeps", "slice_sweeps", "trace_rollup", "trace_slices"):
            await asyncio.to_thread(self._client("hours").command, f"TRUNCATE TABLE {table}")
        return await self.update()

    def interrupt(self) -> None:
        """Stop a run after its current statement."""
        self._interrupted.set()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Block runs while traces are removed, which a run could still count."""
        with self._running:
            yield

    def _update(self, quiet_seconds: float) -> int:
        with self._running:
            client = self._client("hours")
            watermarks = self._watermarks.read_uncached(client)
            until = read_clock(client) - timedelta(seconds=quiet_seconds)
            if visible := self._visible_until():
                until = min(until, visible)
            since = watermarks.hours if watermarks else BEGINNING
            written = {
                "since": to_engine_milliseconds(since),
                "until": to_engine_milliseconds(until),
            }
            rows = query_rows(client, _CHANGED_DAYS, written)
            days = {in_utc(row["day"]): int(row["traces"]) for row in rows}
            for batch in batch_days(days):
                if self._interrupted.is_set():
                    raise Interrupted
                recompute(client, batch, ("hour", "day"), written)
            if days:
                recompute(client, _whole_months(min(days), max(days)), ("month",), written)
            # Advance even without changes: slices are read from the hour of the watermark on.
            if days or until - since >= HOUR:
                self._watermarks.advance_hours(client, until)
                drop_slices(client, until - self._watermarks.slice_lookback - DAY)
            return len(days)

    def _update_slices(self) -> int | None:
        """Return the number of new traces; None before the first update of the hours."""
        client = self._client("slices")
        watermarks = self._watermarks.read_uncached(client)
        if watermarks is None:
            return None
        visible = self._visible_until()
        until = visible or read_clock(client) - timedelta(seconds=self._quiet_seconds)
        written = {
            "from": to_engine_seconds(watermarks.first_sliced_hour),
            "since": to_engine_milliseconds(watermarks.slices or BEGINNING),
            "until": to_engine_milliseconds(until),
        }
        rows = query_rows(client, _CHANGED_SLICES, written)
        traces = sum(int(row["traces"]) for row in rows)
        if traces < self._min_slice_traces:
            return 0
        ranges = join_slices([in_utc(row["slice"]) for row in rows])
        for first in range(0, len(ranges), _RANGES_PER_STATEMENT):
            recompute_slices(client, ranges[first : first + _RANGES_PER_STATEMENT])
        self._watermarks.advance_slices(client, until)
        self._watermarks.cache(replace(watermarks, slices=until))
        return traces

    def _client(self, work: str) -> Client:
        """Return the client for one kind of work: a client serves one query at a time."""
        if work not in self._clients:
            self._clients[work] = self._engine.new_client(BACKGROUND_SETTINGS)
        return self._clients[work]


def batch_days(days: Mapping[datetime, int]) -> Iterator[BoundedRange]:
    """Group days, given with their number of traces, into ranges to recompute in one statement."""
    first: datetime | None = None
    last, traces = BEGINNING, 0
    for day, count in days.items():
        if first is not None and (
            traces + count > MAX_BATCH_TRACES or day - first > MAX_BATCH_LENGTH
        ):
            yield BoundedRange(first, last + DAY)
            first, traces = None, 0
        first, last = first or day, day
        traces += count
    if first is not None:
        yield BoundedRange(first, last + DAY)


def merge_quiet_month(client: Client, quiet_seconds: float = QUIET_MONTH_SECONDS) -> str | None:
    """Merge one month of traces or their rollup that has several parts; returns which.

    A month in one part is read several times as fast: no versions need to be compared.
    """
    rows = query_rows(client, _QUIET_MONTHS, {"quiet": quiet_seconds})
    if not rows:
        return None
    table, month = rows[0]["table"], rows[0]["partition_id"]
    client.command(f"OPTIMIZE TABLE {table} PARTITION ID '{month}' FINAL")
    return f"{table} {month}"


def _whole_months(first_day: datetime, last_day: datetime) -> BoundedRange:
    first, last = (floor_time(day, Granularity.MONTHLY) for day in (first_day, last_day))
    return BoundedRange(first, next_bucket(last, Granularity.MONTHLY))


def read_clock(client: Client) -> datetime:
    """Return the time of the engine's clock, which also sets `written_at`."""
    now: datetime = query_rows(client, "SELECT now64(3) AS now", {})[0]["now"]
    return in_utc(now)
