"""Keeps `trace_rollup` up to date: computed anew from the traces, hour by hour and day by day.

A sweep takes the hours that were written since the last sweep and have been quiet for a while,
computes them anew, and only then moves the mark up to which the rollup is complete. Reading takes
every hour with a trace written after the mark from the traces (`analytics_source`). So the rollup
needs nothing of the write path, a sweep that dies is simply done again, and a rebuild is a sweep
from the beginning. Several sweeps at once compute the same.
"""

import asyncio
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from clickhouse_connect.driver.client import Client

from spanwise.storage.telemetry.analytics_source import LATENCY_BOUNDS_MS, MEASURES
from spanwise.storage.telemetry.conditions import to_engine_time
from spanwise.storage.telemetry.engine import Engine, query_rows
from spanwise.storage.telemetry.values import in_utc

# Longer than any insert may take: a row that is not visible yet is never swept past.
QUIET_SECONDS = 600
MARK_SECONDS = 10
# A month is merged into one part when nothing has come in for it for so long.
QUIET_MONTH_SECONDS = 7200
_CLIENT_SETTINGS = {"max_execution_time": 600, "max_threads": 1}
_DAY = timedelta(days=1)
# What a sweep computes at once, at most.
_STRETCH, _STRETCH_TRACES = 31 * _DAY, 200_000

_SUMS = (
    *("traces", "errors", "duration_ms", "input_tokens", "output_tokens", "cost"),
    *(f"under_{ms}" for ms in LATENCY_BOUNDS_MS),
)
# A map without a number above zero loses its key: so costs, which may be 0, go with calls.
_MAPS = (
    ("latency_keys", "latency_counts"),
    ("error_types", "error_counts"),
    ("models", "model_calls", "model_costs"),
    ("tools", "tool_calls"),
)


class Interrupted(Exception):  # noqa: N818 -- an outcome, not a defect
    """A sweep was told to stop. Nothing is lost: its mark has not moved."""


class Rollup:
    """The rollup of one engine. `swept_until` is what readers need to know of it."""

    def __init__(self, engine: Engine, quiet_seconds: float = QUIET_SECONDS) -> None:
        self._engine = engine
        self._quiet_seconds = quiet_seconds
        self._mark: datetime | None = None
        self._mark_expires = 0.0
        self._client: Client | None = None
        self._interrupted = threading.Event()

    async def swept_until(self) -> datetime | None:
        """Return the time up to which all that was written is in the rollup.

        One that is some seconds old does no harm: what has been swept since is read from the
        traces a little longer.
        """
        if time.monotonic() > self._mark_expires:
            rows = await self._engine.fetch(_MARK, {}, tag="rollup_mark")
            self._mark = _read_mark(rows[0])
            self._mark_expires = time.monotonic() + MARK_SECONDS
        return self._mark

    async def keep_up(self) -> None:
        """Sweep, then merge a month that has gone quiet; what runs by the clock."""
        with suppress(Interrupted):
            await self.sweep()
            await asyncio.to_thread(merge_quiet_month, self._own_client())

    async def sweep(self) -> int:
        """Bring the rollup up to date; returns how many days had something new."""
        return await asyncio.to_thread(self._sweep)

    async def rebuild(self) -> int:
        """Compute the whole rollup anew; returns for how many days. Nobody may read meanwhile."""
        client = self._own_client()
        for table in ("rollup_sweeps", "trace_rollup"):
            await asyncio.to_thread(client.command, f"TRUNCATE TABLE {table}")
        return await self.sweep()

    def interrupt(self) -> None:
        """Let a sweep that is under way end after the days it is at."""
        self._interrupted.set()

    def _sweep(self) -> int:
        client = self._own_client()
        since = _read_mark(query_rows(client, _MARK, {})[0])
        # The engine's clock, which also gives the rows their times.
        now: datetime = query_rows(client, "SELECT now64(3) AS now", {})[0]["now"]
        until = in_utc(now) - timedelta(seconds=self._quiet_seconds)
        written = {"since": _milliseconds(since or _BEGINNING), "until": _milliseconds(until)}
        days = query_rows(client, _CHANGED_DAYS, written)
        for first, last in _stretches({in_utc(row["day"]): row["traces"] for row in days}):
            if self._interrupted.is_set():
                raise Interrupted
            _build(client, first, last + _DAY, written)
        if days or since is None:
            client.command(_MOVE_MARK, parameters={"until": _milliseconds(until)})
            self._mark_expires = 0.0
        return len(days)

    def _own_client(self) -> Client:
        if self._client is None:
            self._client = self._engine.new_client(_CLIENT_SETTINGS)
        return self._client


_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
_MARK = "SELECT max(swept_until) AS mark, count() AS sweeps FROM rollup_sweeps"
_MOVE_MARK = "INSERT INTO rollup_sweeps SELECT {until:DateTime64(3, 'UTC')}"


def _read_mark(row: Mapping[str, Any]) -> datetime | None:
    return in_utc(row["mark"]) if row["sweeps"] else None


_CHANGED_DAYS = """
SELECT toStartOfDay(start) AS day, count() AS traces FROM traces
WHERE written_at > {since:DateTime64(3, 'UTC')} AND written_at <= {until:DateTime64(3, 'UTC')}
GROUP BY day ORDER BY day"""

