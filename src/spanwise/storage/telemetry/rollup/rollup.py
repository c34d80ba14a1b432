"""Keeps `trace_rollup` up to date: computed anew from the traces, by hours, days and months.

A sweep takes the hours that were written since the last sweep and have been quiet for a while,
computes them anew, and only then moves the mark up to which the rollup is complete. Reading takes
every hour with a trace written after the mark from the traces (`analytics_source`). So the rollup
needs nothing of the write path, a sweep that dies is simply done again, and a rebuild is a sweep
from the beginning. Several sweeps at once compute the same.

While much comes in, the hours that are not quiet have more traces than can be read at once. For
them `trace_slices` is kept in the same way, in slices of ten seconds, every few seconds.
"""

import asyncio
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from clickhouse_connect.driver.client import Client

from spanwise.model.analytics import Question
from spanwise.model.telemetry.filters import TraceFilter
from spanwise.model.times import BoundedRange, Granularity, floor_time, next_bucket
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.conditions import to_engine_seconds, to_engine_time
from spanwise.storage.telemetry.engine.query import Rows, query_rows
from spanwise.storage.telemetry.rollup.aggregate_cache import SumReader
from spanwise.storage.telemetry.rollup.dirty_ranges import SLICE, SLICES_BACK, DirtySteps, Marks
from spanwise.storage.telemetry.rollup.recent_changes import Changes
from spanwise.storage.telemetry.rollup.source import (
    LATENCY_BOUNDS_MS,
    MEASURES,
    Source,
    bind_runs,
    find_source,
    in_runs,
    join_slices,
)
from spanwise.storage.telemetry.spans.decoding import in_utc

# Longer than any insert may take: a row that is not visible yet is never swept past.
QUIET_SECONDS = 600
MARK_SECONDS = 10
# Fewer traces than this are read as fast as slices of them.
MIN_SLICE_TRACES = 2000
# A month is merged into one part when nothing has come in for it for so long.
QUIET_MONTH_SECONDS = 7200
_CLIENT_SETTINGS = {"max_execution_time": 600, "max_threads": 1}
_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
# What a sweep computes at once, at most.
_STRETCH, _STRETCH_TRACES = 31 * _DAY, 200_000
_RUNS_AT_ONCE = 50

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
_SETS = ("unpriced_models", "providers", "kinds", "named_errors", "experiments")

_MEASURED = tuple(name for name in MEASURES if name not in {"agent_name", "environment"})
_NOTHING = ", ".join(f"0 AS {name}" if name in _SUMS else f"[] AS {name}" for name in _MEASURED)


class Interrupted(Exception):  # noqa: N818 -- an outcome, not a defect
    """A sweep was told to stop. Nothing is lost: its mark has not moved."""


