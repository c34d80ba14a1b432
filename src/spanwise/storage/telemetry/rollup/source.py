"""Selects the rows that answer a question, from `traces`, `trace_rollup` and `trace_slices`.

A row of `traces` is one trace, a row of `trace_rollup` aggregates an hour, a day or a month, and a
row of `trace_slices` ten seconds.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from spanwise.model.analytics import Question
from spanwise.model.telemetry.filters import TraceFilter
from spanwise.model.times import BoundedRange
from spanwise.storage.telemetry.engine.conditions import to_engine_seconds
from spanwise.storage.telemetry.filters.trace_filters import dimension_conditions, trace_conditions
from spanwise.storage.telemetry.rollup.measures import MEASURES
from spanwise.storage.telemetry.rollup.plan import Plan
from spanwise.storage.telemetry.rollup.time_ranges import clamp, join_hours, subtract

# The fields by which the rollup aggregates.
_DIMENSIONS = {"agent", "environment"}


@dataclass(frozen=True)
class Source:
    """Conditions on up to three tables, and the parameters they bind."""

    traces: str | None
    rollup: str | None = None
    slices: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    # The selected rows of `trace_rollup` do not change until the watermark advances past this.
    watermark: datetime | None = None

    @property
    def is_traces_only(self) -> bool:
        """Whether every row is one trace."""
        return self.rollup is None and self.slices is None

    @property
    def settings(self) -> str:
        """Settings for a query of these rows: aggregates are too few for more threads."""
        return "" if self.is_traces_only else "SETTINGS max_threads = 1"

    def select(self, measures: Sequence[str]) -> str:
        """SQL for rows with these measures, and the `moment` that each row belongs to."""
        names = ", ".join(measures)
        selects = [
            f"SELECT moment, {names} FROM {table} FINAL WHERE {where}"
            for table, where in (("trace_rollup", self.rollup), ("trace_slices", self.slices))
            if where is not None
        ]
        if self.traces is not None:
            moment = "start" if self.is_traces_only else "toDateTime(start, 'UTC')"
            columns = ", ".join(f"{MEASURES[name]} AS {name}" for name in measures)
            selects.append(
                f"SELECT {moment} AS moment, {columns} FROM traces FINAL WHERE {self.traces}"
            )
        return " UNION ALL ".join(selects)

    def split(self) -> "tuple[Source | None, Source | None]":
        """Split off the rows of `trace_rollup`, with only the parameters that they bind."""
        if self.rollup is None:
            return None, self
        bound = {name: self.parameters[name] for name in re.findall(r"{(\w+):", self.rollup)}
        clean = Source(None, self.rollup, parameters=bound, watermark=self.watermark)
        is_all = self.traces is None and self.slices is None
        return clean, None if is_all else replace(self, rollup=None)


def can_use_rollup(filters: TraceFilter) -> bool:
    """Return whether the rollup has all the dimensions that a filter uses."""
    return filters.search is None and all(
        condition.field in _DIMENSIONS for condition in filters.conditions
    )


def traces_source(workspace: str, question: Question) -> Source:
    """Return a source of raw traces only, which supports every filter."""
    where = trace_conditions(workspace, question.filters)
    return Source(where.sql, parameters=where.parameters)


def compile_plan(workspace: str, question: Question, plan: Plan, watermark: datetime) -> Source:
    """Turn a plan into conditions on the three tables."""
    where = trace_conditions(workspace, question.filters)
    dimensions = dimension_conditions(workspace, question.filters.conditions)
    parameters = dict(where.parameters)
    parameters |= bind_ranges(plan.trace_ranges)
    excluded_hours = [*plan.trace_hours, *plan.sliced_hours]
    rollup = " OR ".join(
        condition
        for condition in (
            _compile_buckets("hour", plan.hours, excluded_hours, parameters),
            _compile_buckets("day", plan.days, plan.excluded_days, parameters),
            _compile_buckets("month", plan.months or [], plan.excluded_months, parameters),
        )
        if condition
    )
    # DateTime64: with a bound in whole seconds, the engine's index misses the last second.
    traces = compile_ranges("start", "DateTime64(9, 'UTC')", plan.trace_ranges)
    if plan.trace_hours:
        traces.append("toStartOfHour(start) IN {trace_hours:Array(DateTime)}")
        parameters["trace_hours"] = _bind(plan.trace_hours)
    clean = subtract(join_hours(plan.sliced_hours, clamp(question.period)), plan.trace_ranges)
    parameters |= bind_ranges(clean, "slices")
    slices = " OR ".join(compile_ranges("moment", "DateTime('UTC')", clean, "slices"))
    return Source(
        f"{where.sql} AND ({' OR '.join(traces)})" if traces else None,
        f"{dimensions.sql} AND ({rollup})" if rollup else None,
        f"{dimensions.sql} AND step = 'slice' AND ({slices})" if slices else None,
        parameters,
        watermark,
    )


def _compile_buckets(
    resolution: str,
    buckets: BoundedRange | list[datetime],
    excluded: list[datetime],
    parameters: dict[str, Any],
) -> str:
    """Return the condition for rows of `trace_rollup` of one resolution, empty if there are none.

    `excluded` applies to a range only.
    """
    if isinstance(buckets, BoundedRange):
        parameters.update(_bind_range(resolution, buckets))
        parameters[f"excluded_{resolution}s"] = _bind(excluded)
        within = (
            f"moment >= {{first_{resolution}:DateTime}} AND moment < {{end_{resolution}:DateTime}}"
        )
        others = f"moment NOT IN {{excluded_{resolution}s:Array(DateTime)}}"
        return f"(step = '{resolution}' AND {within} AND {others})"
    if not buckets:
        return ""
    parameters[f"{resolution}s"] = _bind(buckets)
    return f"(step = '{resolution}' AND moment IN {{{resolution}s:Array(DateTime)}})"


def compile_ranges(
    column: str, kind: str, ranges: Sequence[BoundedRange], name: str = "range"
) -> list[str]:
    """Return one condition per range; unlike a list of slices, ranges can use the primary key."""
    names = [f"{name}_{number}" for number in range(len(ranges))]
    return [
        f"{column} >= {{first_{bound}:{kind}}} AND {column} < {{end_{bound}:{kind}}}"
        for bound in names
    ]


def bind_ranges(ranges: Sequence[BoundedRange], name: str = "range") -> dict[str, Any]:
    """Return the parameters of `compile_ranges`."""
    return {
        key: moment
        for number, one in enumerate(ranges)
        for key, moment in _bind_range(f"{name}_{number}", one).items()
    }


def _bind_range(name: str, bounds: BoundedRange) -> dict[str, Any]:
    first, end = _bind([bounds.start, bounds.end])
    return {f"first_{name}": first, f"end_{name}": end}


def _bind(moments: Sequence[datetime]) -> list[str]:
    return [to_engine_seconds(moment) for moment in moments]
