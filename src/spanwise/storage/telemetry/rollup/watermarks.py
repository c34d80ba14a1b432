"""Watermarks: the write times up to which the rollup contains every trace."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from clickhouse_connect.driver.client import Client

from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.conditions import to_engine_time
from spanwise.storage.telemetry.engine.query import Rows, query_rows
from spanwise.storage.telemetry.rollup.time_ranges import HOUR, floor_hour
from spanwise.storage.telemetry.rows.decoding import in_utc

BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
CACHE_SECONDS = 10
# Slices are kept for traces that start up to this long before the hour of the hour watermark.
SLICE_LOOKBACK = 2 * HOUR

_READ = """
SELECT 'hour' AS step, max(swept_until) AS mark FROM rollup_sweeps HAVING count() > 0
UNION ALL
SELECT 'slice' AS step, max(swept_until) AS mark FROM slice_sweeps HAVING count() > 0"""
_ADVANCE = "INSERT INTO {table} SELECT {{until:DateTime64(3, 'UTC')}}"


@dataclass(frozen=True)
class Watermarks:
    """Traces written up to `hours` are in `trace_rollup`, up to `slices` in `trace_slices`."""

    hours: datetime
    slices: datetime | None = None
    slice_lookback: timedelta = SLICE_LOOKBACK

    @property
    def first_open_hour(self) -> datetime:
        """The first hour that cannot be complete in `trace_rollup`."""
        return floor_hour(self.hours)

    @property
    def first_sliced_hour(self) -> datetime:
        """The first hour whose changes are all in `trace_slices`."""
        return self.first_open_hour - self.slice_lookback


class WatermarkStore:
    """Reads and advances the watermarks. Readers use a cached copy.

    A stale copy is harmless: recently recomputed hours are then read from the traces.
    """

    def __init__(self, engine: Engine, slice_lookback: timedelta = SLICE_LOOKBACK) -> None:
        self.slice_lookback = slice_lookback
        self._engine = engine
        self._cached: Watermarks | None = None
        self._expires_at = 0.0

    async def read(self) -> Watermarks | None:
        """Return the watermarks, at most some seconds old; None before the first run."""
        if time.monotonic() > self._expires_at:
            rows = await self._engine.fetch(_READ, {}, tag="rollup_marks")
            self.cache(self._to_watermarks(rows))
        return self._cached

    def read_uncached(self, client: Client) -> Watermarks | None:
        return self._to_watermarks(query_rows(client, _READ, {}))

    def advance_hours(self, client: Client, until: datetime) -> None:
        self._advance(client, "rollup_sweeps", until)

    def advance_slices(self, client: Client, until: datetime) -> None:
        self._advance(client, "slice_sweeps", until)

    def cache(self, watermarks: Watermarks | None) -> None:
        self._cached = watermarks
        self._expires_at = time.monotonic() + CACHE_SECONDS

    def expire(self) -> None:
        """Make the next reader read the watermarks from the engine."""
        self._expires_at = 0.0

    def _advance(self, client: Client, table: str, until: datetime) -> None:
        sql = _ADVANCE.format(table=table)
        client.command(sql, parameters={"until": to_engine_milliseconds(until)})
        self.expire()

    def _to_watermarks(self, rows: Rows) -> Watermarks | None:
        found = {row["step"]: in_utc(row["mark"]) for row in rows}
        if "hour" not in found:
            return None
        return Watermarks(found["hour"], found.get("slice"), self.slice_lookback)


def to_engine_milliseconds(moment: datetime) -> str:
    """Format a time as precisely as `written_at` is stored."""
    return to_engine_time(moment)[:-3]
