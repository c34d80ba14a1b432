"""Runs an analytics query and builds the rows of its response."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from spanwise.model.analytics import Question
from spanwise.model.dashboards.queries import MAX_LIMIT, MAX_ROWS, AnalyticsQuery, QueryResult
from spanwise.model.telemetry.filters import FilterCondition, Order, TraceFilter
from spanwise.model.times import BoundedRange, Granularity, TimeRange
from spanwise.storage.telemetry.analytics.measures import (
    Value,
    empty_value,
    find_additive,
    measure_sql,
)
from spanwise.storage.telemetry.analytics.rollup_answer import can_use_rollup, rollup_query
from spanwise.storage.telemetry.analytics.source_rows import has_uncounted_calls, select_rows
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.rollup.queries import bucket_of
from spanwise.storage.telemetry.rollup.rollup import Rollup
from spanwise.storage.telemetry.rollup.time_ranges import clamp, to_seconds

Key = tuple[str, ...]
Values = Sequence[Value]


@dataclass(frozen=True)
class Groups:
    """The first groups of a query, in order, and how many there are."""

    found: Mapping[Key, Values]
    total: int
    # By the start of the bucket in seconds.
    series: Mapping[Key, Mapping[int, Values]] = field(default_factory=dict)
    # The series of all groups that are not among the first, of those measures that add up.
    others: Mapping[int, Values] = field(default_factory=dict)


async def run_query(
    engine: Engine,
    rollup: Rollup,
    workspace: str,
    query: AnalyticsQuery,
    conditions: tuple[FilterCondition, ...],
    period: BoundedRange,
) -> QueryResult:
    """Answer a query for a period; `conditions` are its filters with agents by name."""
    filters = TraceFilter(TimeRange(period.start, period.end), conditions)
    question = Question(period, filters, query.granularity or Granularity.MONTHLY)
    buckets = question.buckets if query.granularity else []
    limit = min(query.limit, MAX_LIMIT, MAX_ROWS // max(1, len(buckets)))
    groups = None
    if can_use_rollup(query):
        aggregates = await rollup.answer_from_aggregates(workspace, question, rollup_query(query))
        if aggregates is not None:
            groups = _first_groups(query, aggregates, limit)
    if groups is None:
        groups = await _read_groups(engine, workspace, query, question, limit)
    totals = [_name_row(query, key, values) for key, values in groups.found.items()]
    return QueryResult(
        rows=_to_series(query, question, groups, buckets) if query.granularity else totals,
        totals=totals if query.granularity else [],
        others=_others_to_series(query, question, groups, buckets),
        truncated=groups.total > len(groups.found),
        total=groups.total,
    )


async def _read_groups(
    engine: Engine, workspace: str, query: AnalyticsQuery, question: Question, limit: int
) -> Groups:
    """Read groups from the tables, and their series."""
    period = clamp(question.period)
    filters = replace(question.filters, period=TimeRange(period.start, period.end))
    has_uncounted = await has_uncounted_calls(engine, workspace, query, filters.period)
    rows, where = select_rows(workspace, query, filters, has_uncounted=has_uncounted)
    reader = _Reader(engine, query, rows, where.parameters)
    if not query.granularity:
        return await reader.read_first(limit)
    everything = await reader.read_all(bucket_of(question))
    if everything is not None:
        return _first_groups(query, everything, limit)
    return await reader.read_series(bucket_of(question), await reader.read_first(limit))


class _Reader:
    """Aggregates the rows of a query."""

    def __init__(
        self, engine: Engine, query: AnalyticsQuery, rows: str, parameters: Mapping[str, Any]
    ) -> None:
        self._engine = engine
        self._query = query
        self._rows = rows
        self._parameters = parameters
        self._dimensions = [f"d{number}" for number in range(len(query.group_by))]
        self._measures = [f"{measure_sql(m, n)} AS m{n}" for n, m in enumerate(query.measures)]
        self._columns = ", ".join((*self._dimensions, *self._measures))
        self._settings = f"SETTINGS max_memory_usage = {engine.max_query_bytes}"

    async def read_first(self, limit: int) -> Groups:
        """Read the first groups of the query, and how many there are."""
        by = f"GROUP BY {', '.join(self._dimensions)}" if self._dimensions else ""
        found = await self._engine.fetch(
            f"""SELECT *, count() OVER () AS total FROM (
                SELECT {self._columns} FROM ({self._rows}) {by})
            ORDER BY {_order_sql(self._query, self._dimensions)} LIMIT {{limit:UInt32}}
            {self._settings}""",
            {**self._parameters, "limit": limit},
            tag="query_groups",
        )
        size = len(self._dimensions)
        by_key = {tuple(v[:size]): v[size:-1] for v in (list(row.values()) for row in found)}
        return Groups(by_key, found[0]["total"] if found else 0)

    async def read_all(self, bucket: str) -> dict[Key, dict[int | None, Values]] | None:
        """Read all groups with their series in one pass, or return None if there are too many."""
        names = ", ".join(self._dimensions)
        separate = f"bucket, {names}" if names else "bucket"
        rows = await self._engine.fetch(
            f"""SELECT {bucket} AS bucket, grouping(bucket) AS is_total, {self._columns}
            FROM ({self._rows}) GROUP BY GROUPING SETS (({names}), ({separate}))
            LIMIT {2 * MAX_ROWS + 1} {self._settings}""",
            self._parameters,
            tag="query_series",
        )
        if len(rows) > 2 * MAX_ROWS:
            return None
        found: dict[Key, dict[int | None, Values]] = {}
        for row in rows:
            at, is_total, *values = row.values()
            key, measures = tuple(values[: len(self._dimensions)]), values[len(self._dimensions) :]
            found.setdefault(key, {})[None if is_total else to_seconds(at)] = measures
        return found

    async def read_series(self, bucket: str, groups: Groups) -> Groups:
        """Read the series of some groups, and that of all others together if it means something."""
        numbers = range(len(self._dimensions))
        keys = {f"keys_{number}": [key[number] for key in groups.found] for number in numbers}
        lists = ", ".join(f"{{{name}:Array(String)}}" for name in keys)
        members = ", ".join(f"group.{number + 1}" for number in numbers)
        names = ", ".join(self._dimensions)
        # The others have no names: they are one group.
        shown = ", ".join(f"if(is_other, '', {name}) AS shown_{name}" for name in self._dimensions)
        separate = ", ".join(f"shown_{name}" for name in self._dimensions)
        rows = await self._engine.fetch(
            f"""SELECT {bucket} AS bucket, is_other, {shown}, {", ".join(self._measures)}
            FROM (
                SELECT *, ({names}) NOT IN (
                    SELECT {members} FROM (SELECT arrayJoin(arrayZip({lists})) AS group)
                ) AS is_other FROM ({self._rows}))
            {"" if find_additive(self._query) else "WHERE NOT is_other"}
            GROUP BY bucket, is_other, {separate} {self._settings}""",
            {**self._parameters, **keys},
            tag="query_series_of_groups",
        )
        series: dict[Key, dict[int, Values]] = {}
        others: dict[int, Values] = {}
        for row in rows:
            at, is_other, *values = row.values()
            key, measures = tuple(values[: len(numbers)]), values[len(numbers) :]
            found = others if is_other else series.setdefault(key, {})
            found[to_seconds(at)] = measures
        return Groups(groups.found, groups.total, series, others)


def _order_sql(query: AnalyticsQuery, dimensions: Sequence[str]) -> str:
    """Order by the filters column, then by the dimensions, so that the order is always the same."""
    names = [*(f"m{n}" for n in range(len(query.measures))), *dimensions]
    by = names[[*query.measures, *query.group_by].index(query.order.field)]
    return ", ".join((f"{by} {query.order.order} NULLS LAST", *dimensions))


def _first_groups(
    query: AnalyticsQuery, found: Mapping[Key, Mapping[int | None, Values]], limit: int
) -> Groups:
    """Sort and limit groups; what they are over the whole period is under None."""
    totals = {key: by_bucket[None] for key, by_bucket in found.items()}
    if not query.group_by and not totals:
        totals = {(): [empty_value(measure) for measure in query.measures]}
    fields = [*query.measures, *query.group_by]
    at = fields.index(query.order.field)
    # The value to sort by; all that are present have the same type.
    values: dict[Key, Any] = {key: (*totals[key], *key)[at] for key in sorted(totals)}
    present = [key for key, value in values.items() if value is not None]
    missing = [key for key, value in values.items() if value is None]
    present.sort(key=values.__getitem__, reverse=query.order.order is Order.DESC)
    shown = [*present, *missing][:limit]
    series = {
        key: {bucket: values for bucket, values in found.get(key, {}).items() if bucket is not None}
        for key in shown
    }
    others = _sum_series(query, [found[key] for key in totals.keys() - series.keys()])
    return Groups({key: totals[key] for key in shown}, len(totals), series, others)


def _sum_series(
    query: AnalyticsQuery, groups: Sequence[Mapping[int | None, Values]]
) -> dict[int, Values]:
    """Add up the series of groups, of the measures that add up."""
    additive = find_additive(query)
    sums: dict[int, list[Any]] = {}
    for by_bucket in groups if additive else ():
        for bucket, values in by_bucket.items():
            if bucket is not None:
                summed = sums.setdefault(bucket, [0] * len(values))
                for at in additive:
                    summed[at] += values[at]
    return dict(sums)


def _to_series(
    query: AnalyticsQuery, question: Question, groups: Groups, buckets: Sequence[datetime]
) -> list[dict[str, Any]]:
    """Return a row for each group and bucket."""
    empty = [empty_value(measure) for measure in query.measures]
    rows: list[dict[str, Any]] = []
    for key in groups.found:
        series = groups.series.get(key, {})
        rows += (
            {
                "date": question.label(bucket),
                **_name_row(query, key, series.get(int(bucket.timestamp()), empty)),
            }
            for bucket in buckets
        )
    return rows


def _others_to_series(
    query: AnalyticsQuery, question: Question, groups: Groups, buckets: Sequence[datetime]
) -> list[dict[str, Any]]:
    """Return a row for each bucket with the sums of the groups that are not shown."""
    additive = find_additive(query)
    if not additive or groups.total == len(groups.found):
        return []
    empty = [empty_value(measure) for measure in query.measures]
    return [
        {"date": question.label(bucket)}
        | {
            query.measures[at]: groups.others.get(int(bucket.timestamp()), empty)[at]
            for at in additive
        }
        for bucket in buckets
    ]


def _name_row(query: AnalyticsQuery, key: Key, values: Values) -> dict[str, Value | str]:
    names = zip(query.group_by, (value or None for value in key), strict=True)
    # A rate or an average of no rows is not a number.
    measures = (
        (measure, empty_value(measure) if value != value else value)  # noqa: PLR0124
        for measure, value in zip(query.measures, values, strict=True)
    )
    return {**dict(names), **dict(measures)}