_WITHIN = "start >= {first:DateTime('UTC')} AND start < {end:DateTime('UTC')}"
_MOMENT_WITHIN = "moment >= {first:DateTime('UTC')} AND moment < {end:DateTime('UTC')}"


def _stretches(days: Mapping[datetime, int]) -> Iterator[tuple[datetime, datetime]]:
    """Group days, given with their traces, into stretches that are computed at once.

    Each costs the engine the same before its first row, so a day at a time would be slow; and a
    year at a time would need its memory.
    """
    stretch: list[datetime] = []
    traces = 0
    for day, count in days.items():
        if stretch and (traces + count > _STRETCH_TRACES or day - stretch[0] > _STRETCH):
            yield stretch[0], stretch[-1]
            stretch, traces = [], 0
        stretch.append(day)
        traces += count
    if stretch:
        yield stretch[0], stretch[-1]


def _quiet(step: str) -> str:
    """SQL for the hours, or the day, that were written since the last sweep but not later."""
    return f"""
    SELECT workspace, {step}(start) FROM traces
    WHERE {_WITHIN} AND written_at > {{since:DateTime64(3, 'UTC')}}
    GROUP BY workspace, {step}(start) HAVING max(written_at) <= {{until:DateTime64(3, 'UTC')}}"""


def _build(client: Client, first: datetime, end: datetime, written: Mapping[str, Any]) -> None:
    """Compute the hours and days of a stretch of whole days that have changed."""
    parameters = {
        **written,
        "first": first.strftime("%Y-%m-%d %H:%M:%S"),
        "end": end.strftime("%Y-%m-%d %H:%M:%S"),
        "version": time.time_ns(),
    }
    measures = ", ".join(f"{sql} AS {name}" for name, sql in MEASURES.items())
    of_traces = f"""
        SELECT workspace, toStartOfHour(start) AS moment, environment, {measures}
        FROM traces FINAL
        WHERE {_WITHIN} AND (workspace, toStartOfHour(start)) IN ({_quiet("toStartOfHour")})"""
    of_hours = f"""
        SELECT workspace, toStartOfDay(moment) AS moment, environment, {", ".join(MEASURES)}
        FROM (
            SELECT * FROM trace_rollup FINAL
            WHERE step = 'hour' AND {_MOMENT_WITHIN}
            AND (workspace, toStartOfDay(moment)) IN ({_quiet("toStartOfDay")}))"""
    for step, rows, quiet in (
        ("hour", of_traces, _quiet("toStartOfHour")),
        ("day", of_hours, _quiet("toStartOfDay")),
    ):
        client.command(_empty(step, quiet), parameters=parameters)
        client.command(_add_up(step, rows), parameters=parameters)


def _empty(step: str, quiet: str) -> str:
    """SQL that sets what there is to zero: an agent may be gone from an hour by now."""
    return f"""
    INSERT INTO trace_rollup (workspace, step, moment, agent_name, environment, version)
    SELECT DISTINCT workspace, step, moment, agent_name, environment, {{version:UInt64}}
    FROM trace_rollup
    WHERE step = '{step}' AND {_MOMENT_WITHIN} AND (workspace, moment) IN ({quiet})"""


def _add_up(step: str, rows: str) -> str:
    sums = [f"sum(row.{name}) AS {name}" for name in _SUMS]
    maps = [f"sumMap({', '.join(f'row.{name}' for name in names)})" for names in _MAPS]
    columns = [
        *_SUMS,
        *(name for names in _MAPS for name in names),
        "unpriced_models",
    ]
    values = [
        *sums,
        *(
            f"{total}.{place} AS {name}"
            for names, total in zip(_MAPS, maps, strict=True)
            for place, name in enumerate(names, 1)
        ),
        "groupUniqArrayArray(row.unpriced_models) AS unpriced_models",
    ]
    return f"""
    INSERT INTO trace_rollup
        (workspace, step, moment, agent_name, environment, version, {", ".join(columns)})
    SELECT row.workspace AS workspace, '{step}' AS step, row.moment AS moment,
        row.agent_name AS agent_name, row.environment AS environment,
        {{version:UInt64}} + 1 AS version, {", ".join(values)}
    FROM ({rows}) AS row
    GROUP BY row.workspace, row.moment, row.agent_name, row.environment"""


def _milliseconds(moment: datetime) -> str:
    return to_engine_time(moment)[:-3]


def merge_quiet_month(client: Client, quiet_seconds: float = QUIET_MONTH_SECONDS) -> str | None:
    """Merge one month of traces or their rollup that is in many parts; returns which.

    A month in one part is read without comparing versions, so several times as fast.
    """
    rows = query_rows(client, _QUIET_MONTHS, {"quiet": quiet_seconds})
    if not rows:
        return None
    table, month = rows[0]["table"], rows[0]["partition_id"]
    client.command(f"OPTIMIZE TABLE {table} PARTITION ID '{month}' FINAL")
    return f"{table} {month}"


_QUIET_MONTHS = """
SELECT table, partition_id FROM system.parts
WHERE database = currentDatabase() AND active AND table IN ('traces', 'trace_rollup')
AND partition_id < toString(toYYYYMM(now('UTC')))
GROUP BY table, partition_id
HAVING count() > 1 AND max(modification_time) < now() - {quiet:Float64}
ORDER BY table, partition_id DESC LIMIT 1"""