class Rollup:
    """The rollup of one engine. `find_source` and `sums` are what readers need of it.

    `visible_until` and `changes` say up to when all that was written is visible, and what was
    written lately, where that is known exactly; `visible_as_of` is a time of the monotonic clock:
    all that was acknowledged before is visible.
    """

    def __init__(
        self,
        engine: Engine,
        quiet_seconds: float = QUIET_SECONDS,
        visible_until: Callable[[], datetime | None] = lambda: None,
        changes: Changes | None = None,
        visible_as_of: Callable[[], float] = lambda: -math.inf,
        min_slice_traces: int = MIN_SLICE_TRACES,
        slices_back: timedelta = SLICES_BACK,
    ) -> None:
        self.sums = SumReader(engine)
        self._dirty = DirtySteps(engine, changes)
        self._changes = changes
        self._engine = engine
        self._quiet_seconds = quiet_seconds
        self._visible_until = visible_until
        self._visible_as_of = visible_as_of
        self._min_slice_traces = min_slice_traces
        self._slices_back = slices_back
        self._marks: Marks | None = None
        self._marks_expire = 0.0
        # The slices that follow this hour hold all that was acknowledged before then.
        self._sliced: tuple[datetime, float] = _BEGINNING, -math.inf
        self._clients: dict[str, Client] = {}
        self._sweeping = threading.Lock()
        self._interrupted = threading.Event()

    async def marks(self) -> Marks | None:
        """Return up to when all that was written is in the rollup.

        Marks that are some seconds old do no harm: what has been swept since is read from the
        traces a little longer.
        """
        if time.monotonic() > self._marks_expire:
            rows = await self._engine.fetch(_MARKS, {}, tag="rollup_marks")
            self._note_marks(self._to_marks(rows))
        return self._marks

    async def find_source(
        self, workspace: str, question: Question, accepted_age: float = 0.0
    ) -> Source:
        """Choose what answers a question: the rollup as far as it goes.

        It may miss what was acknowledged in the last seconds, as many as are accepted.
        """
        marks = await self.marks()
        first, as_of = self._sliced
        is_fresh = (
            marks is not None
            and marks.first_sliced >= first
            and time.monotonic() - as_of <= accepted_age
        )
        return await find_source(workspace, question, marks, self._dirty, are_slices_fresh=is_fresh)

    def busy_since(self, workspace: str, wanted: TraceFilter, traces: int) -> datetime | None:
        """Return since when about so many of an agent's or all traces have started, if known."""
        if self._changes is None or wanted != TraceFilter(wanted.period, wanted.agent_name):
            return None
        start, end = wanted.period.start, wanted.period.end
        since = self._changes.busy_since(workspace, wanted.agent_name, traces, end)
        return since if since and (start is None or start <= since) else None

    async def keep_up(self) -> None:
        """Sweep, then merge a month that has gone quiet; what runs by the clock."""
        with suppress(Interrupted):
            await self.sweep()
            await asyncio.to_thread(merge_quiet_month, self._client("hours"))

    async def sweep(self, quiet_seconds: float | None = None) -> int:
        """Bring the rollup up to date; returns how many days had something new."""
        quiet = self._quiet_seconds if quiet_seconds is None else quiet_seconds
        return await asyncio.to_thread(self._sweep, quiet)

    async def sweep_slices(self) -> int:
        """Bring the slices up to date; returns how many traces were new, 0 if they can wait."""
        return await asyncio.to_thread(self._sweep_slices)

    async def rebuild(self) -> int:
        """Compute the whole rollup anew; returns for how many days. Nobody may read meanwhile."""
        for table in ("rollup_sweeps", "slice_sweeps", "trace_rollup", "trace_slices"):
            await asyncio.to_thread(self._client("hours").command, f"TRUNCATE TABLE {table}")
        return await self.sweep()

    def interrupt(self) -> None:
        """Let a sweep that is under way end after the days it is at."""
        self._interrupted.set()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let no sweep run while rows of `traces` are removed that it would still add up."""
        with self._sweeping:
            yield

    def _sweep(self, quiet_seconds: float) -> int:
        with self._sweeping:
            return self._sweep_hours(quiet_seconds)

    def _sweep_hours(self, quiet_seconds: float) -> int:
        client = self._client("hours")
        marks = self._to_marks(query_rows(client, _MARKS, {}))
        until = _now(client) - timedelta(seconds=quiet_seconds)
        since = marks.hours if marks else _BEGINNING
        written = {"since": _milliseconds(since), "until": _milliseconds(until)}
        days = query_rows(client, _CHANGED_DAYS, written)
        for first, last in _stretches({in_utc(row["day"]): row["traces"] for row in days}):
            if self._interrupted.is_set():
                raise Interrupted
            _build(client, first, last + _DAY, ("hour", "day"), written)
        if days:
            first, last = _month_of(days[0]["day"]), _month_of(days[-1]["day"])
            _build(client, first, next_bucket(last, Granularity.MONTHLY), ("month",), written)
        # Also when nothing is new: what is read by slices begins with the hour of the mark.
        if days or until - since >= _HOUR:
            self._move_mark(client, "rollup_sweeps", until)
            _drop_slices(client, until - self._slices_back - _DAY)
        return len(days)

    def _sweep_slices(self) -> int:
        client = self._client("slices")
        marks = self._to_marks(query_rows(client, _MARKS, {}))
        if marks is None:
            return 0
        as_of, visible = self._visible_as_of(), self._visible_until()
        until = visible or _now(client) - timedelta(seconds=self._quiet_seconds)
        written = {
            "from": to_engine_seconds(marks.first_sliced),
            "since": _milliseconds(marks.slices or _BEGINNING),
            "until": _milliseconds(until),
        }
        rows = query_rows(client, _NEW_SLICES, written)
        new = sum(row["traces"] for row in rows)
        if new < self._min_slice_traces:
            return 0
        runs = join_slices([in_utc(row["slice"]) for row in rows])
        for first in range(0, len(runs), _RUNS_AT_ONCE):
            _build_slices(client, runs[first : first + _RUNS_AT_ONCE])
        self._move_mark(client, "slice_sweeps", until)
        self._note_marks(replace(marks, slices=until))
        if visible is not None:
            self._sliced = marks.first_sliced, as_of
        return int(new)

    def _move_mark(self, client: Client, table: str, until: datetime) -> None:
        move = _MOVE_MARK.format(table=table)
        client.command(move, parameters={"until": _milliseconds(until)})
        self._marks_expire = 0.0

    def _note_marks(self, marks: Marks | None) -> None:
        self._marks = marks
        self._marks_expire = time.monotonic() + MARK_SECONDS

    def _to_marks(self, rows: Rows) -> Marks | None:
        found = {row["step"]: in_utc(row["mark"]) for row in rows}
        if "hour" not in found:
            return None
        return Marks(found["hour"], found.get("slice"), self._slices_back)

    def _client(self, work: str) -> Client:
        """A client for one kind of work: it serves one query at a time."""
        if work not in self._clients:
            self._clients[work] = self._engine.new_client(_CLIENT_SETTINGS)
        return self._clients[work]


_MARKS = """
SELECT 'hour' AS step, max(swept_until) AS mark FROM rollup_sweeps HAVING count() > 0
UNION ALL
SELECT 'slice' AS step, max(swept_until) AS mark FROM slice_sweeps HAVING count() > 0"""
_MOVE_MARK = "INSERT INTO {table} SELECT {{until:DateTime64(3, 'UTC')}}"


def _now(client: Client) -> datetime:
    """Return the time of the engine's clock, which also gives the rows their times."""
    now: datetime = query_rows(client, "SELECT now64(3) AS now", {})[0]["now"]
    return in_utc(now)


