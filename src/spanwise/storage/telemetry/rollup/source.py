"""Where analytics read from: rows that each stand for a number of traces.

A row of `traces` stands for one trace, a row of `trace_rollup` for those of an hour, a day or a
month, and one of `trace_slices` for those of ten seconds. The measures are named here once, so that
no two tables can mean different things by the same name.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from spanwise.model.analytics import Question
from spanwise.model.telemetry.filters import TraceFilter
from spanwise.model.times import BoundedRange, Granularity, floor_time, next_bucket
from spanwise.storage.telemetry.engine.conditions import (
    Conditions,
    to_engine_seconds,
    trace_conditions,
)
from spanwise.storage.telemetry.rollup.dirty_ranges import (
    FIRST_START,
    LAST_START,
    SLICE_LENGTH,
    DirtySteps,
    Marks,
    hours_of,
)

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
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)


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
    dirty: DirtySteps,
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
            runs[-1] = BoundedRange(runs[-1].start, at + SLICE_LENGTH)
        else:
            runs.append(BoundedRange(at, at + SLICE_LENGTH))
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
    loose = [*hours_of(hours.start, days.start), *hours_of(days.end, hours.end)]
    loose += [hour for day in plan.days_apart for hour in hours_of(day, day + _DAY)]
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
    return BoundedRange(
        min(max(period.start, FIRST_START), LAST_START),
        max(min(period.end, LAST_START), FIRST_START),
    )


def _whole(period: BoundedRange, granularity: Granularity) -> BoundedRange | None:
    """Return the whole steps of a period, None when there are none."""
    first, end = (floor_time(edge, granularity) for edge in (period.start, period.end))
    if first != period.start:
        first = next_bucket(first, granularity)
    return BoundedRange(first, end) if first < end else None


def _floor_hour(moment: datetime) -> datetime:
    return floor_time(moment, Granularity.HOURLY)


def _floor_slice(moment: datetime) -> datetime:
    return moment - (moment - FIRST_START) % SLICE_LENGTH


def _days(start: datetime, end: datetime) -> list[datetime]:
    return [start + n * _DAY for n in range((end - start) // _DAY)]
