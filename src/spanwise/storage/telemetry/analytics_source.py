"""Where analytics read from: rows that each stand for a number of traces.

A row of `traces` stands for one trace, a row of `trace_rollup` for those of an hour or a day, and
one of `trace_slices` for those of ten seconds. The measures are named here once, so that no two
tables can mean different things by the same name.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from spanwise.model.analytics import Question
from spanwise.model.filters import TraceFilter
from spanwise.model.times import BoundedRange, Granularity, TimeRange, floor_time
from spanwise.storage.telemetry.conditions import Conditions, to_engine_time, trace_conditions
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
}

# More hours than this apart from the rollup, and reading all traces is no slower.
MAX_HOURS_APART = 2000
# The times that ingest lets a trace have.
_FIRST, _LAST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 2, tzinfo=UTC)
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
_SLICE = timedelta(seconds=10)

# A trace's slice of ten seconds.
SLICE = "toDateTime(intDiv(toUnixTimestamp(start), 10) * 10, 'UTC')"
# The latest row of each trace, of few: FINAL would compare all rows between the first and the last.
LATEST_OF_FEW = "ORDER BY version DESC, written_at DESC LIMIT 1 BY workspace, start, trace_id"
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
    """The rows that answer a question: one or more selections, and what they bind."""

    traces: str | None
    # Conditions on `trace_rollup`.
    rollups: tuple[str, ...] = ()
    # Conditions on `trace_slices`, and on the traces that are not in it.
    slices: tuple[str, str] | None = None
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def is_exact(self) -> bool:
        """Whether every row stands for one trace."""
        return not self.rollups and self.slices is None

    def select(self, measures: Sequence[str]) -> str:
        """SQL for rows with these measures and the `moment` that each row belongs to."""
        names = ", ".join(measures)
        columns = ", ".join(f"{MEASURES[name]} AS {name}" for name in measures)
        moment = "start AS moment" if self.is_exact else "toDateTime(start, 'UTC') AS moment"
        parts = [
            f"SELECT moment, {names} FROM trace_rollup FINAL WHERE {where}"
            for where in self.rollups
        ]
        if self.slices is not None:
            of_slices, of_traces = self.slices
            parts += [
                f"SELECT moment, {names} FROM trace_slices FINAL WHERE {of_slices}",
                f"""SELECT {moment}, {columns}
                FROM (SELECT * FROM traces WHERE {of_traces} {LATEST_OF_FEW})
                WHERE NOT is_deleted""",
            ]
        if self.traces is not None:
            parts.append(f"SELECT {moment}, {columns} FROM traces FINAL WHERE {self.traces}")
        return " UNION ALL ".join(parts)


def read_traces(workspace: str, question: Question) -> Source:
    """Answer from the traces alone, whatever the filters."""
    where = trace_conditions(workspace, question.wanted)
    return Source(where.sql, parameters=where.parameters)


async def find_source(
    engine: Engine, workspace: str, question: Question, marks: Marks | None
) -> Source:
    """Choose what to read: clean hours and days from the rollup, the rest from the traces.

    Of hours that are written to at the moment, clean slices are read and not the traces.
    """
    if marks is None or not can_use_rollup(question.wanted):
        return read_traces(workspace, question)
    period = _possible(question.period)
    if marks.slices is None and period.end - period.start < 2 * _HOUR:
        return read_traces(workspace, question)
    dirty = await find_dirty_hours(engine, workspace, period, marks)
    plan = make_plan(period, dirty, by_hour=question.granularity is Granularity.HOURLY)
    if plan is None:
        return read_traces(workspace, question)
    if marks.slices is None:
        return _compile(workspace, question, plan)
    sliced = [hour for hour in plan.trace_hours if hour >= marks.first_sliced]
    dirty_slices = await find_dirty_slices(engine, workspace, period, sliced, marks.slices)
    return _compile(workspace, question, slice_hours(plan, sliced, period, dirty_slices))


def can_use_rollup(wanted: TraceFilter) -> bool:
    """Whether the rollup can tell the traces apart that are wanted from the others."""
    known = TraceFilter(wanted.period, wanted.agent_name, environment=wanted.environment)
    return wanted == known


async def find_dirty_hours(
    engine: Engine, workspace: str, period: BoundedRange, marks: Marks
) -> set[datetime]:
    """Return the hours of the period of which a trace was written since the last sweep."""
    where = Conditions(workspace)
    where.within("start", TimeRange(period.start, period.end))
    where.add("written_at > {swept:DateTime64(3, 'UTC')}", swept=to_engine_time(marks.hours)[:-3])
    surely: set[datetime] = set()
    if marks.slices is not None:
        # All that is new is in these: looking at it would take long while much comes in.
        first, end = marks.last_hour, marks.last_hour + _DAY
        surely = {h for h in _hours(first, end) if period.start < h + _HOUR and h < period.end}
        where.add("(start < {first:DateTime('UTC')} OR start >= {end:DateTime('UTC')})")
        where.parameters |= dict(zip(("first", "end"), _bind([first, end]), strict=True))
    rows = await engine.fetch(
        f"SELECT DISTINCT toStartOfHour(start) AS hour FROM traces WHERE {where.sql}",
        where.parameters,
        tag="dirty_hours",
    )
    return surely | {in_utc(row["hour"]) for row in rows}


async def find_dirty_slices(
    engine: Engine,
    workspace: str,
    period: BoundedRange,
    hours: Sequence[datetime],
    swept_until: datetime,
) -> set[datetime]:
    """Return the slices of some hours of which a trace was written since they were swept."""
    if not hours:
        return set()
    where = Conditions(workspace)
    where.within("start", TimeRange(period.start, period.end))
    where.add(
        """toStartOfHour(start) IN {hours:Array(DateTime)}
        AND written_at > {swept:DateTime64(3, 'UTC')}""",
        hours=_bind(hours),
        swept=to_engine_time(swept_until)[:-3],
    )
    rows = await engine.fetch(
        f"SELECT DISTINCT {SLICE} AS slice FROM traces WHERE {where.sql}",
        where.parameters,
        tag="dirty_slices",
    )
    return {in_utc(row["slice"]) for row in rows}


@dataclass(frozen=True)
class Plan:
    """Which hours and days to take from where; together they are the period, each once."""

    trace_hours: list[datetime]
    hours: BoundedRange | list[datetime]
    days: BoundedRange | None = None
    days_apart: list[datetime] = field(default_factory=list)
    # Hours of which slices are read, and the slices of them that are read from the traces.
    sliced_hours: list[datetime] = field(default_factory=list)
    trace_slices: list[datetime] = field(default_factory=list)


def slice_hours(
    plan: Plan, hours: Sequence[datetime], period: BoundedRange, dirty: set[datetime]
) -> Plan:
    """Take some of a plan's hours by slices; those that the period cuts are as good as dirty."""
    edges = (period.start, period.end)
    cut = {_floor_slice(edge) for edge in edges if _floor_slice(edge) != edge}
    return replace(
        plan,
        trace_hours=[hour for hour in plan.trace_hours if hour not in hours],
        sliced_hours=list(hours),
        trace_slices=sorted(dirty | cut),
    )


