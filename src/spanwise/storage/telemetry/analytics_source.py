"""Where analytics read from: rows that each stand for a number of traces.

A row of `traces` stands for one trace, a row of `trace_rollup` for those of an hour, a day or a
month, and one of `trace_slices` for those of ten seconds. The measures are named here once, so that
no two tables can mean different things by the same name.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from spanwise.model.analytics import Question
from spanwise.model.filters import TraceFilter
from spanwise.model.times import BoundedRange, Granularity, TimeRange, floor_time, next_bucket
from spanwise.storage.telemetry.changes import Changes
from spanwise.storage.telemetry.conditions import (
    Conditions,
    to_engine_seconds,
    to_engine_time,
    trace_conditions,
)
from spanwise.storage.telemetry.engine import Engine
from spanwise.storage.telemetry.values import in_utc

# Latencies that separate the buckets of the distribution, in milliseconds.
LATENCY_BOUNDS_MS = (200, 500, 1000, 2000, 5000)

# The histogram behind the percentiles: each key holds latencies up to 1 % longer than the last
# one's. The middle of a key is within 0.5 % of every latency in it.
LATENCY_GROWTH = 1.01
_KEY = f"toUInt16(ceil(log(greatest(duration_ns, 1000) / 1000) / log({LATENCY_GROWTH})))"

# Measure -> what it is of one trace. The names are also columns of the rollup.
MEASURES = {
    "agent_name": "agent_name",
    "environment": "environment",
    "traces": "toUInt64(1)",
    "errors": "toUInt64(status = 'error')",
    "duration_ms": "duration_ns / 1e6",
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cost": "cost",
    **{f"under_{ms}": f"toUInt64(duration_ns < {ms}000000)" for ms in LATENCY_BOUNDS_MS},
    "latency_keys": f"[{_KEY}]",
    "latency_counts": "[toUInt64(1)]",
    "error_types": "if(status = 'error', [if(error_type = '', 'other', toString(error_type))], [])",
    "error_counts": "if(status = 'error', [toUInt64(1)], [])",
    "models": "models",
    "model_calls": "model_calls",
    "model_costs": "model_costs",
    "unpriced_models": "unpriced_models",
    "tools": "tools",
    "tool_calls": "tool_calls",
    "providers": "providers",
    "kinds": "kinds",
    "named_errors": "if(error_type = '', [], [toString(error_type)])",
    "experiments": "if(experiment_id = '', [], [toString(experiment_id)])",
}

# More hours than this apart from the rollup, and reading all traces is no slower.
MAX_HOURS_APART = 2000
# More runs of slices than this apart, and reading the traces of their hours is no slower.
MAX_RUNS_APART = 200
_MAX_REMEMBERED = 100
# The times that ingest lets a trace have.
_FIRST, _LAST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 2, tzinfo=UTC)
_ALL_TIME = BoundedRange(_FIRST, _LAST)
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
_SLICE = timedelta(seconds=10)

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


@dataclass(frozen=True)
class Source:
    """The rows that answer a question: conditions on up to three tables, and what they bind."""

    traces: str | None
    rollup: str | None = None
    slices: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    # The rollup's rows that are meant here do not change as long as the mark is this.
    swept_until: datetime | None = None

    @property
    def is_exact(self) -> bool:
        """Whether every row stands for one trace."""
        return self.rollup is None and self.slices is None

    @property
    def settings(self) -> str:
        """What a query of these rows ends with: few rows are not worth more threads."""
        return "" if self.is_exact else "SETTINGS max_threads = 1"

    def select(self, measures: Sequence[str]) -> str:
        """SQL for rows with these measures and the `moment` that each row belongs to."""
        names = ", ".join(measures)
        parts = [
            f"SELECT moment, {names} FROM {table} FINAL WHERE {where}"
            for table, where in (("trace_rollup", self.rollup), ("trace_slices", self.slices))
            if where is not None
        ]
        if self.traces is not None:
            moment = "start" if self.is_exact else "toDateTime(start, 'UTC')"
            columns = ", ".join(f"{MEASURES[name]} AS {name}" for name in measures)
            parts.append(
                f"SELECT {moment} AS moment, {columns} FROM traces FINAL WHERE {self.traces}"
            )
        return " UNION ALL ".join(parts)

    def split(self) -> "tuple[Source | None, Source | None]":
        """Return the rows of the rollup, with what they alone bind, and the other rows."""
        if self.rollup is None:
            return None, self
        bound = {name: self.parameters[name] for name in re.findall(r"{(\w+):", self.rollup)}
        settled = Source(None, self.rollup, parameters=bound, swept_until=self.swept_until)
        is_all = self.traces is None and self.slices is None
        return settled, None if is_all else replace(self, rollup=None)


def read_traces(workspace: str, question: Question) -> Source:
    """Answer from the traces alone, whatever the filters."""
    where = trace_conditions(workspace, question.wanted)
    return Source(where.sql, parameters=where.parameters)


async def find_source(
    workspace: str,
    question: Question,
    marks: Marks | None,
    dirty: "DirtySteps",
    *,
    are_slices_fresh: bool = False,
) -> Source:
    """Choose what to read: clean hours, days and months from the rollup, the rest from the traces.

    Of hours that are written to at the moment, clean slices are read and not the traces; all of
    them when they are as fresh as the answer has to be.
    """
    if marks is None or not can_use_rollup(question.wanted):
        return read_traces(workspace, question)
    period = _possible(question.period)
    if marks.slices is None and period.end - period.start < 2 * _HOUR:
        return read_traces(workspace, question)
    hours = await dirty.find_hours(workspace, period, marks)
    plan = make_plan(period, hours, question.granularity)
    if plan is None:
        return read_traces(workspace, question)
    if marks.slices is not None:
        slices = set() if are_slices_fresh else await dirty.find_slices(workspace, period, marks)
        plan = slice_hours(plan, marks.first_sliced, period, slices)
    return replace(_compile(workspace, question, plan), swept_until=marks.hours)


def can_use_rollup(wanted: TraceFilter) -> bool:
    """Whether the rollup can tell the traces apart that are wanted from the others."""
    known = TraceFilter(wanted.period, wanted.agent_name, environment=wanted.environment)
    return wanted == known


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
        hours = {_floor_hour(moment) for moment in found}
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
        return {at for at in found if first < at + _SLICE and at < period.end}

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
    return {*_hours(first, end), *late, *future}


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


@dataclass(frozen=True)
class Plan:
    """Which hours, days and months to take from where; together they are the period, each once.

    Of a range of steps, those that are apart are taken by smaller ones.
    """

    trace_hours: list[datetime]
    hours: BoundedRange | list[datetime]
    days: BoundedRange | list[datetime] = field(default_factory=list)
    days_apart: list[datetime] = field(default_factory=list)
    months: BoundedRange | None = None
    months_apart: list[datetime] = field(default_factory=list)
    # Hours of which slices are read, and the runs of their slices that are read from the traces.
    sliced_hours: list[datetime] = field(default_factory=list)
    runs_apart: list[BoundedRange] = field(default_factory=list)


def slice_hours(plan: Plan, first: datetime, period: BoundedRange, dirty: set[datetime]) -> Plan:
    """Take the hours of a plan that have slices, from the first one on, by their slices.

    Slices that the period cuts are read from the traces, like those that have changed.
    """
    hours = [hour for hour in plan.trace_hours if hour >= first]
    edges = (period.start, period.end)
    cut = {_floor_slice(edge) for edge in edges if _floor_slice(edge) != edge}
    apart = {at for at in dirty | cut if floor_time(at, Granularity.HOURLY) in hours}
    runs = join_slices(sorted(apart))
    if len(runs) > MAX_RUNS_APART:
        return plan
    return replace(
        plan,
        trace_hours=[hour for hour in plan.trace_hours if hour < first],
        sliced_hours=hours,
        runs_apart=runs,
    )


def join_slices(slices: Sequence[datetime]) -> list[BoundedRange]:
    """Join slices, given in order, that follow one another."""
    runs: list[BoundedRange] = []
    for at in slices:
        if runs and runs[-1].end == at:
            runs[-1] = BoundedRange(runs[-1].start, at + _SLICE)
        else:
            runs.append(BoundedRange(at, at + _SLICE))
    return runs


def _join_hours(hours: Sequence[datetime], period: BoundedRange) -> list[BoundedRange]:
    """Join hours, given in order, that follow one another, as far as the period goes."""
    runs: list[BoundedRange] = []
    for at in hours:
        start, end = max(at, period.start), min(at + _HOUR, period.end)
        if runs and runs[-1].end == start:
            start = runs.pop().start
        runs.append(BoundedRange(start, end))
    return runs


def _without(ranges: Sequence[BoundedRange], runs: Sequence[BoundedRange]) -> list[BoundedRange]:
    """Return what the runs leave of the ranges; both are given in order."""
    left: list[BoundedRange] = []
    for piece in ranges:
        start = piece.start
        for run in runs:
            if run.start < piece.end and run.end > start:
                left.append(BoundedRange(start, max(start, run.start)))
                start = run.end
        left.append(BoundedRange(start, max(start, piece.end)))
    return [piece for piece in left if piece.start < piece.end]


def make_plan(period: BoundedRange, dirty: set[datetime], by: Granularity) -> Plan | None:
    """Return what to read for a period, or None if the traces are as good."""
    hours = _whole(period, Granularity.HOURLY)
    # Hours that the period cuts are read from the traces, like those that have changed.
    edges = (period.start, period.end)
    cut = {_floor_hour(edge) for edge in edges if _floor_hour(edge) != edge}
    trace_hours = sorted(dirty | cut)
    if len(trace_hours) > MAX_HOURS_APART:
        return None
    if hours is None:
        return Plan(trace_hours, []) if trace_hours else None
    days = _whole(hours, Granularity.DAILY)
    if by is Granularity.HOURLY or days is None:
        return Plan(trace_hours, hours)
    plan = _plan_days(trace_hours, days, by)
    loose = [*_hours(hours.start, days.start), *_hours(days.end, hours.end)]
    loose += [hour for day in plan.days_apart for hour in _hours(day, day + _DAY)]
    if len(loose) > MAX_HOURS_APART:
        return None
    return replace(plan, hours=sorted(set(loose) - set(trace_hours)))


def _plan_days(trace_hours: list[datetime], days: BoundedRange, by: Granularity) -> Plan:
    """Return what of some whole days is read by days and months."""
    changed = {floor_time(hour, Granularity.DAILY) for hour in trace_hours}
    months = _whole(days, Granularity.MONTHLY) if by is Granularity.MONTHLY else None
    if months is None:
        apart = sorted(day for day in changed if days.start <= day < days.end)
        return Plan(trace_hours, [], days, apart)
    changed_months = {floor_time(day, Granularity.MONTHLY) for day in changed}
    apart = sorted(month for month in changed_months if months.start <= month < months.end)
    loose = [*_days(days.start, months.start), *_days(months.end, days.end)]
    loose += [
        day for month in apart for day in _days(month, next_bucket(month, Granularity.MONTHLY))
    ]
    return Plan(
        trace_hours,
        hours=[],
        days=sorted(set(loose) - changed),
        days_apart=sorted(changed.intersection(loose)),
        months=months,
        months_apart=apart,
    )


def _compile(workspace: str, question: Question, plan: Plan) -> Source:
    where = trace_conditions(workspace, question.wanted)
    of_rollup = Conditions(workspace)
    of_rollup.equals("agent_name", question.wanted.agent_name)
    of_rollup.equals("environment", question.wanted.environment)
    parameters = dict(where.parameters)
    parameters |= bind_runs(plan.runs_apart)
    hours_apart = [*plan.trace_hours, *plan.sliced_hours]
    rollup = " OR ".join(
        condition
        for condition in (
            _compile_steps("hour", plan.hours, hours_apart, parameters),
            _compile_steps("day", plan.days, plan.days_apart, parameters),
            _compile_steps("month", plan.months or [], plan.months_apart, parameters),
        )
        if condition
    )
    # Not as DateTime: of a bound in whole seconds the engine's index loses the last second.
    traces = in_runs("start", "DateTime64(9, 'UTC')", plan.runs_apart)
    if plan.trace_hours:
        traces.append("toStartOfHour(start) IN {trace_hours:Array(DateTime)}")
        parameters["trace_hours"] = _bind(plan.trace_hours)
    clean = _without(_join_hours(plan.sliced_hours, _possible(question.period)), plan.runs_apart)
    parameters |= bind_runs(clean, "slices")
    slices = " OR ".join(in_runs("moment", "DateTime('UTC')", clean, "slices"))
    return Source(
        f"{where.sql} AND ({' OR '.join(traces)})" if traces else None,
        f"{of_rollup.sql} AND ({rollup})" if rollup else None,
        f"{of_rollup.sql} AND step = 'slice' AND ({slices})" if slices else None,
        parameters,
    )


def _compile_steps(
    step: str,
    wanted: BoundedRange | list[datetime],
    apart: list[datetime],
    parameters: dict[str, Any],
) -> str:
    """Condition for rows of the rollup: some steps, or a range of them but for those apart.

    Empty when there are none.
    """
    if isinstance(wanted, BoundedRange):
        parameters.update(_bind_range(step, wanted), **{f"{step}s_apart": _bind(apart)})
        others = f"moment NOT IN {{{step}s_apart:Array(DateTime)}}"
        return f"(step = '{step}' AND {_between(step)} AND {others})"
    if not wanted:
        return ""
    parameters[f"{step}s"] = _bind(wanted)
    return f"(step = '{step}' AND moment IN {{{step}s:Array(DateTime)}})"


def in_runs(column: str, kind: str, runs: Sequence[BoundedRange], name: str = "run") -> list[str]:
    """Conditions for runs of slices: as ranges, so that the key finds them."""
    names = [f"{name}_{number}" for number in range(len(runs))]
    return [
        f"{column} >= {{first_{run}:{kind}}} AND {column} < {{end_{run}:{kind}}}" for run in names
    ]


def bind_runs(runs: Sequence[BoundedRange], name: str = "run") -> dict[str, Any]:
    """Return what `in_runs` binds."""
    return {
        key: moment
        for number, run in enumerate(runs)
        for key, moment in _bind_range(f"{name}_{number}", run).items()
    }


def _between(step: str) -> str:
    return f"moment >= {{first_{step}:DateTime}} AND moment < {{end_{step}:DateTime}}"


def _bind_range(step: str, steps: BoundedRange) -> dict[str, Any]:
    first, end = _bind([steps.start, steps.end])
    return {f"first_{step}": first, f"end_{step}": end}


def _bind(moments: Sequence[datetime]) -> list[str]:
    return [to_engine_seconds(moment) for moment in moments]


def _possible(period: BoundedRange) -> BoundedRange:
    return BoundedRange(min(max(period.start, _FIRST), _LAST), max(min(period.end, _LAST), _FIRST))


def _whole(period: BoundedRange, granularity: Granularity) -> BoundedRange | None:
    """Return the whole steps of a period, None when there are none."""
    first, end = (floor_time(edge, granularity) for edge in (period.start, period.end))
    if first != period.start:
        first = next_bucket(first, granularity)
    return BoundedRange(first, end) if first < end else None


def _floor_hour(moment: datetime) -> datetime:
    return floor_time(moment, Granularity.HOURLY)


def _floor_slice(moment: datetime) -> datetime:
    return moment - (moment - _FIRST) % _SLICE


def _hours(start: datetime, end: datetime) -> list[datetime]:
    return [start + n * _HOUR for n in range((end - start) // _HOUR)]


def _days(start: datetime, end: datetime) -> list[datetime]:
    return [start + n * _DAY for n in range((end - start) // _DAY)]