_CHANGED_DAYS = """
SELECT toStartOfDay(start) AS day, count() AS traces FROM traces
WHERE written_at > {since:DateTime64(3, 'UTC')} AND written_at <= {until:DateTime64(3, 'UTC')}
GROUP BY day ORDER BY day"""

_WITHIN = "start >= {first:DateTime64(9, 'UTC')} AND start < {end:DateTime64(9, 'UTC')}"
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


def _month_of(day: datetime) -> datetime:
    return floor_time(in_utc(day), Granularity.MONTHLY)


# Step -> the step that a moment belongs to, and the step that it is added up from.
_FLOORS = {
    "hour": "toStartOfHour({})",
    "day": "toStartOfDay({})",
    "month": "toDateTime(toStartOfMonth({}), 'UTC')",
}
_FINER = {"day": "hour", "month": "day"}


def _quiet(step: str) -> str:
    """SQL for the hours, days or months that were written since the last sweep but not later."""
    floor = _FLOORS[step].format("start")
    return f"""
    SELECT workspace, {floor} FROM traces
    WHERE {_WITHIN} AND written_at > {{since:DateTime64(3, 'UTC')}}
    GROUP BY workspace, {floor} HAVING max(written_at) <= {{until:DateTime64(3, 'UTC')}}"""


def _build(
    client: Client,
    first: datetime,
    end: datetime,
    steps: Sequence[str],
    written: Mapping[str, Any],
) -> None:
    """Compute those steps of a stretch that have changed, the finer ones first."""
    parameters = {
        **written,
        "first": to_engine_seconds(first),
        "end": to_engine_seconds(end),
        "version": time.time_ns(),
    }
    for step in steps:
        changed = f"{_MOMENT_WITHIN} AND (workspace, moment) IN ({_quiet(step)})"
        rows = _of_traces() if step == "hour" else _of_finer(step)
        client.command(_add_up("trace_rollup", step, rows, changed), parameters=parameters)


def _of_traces() -> str:
    measures = ", ".join(f"{sql} AS {name}" for name, sql in MEASURES.items())
    return f"""
        SELECT workspace, toStartOfHour(start) AS moment, {measures}
        FROM traces FINAL
        WHERE {_WITHIN} AND (workspace, toStartOfHour(start)) IN ({_quiet("hour")})"""


def _of_finer(step: str) -> str:
    floor = _FLOORS[step].format("moment")
    return f"""
        SELECT workspace, {floor} AS moment, {", ".join(MEASURES)}
        FROM (
            SELECT * FROM trace_rollup FINAL
            WHERE step = '{_FINER[step]}' AND {_MOMENT_WITHIN}
            AND (workspace, {floor}) IN ({_quiet(step)}))"""


# What was written since the last sweep to hours that have slices.
_NEW_SLICES = f"""
SELECT {SLICE} AS slice, count() AS traces FROM traces
WHERE start >= {{from:DateTime64(9, 'UTC')}}
    AND written_at > {{since:DateTime64(3, 'UTC')}} AND written_at <= {{until:DateTime64(3, 'UTC')}}
GROUP BY slice ORDER BY slice"""


def _build_slices(client: Client, runs: Sequence[BoundedRange]) -> None:
    """Compute all slices of some runs anew."""
    measures = ", ".join(f"{sql} AS {name}" for name, sql in MEASURES.items())
    starts = " OR ".join(in_runs("start", "DateTime64(9, 'UTC')", runs))
    moments = " OR ".join(in_runs("moment", "DateTime('UTC')", runs))
    rows = f"SELECT workspace, {SLICE} AS moment, {measures} FROM traces FINAL WHERE {starts}"
    client.command(
        _add_up("trace_slices", "slice", rows, f"({moments})"),
        parameters={**bind_runs(runs), "version": time.time_ns()},
    )