def make_plan(period: BoundedRange, dirty: set[datetime], *, by_hour: bool) -> Plan | None:
    """Return what to read for a period, or None if the traces are as good."""
    first_hour = _ceil(period.start, Granularity.HOURLY)
    end_hour = floor_time(period.end, Granularity.HOURLY)
    # Hours that the period cuts are read from the traces, like those that have changed.
    cut = {floor_time(period.start, Granularity.HOURLY)} if first_hour != period.start else set()
    cut |= {end_hour} if end_hour != period.end else set()
    trace_hours = sorted(dirty | cut)
    if len(trace_hours) > MAX_HOURS_APART:
        return None
    if end_hour <= first_hour:
        return Plan(trace_hours, []) if trace_hours else None
    if by_hour:
        return Plan(trace_hours, BoundedRange(first_hour, end_hour))
    first_day, end_day = (
        _ceil(first_hour, Granularity.DAILY),
        floor_time(end_hour, Granularity.DAILY),
    )
    if end_day <= first_day:
        return Plan(trace_hours, BoundedRange(first_hour, end_hour))
    changed = {floor_time(hour, Granularity.DAILY) for hour in trace_hours}
    apart = sorted(day for day in changed if first_day <= day < end_day)
    hours = [*_hours(first_hour, first_day), *_hours(end_day, end_hour)]
    hours += [hour for day in apart for hour in _hours(day, day + _DAY)]
    if len(hours) > MAX_HOURS_APART:
        return None
    left = sorted(set(hours) - set(trace_hours))
    return Plan(trace_hours, left, BoundedRange(first_day, end_day), apart)


def _compile(workspace: str, question: Question, plan: Plan) -> Source:
    where = trace_conditions(workspace, question.wanted)
    of_rollup = Conditions(workspace)
    of_rollup.equals("agent_name", question.wanted.agent_name)
    of_rollup.equals("environment", question.wanted.environment)
    parameters = {**where.parameters, "trace_hours": _bind(plan.trace_hours)}
    rollups = []
    if isinstance(plan.hours, BoundedRange):
        rollups.append(
            f"{of_rollup.sql} AND step = 'hour' AND {_between('hour')} "
            "AND moment NOT IN {hours_apart:Array(DateTime)}"
        )
        hours_apart = _bind([*plan.trace_hours, *plan.sliced_hours])
        parameters.update(_bind_range("hour", plan.hours), hours_apart=hours_apart)
    elif plan.hours:
        rollups.append(f"{of_rollup.sql} AND step = 'hour' AND moment IN {{hours:Array(DateTime)}}")
        parameters["hours"] = _bind(plan.hours)
    if plan.days is not None:
        rollups.append(
            f"{of_rollup.sql} AND step = 'day' AND {_between('day')} "
            "AND moment NOT IN {days_apart:Array(DateTime)}"
        )
        parameters.update(_bind_range("day", plan.days), days_apart=_bind(plan.days_apart))
    traces = None
    if plan.trace_hours:
        traces = f"{where.sql} AND toStartOfHour(start) IN {{trace_hours:Array(DateTime)}}"
    slices = None
    if plan.sliced_hours:
        slices = (
            f"""{of_rollup.sql} AND step = 'slice' AND {_between("slice")}
            AND toStartOfHour(moment) IN {{sliced_hours:Array(DateTime)}}
            AND moment NOT IN {{trace_slices:Array(DateTime)}}""",
            f"""{where.sql} AND toStartOfHour(start) IN {{sliced_hours:Array(DateTime)}}
            AND {SLICE} IN {{trace_slices:Array(DateTime)}}""",
        )
        parameters.update(
            _bind_range("slice", _possible(question.period)),
            sliced_hours=_bind(plan.sliced_hours),
            trace_slices=_bind(plan.trace_slices),
        )
    return Source(traces, tuple(rollups), slices, parameters)


def _between(step: str) -> str:
    return f"moment >= {{first_{step}:DateTime}} AND moment < {{end_{step}:DateTime}}"


def _bind_range(step: str, steps: BoundedRange) -> dict[str, Any]:
    first, end = _bind([steps.start, steps.end])
    return {f"first_{step}": first, f"end_{step}": end}


def _bind(moments: Sequence[datetime]) -> list[str]:
    return [moment.strftime("%Y-%m-%d %H:%M:%S") for moment in moments]


def _possible(period: BoundedRange) -> BoundedRange:
    return BoundedRange(min(max(period.start, _FIRST), _LAST), max(min(period.end, _LAST), _FIRST))


def _ceil(moment: datetime, granularity: Granularity) -> datetime:
    floor = floor_time(moment, granularity)
    step = _HOUR if granularity is Granularity.HOURLY else _DAY
    return floor if floor == moment else floor + step


def _floor_slice(moment: datetime) -> datetime:
    return moment - (moment - _FIRST) % _SLICE


def _hours(start: datetime, end: datetime) -> list[datetime]:
    return [start + n * _HOUR for n in range((end - start) // _HOUR)]