def _add_up(table: str, step: str, rows: str, changed: str) -> str:
    """SQL that writes what rows add up to for every key of them, and zeros for those that are gone.

    In one statement, so that a reader sees either what was there before or what is there after.
    """
    sums = {name: f"sum(row.{name})" for name in _SUMS}
    maps = {
        name: f"sumMap({', '.join(f'row.{name}' for name in names)}).{place}"
        for names in _MAPS
        for place, name in enumerate(names, 1)
    }
    sets = {name: f"groupUniqArrayArray(row.{name})" for name in _SETS}
    totals = {**sums, **maps, **sets}
    values = ", ".join(f"{totals[name]} AS {name}" for name in _MEASURED)
    gone = f"""
        SELECT DISTINCT workspace, moment, agent_name, environment, {_NOTHING}
        FROM {table} WHERE step = '{step}' AND {changed}"""
    return f"""
    INSERT INTO {table}
        (workspace, step, moment, agent_name, environment, version, {", ".join(_MEASURED)})
    SELECT row.workspace AS workspace, '{step}' AS step, row.moment AS moment,
        row.agent_name AS agent_name, row.environment AS environment,
        {{version:UInt64}} AS version, {values}
    FROM ({rows} UNION ALL {gone}) AS row
    GROUP BY row.workspace, row.moment, row.agent_name, row.environment"""


def expire_rollup(client: Client, before: datetime) -> int:
    """Remove the hours and days before a whole hour; returns how many rows.

    The day and the month that it lies in are recomputed from what is left of them. Months before it
    are not looked at: their partitions are dropped.
    """
    edges = {
        "hour": before,
        "day": floor_time(before, Granularity.DAILY),
        "month": floor_time(before, Granularity.MONTHLY),
    }
    parameters = {f"{step}_edge": to_engine_seconds(edge) for step, edge in edges.items()}
    month_end = next_bucket(edges["month"], Granularity.MONTHLY)
    parameters["month_end"] = to_engine_seconds(month_end)
    (found,) = query_rows(client, _EXPIRED, parameters)
    if not found["expired"] and not found["is_wrong"]:
        return 0
    # Midnight cuts no day.
    for step in ("month",) if edges["day"] == before else ("day", "month"):
        versioned = {**parameters, "version": time.time_ns()}
        client.command(_recompute_cut(step), parameters=versioned)
    client.command(f"DELETE FROM trace_rollup WHERE {_IS_EXPIRED}", parameters=parameters)
    return int(found["expired"])


_IS_EXPIRED = """(step = 'hour' AND moment < {hour_edge:DateTime('UTC')}
    OR step = 'day' AND moment < {day_edge:DateTime('UTC')})"""
_IN_CUT_MONTH = "moment >= {month_edge:DateTime('UTC')} AND moment < {month_end:DateTime('UTC')}"
# Rows to remove, and whether a month is not what its days add up to: an earlier run may have ended
# halfway, and before this was recomputed the month's row was removed.
_EXPIRED = f"""
SELECT sum(expired) AS expired, countIf(of_days != of_month) > 0 AS is_wrong
FROM (
    SELECT workspace, countIf({_IS_EXPIRED}) AS expired,
        sumIf(traces, step = 'day' AND moment >= {{day_edge:DateTime('UTC')}}) AS of_days,
        sumIf(traces, step = 'month') AS of_month
    FROM trace_rollup FINAL WHERE {_IN_CUT_MONTH} GROUP BY workspace)"""


def _recompute_cut(step: str) -> str:
    """SQL that recomputes the day or month that is cut, and sets the rows that it loses to zero.

    In one statement, so that no reader finds days gone that the month still counts.
    """
    edge, finer = f"{{{step}_edge:DateTime('UTC')}}", _FINER[step]
    rows = f"""SELECT workspace, {edge} AS moment, {", ".join(MEASURES)}
        FROM (
            SELECT * FROM trace_rollup FINAL
            WHERE step = '{finer}' AND moment >= {{{finer}_edge:DateTime('UTC')}}
            AND {_FLOORS[step].format("moment")} = {edge})"""
    return f"""{_add_up("trace_rollup", step, rows, f"moment = {edge}")}
    UNION ALL
    SELECT workspace, toString(step), moment, agent_name, environment, {{version:UInt64}},
        {_NOTHING}
    FROM trace_rollup FINAL WHERE {_IN_CUT_MONTH} AND {_IS_EXPIRED}"""


def _drop_slices(client: Client, before: datetime) -> None:
    """Forget the slices of days that are read by hours."""
    rows = query_rows(client, _SLICED_DAYS, {"before": f"{before:%Y%m%d}"})
    for row in rows:
        client.command(f"ALTER TABLE trace_slices DROP PARTITION ID '{row['partition_id']}'")


_SLICED_DAYS = """
SELECT DISTINCT partition_id FROM system.parts
WHERE database = currentDatabase() AND active AND table = 'trace_slices'
AND partition_id < {before:String}"""


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
