"""Reads metrics: their names, and aggregations of their data points."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from spanwise.model.page import Listing, PageRequest
from spanwise.model.telemetry.histograms import Bucket, estimate_quantile
from spanwise.model.telemetry.metrics import (
    AGGREGATIONS,
    HISTOGRAMS,
    MASKED_SERIES,
    QUANTILES,
    Aggregation,
    MetricName,
    MetricQuery,
    MetricType,
    Temporality,
)
from spanwise.model.times import TimeRange
from spanwise.storage.telemetry.engine.attribute_text import point_attribute
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.conditions import Conditions, to_engine_time
from spanwise.storage.telemetry.engine.query import Rows
from spanwise.storage.telemetry.filters.operators import add_conditions
from spanwise.storage.telemetry.metrics.increases import points_with_increases
from spanwise.storage.telemetry.rows.decoding import in_utc

# The values of a group's keys.
Group = tuple[str, ...]
_MAX_KEYS = 200
_MAX_SERVICES = 20


@dataclass(frozen=True)
class Definition:
    """What the points of a query have in common, by the latest of them."""

    type: MetricType
    unit: str
    is_cumulative: bool


@dataclass(frozen=True)
class GroupValue:
    group: Group
    value: float | None
    is_estimate: bool = False
    # The start of the bucket, if the query has buckets.
    bucket: int = 0


async def find_names(
    engine: Engine, workspace: str, period: TimeRange, search: str | None, page: PageRequest
) -> Listing[MetricName]:
    """Return one page of metrics in the order of their names, and the total."""
    where = Conditions(workspace)
    where.within("time", period)
    if search:
        where.add("positionCaseInsensitiveUTF8(name, {search:String}) > 0", search=search)
    rows = await engine.fetch(
        f"""SELECT name, argMax(description, time) AS description, argMax(unit, time) AS unit,
            argMax(type, time) AS type, argMax(temporality, time) AS temporality,
            argMax(is_monotonic, time) AS is_monotonic, uniqExact(series) AS series_count,
            max(time) AS last_seen,
            arraySort(groupUniqArrayArray({_MAX_KEYS})(mapKeys(attributes))) AS attribute_keys,
            arraySort(arrayDistinct(arrayFlatten(arrayMap(r -> JSONExtractKeys(r),
                groupUniqArray({_MAX_KEYS})(resource))))) AS resource_keys,
            arraySort(groupUniqArray({_MAX_SERVICES})(service_name)) AS services,
            count() OVER () AS total
        FROM metric_points WHERE {where.sql} GROUP BY name ORDER BY name
        LIMIT {{limit:UInt32}} OFFSET {{skip:UInt32}}""",
        {**where.parameters, "limit": page.limit, "skip": page.skip},
        tag="find_metric_names",
    )
    total = int(rows[0]["total"]) if rows else page.skip and await _count(engine, where)
    return Listing([_to_name(row) for row in rows], total)


async def _count(engine: Engine, where: Conditions) -> int:
    sql = f"SELECT uniqExact(name) AS total FROM metric_points WHERE {where.sql}"
    return int((await engine.fetch(sql, where.parameters, tag="count_metrics"))[0]["total"])


def _to_name(row: Mapping[str, Any]) -> MetricName:
    return MetricName(
        name=row["name"],
        description=row["description"],
        unit=row["unit"],
        type=MetricType(row["type"]),
        temporality=Temporality(row["temporality"]) if row["temporality"] else None,
        is_monotonic=row["is_monotonic"],
        series_count=row["series_count"],
        last_seen_at=in_utc(row["last_seen"]),
        attribute_keys=[key for key in row["attribute_keys"] if key != MASKED_SERIES],
        resource_keys=row["resource_keys"],
        service_names=[name for name in row["services"] if name],
        aggregations=list(AGGREGATIONS[MetricType(row["type"])]),
    )


async def find_definition(engine: Engine, workspace: str, query: MetricQuery) -> Definition | None:
    """Return the type and unit of the points that a query selects; None without points."""
    where = _conditions(workspace, query)
    where.add("time >= {after:DateTime64(9, 'UTC')} AND time < {before:DateTime64(9, 'UTC')}")
    rows = await engine.fetch(
        f"""SELECT argMax(type, time) AS type, argMax(unit, time) AS unit,
            max(temporality = 'cumulative') AS is_cumulative, count() AS points
        FROM metric_points WHERE {where.sql}""",
        where.parameters,
        tag="find_metric_definition",
    )
    row = rows[0]
    if not row["points"]:
        return None
    return Definition(MetricType(row["type"]), row["unit"], bool(row["is_cumulative"]))


def _conditions(workspace: str, query: MetricQuery) -> Conditions:
    where = Conditions(workspace)
    where.add(
        "name = {name:String}",
        name=query.name,
        after=to_engine_time(query.period.start),
        before=to_engine_time(query.period.end),
    )
    add_conditions(where, query.filters, {}, point_attribute)
    return where


class MetricReader:
    """Aggregates the points that a query selects, by group and by bucket."""

    def __init__(
        self, engine: Engine, workspace: str, query: MetricQuery, definition: Definition
    ) -> None:
        self._engine = engine
        self._query = query
        self._definition = definition
        where = _conditions(workspace, query)
        where.add("type = {type:String}", type=definition.type)
        groups = [point_attribute(where.bind(key)).text for key in query.group_by]
        self._groups = ", ".join(f"g{index}" for index in range(len(groups)))
        self._points = points_with_increases(where, groups, is_cumulative=definition.is_cumulative)
        self._parameters = where.parameters

    async def find_groups(self) -> tuple[list[GroupValue], int]:
        """Return the groups with the largest values, and the number of all groups."""
        values = await self._aggregate([], None)
        values.sort(key=lambda found: found.group)
        values.sort(key=lambda found: (found.value is not None, found.value), reverse=True)
        return values[: self._query.limit], len(values)

    async def find_series(
        self, groups: Sequence[Group], buckets: Sequence[datetime]
    ) -> list[GroupValue]:
        """Return the values of some groups in the buckets that have any."""
        return await self._aggregate(buckets, groups)

    async def _aggregate(
        self, buckets: Sequence[datetime], groups: Sequence[Group] | None
    ) -> list[GroupValue]:
        parameters = dict(self._parameters)
        bucket = "0"
        if buckets:
            bucket = "roundDown(toUnixTimestamp64Second(time), {edges:Array(Int64)})"
            parameters["edges"] = [int(edge.timestamp()) for edge in buckets]
        points = f"SELECT *, {bucket} AS bucket FROM ({self._points})"
        if groups is not None and self._groups:
            points += f" WHERE has({{groups:Array(Array(String))}}, [{self._groups}])"
            parameters["groups"] = [list(group) for group in groups]
        by = f"{self._groups}, bucket" if self._groups else "bucket"
        if self._definition.type in HISTOGRAMS and self._query.aggregation in QUANTILES:
            sql = _buckets_sql(points, by)
            return self._to_quantiles(await self._fetch(sql, parameters))
        sql = _values_sql(points, by, self._definition.type, self._query.aggregation)
        return [
            GroupValue(self._group_of(row), row["result"], bool(row["estimated"]), row["bucket"])
            for row in await self._fetch(sql, parameters)
        ]

    async def _fetch(self, sql: str, parameters: Mapping[str, Any]) -> Rows:
        return await self._engine.fetch(sql, parameters, tag="query_metric")

    def _to_quantiles(self, rows: Rows) -> list[GroupValue]:
        found: dict[tuple[Group, int], list[Bucket]] = {}
        for row in rows:
            key = self._group_of(row), row["bucket"]
            bucket = Bucket(row["lower"], row["upper"], row["values"])
            found.setdefault(key, []).append(bucket)
        quantile = QUANTILES[self._query.aggregation]
        return [
            GroupValue(group, estimate_quantile(buckets, quantile), True, bucket)
            for (group, bucket), buckets in found.items()
        ]

    def _group_of(self, row: Mapping[str, Any]) -> Group:
        return tuple(row[f"g{index}"] for index in range(len(self._query.group_by)))


def _values_sql(points: str, by: str, kind: MetricType, aggregation: Aggregation) -> str:
    """SQL for one number per group and bucket; the caller divides a rate by its time."""
    if kind in HISTOGRAMS or kind is MetricType.SUMMARY:
        value, estimated = _HISTOGRAM_VALUES[aggregation]
    elif aggregation is Aggregation.LAST:
        # The latest value of each series, added up.
        points = f"""SELECT {by}, argMax(value, (time, start)) AS last FROM ({points})
            GROUP BY {by}, series"""
        value, estimated = "sum(last)", "0"
    else:
        number = "value" if kind is MetricType.GAUGE else "increase"
        value, estimated = _number_value(aggregation, number), "0"
    return f"""SELECT {by}, toNullable(toFloat64({value})) AS total, {estimated} AS estimated,
        if(isFinite(total), total, NULL) AS result FROM ({points}) GROUP BY {by}"""


def _number_value(aggregation: Aggregation, number: str) -> str:
    if aggregation in QUANTILES:
        return f"quantileExactInclusive({QUANTILES[aggregation]})({number})"
    function = {Aggregation.COUNT: "count()", Aggregation.RATE: f"sum({number})"}
    return function.get(aggregation, f"{aggregation}({number})")


_LOWER = "arrayPushFront(bounds, -inf)"
_UPPER = "arrayPushBack(bounds, inf)"
# A cumulative histogram reports the extremes since its start, not those of the period.
_IS_EXACT = "(temporality = 'delta' AND {0} IS NOT NULL)"
_MIN_IS_EXACT, _MAX_IS_EXACT = _IS_EXACT.format("min"), _IS_EXACT.format("max")
_LEAST = f"""if({_MIN_IS_EXACT}, min,
    toNullable(arrayMin(arrayFilter((l, c) -> c > 0, {_LOWER}, new_counts))))"""
_GREATEST = f"""if({_MAX_IS_EXACT}, max,
    toNullable(arrayMax(arrayFilter((u, c) -> c > 0, {_UPPER}, new_counts))))"""
_HISTOGRAM_VALUES = {
    Aggregation.SUM: ("sum(new_sum)", "0"),
    Aggregation.COUNT: ("sum(new_count)", "0"),
    Aggregation.RATE: ("sum(new_count)", "0"),
    Aggregation.AVG: ("sum(new_sum) / sum(new_count)", "0"),
    Aggregation.MIN: (f"minIf({_LEAST}, new_count > 0)", f"max(NOT {_MIN_IS_EXACT})"),
    Aggregation.MAX: (f"maxIf({_GREATEST}, new_count > 0)", f"max(NOT {_MAX_IS_EXACT})"),
}


def _buckets_sql(points: str, by: str) -> str:
    """SQL for the number of new values in each bucket of the histograms, by group and bucket.

    Histograms with the same bounds are added first: that is most of the work.
    """
    added = f"""SELECT {by}, bounds, sumForEach(new_counts) AS counts
        FROM ({points}) WHERE notEmpty(new_counts) GROUP BY {by}, bounds"""
    buckets = f"""SELECT {by}, arrayJoin(arrayZip({_LOWER}, {_UPPER},
        arrayResize(counts, length(bounds) + 1))) AS b FROM ({added})"""
    return f"""SELECT {by}, b.1 AS lower, b.2 AS upper, sum(b.3) AS values FROM ({buckets})
        WHERE b.3 > 0 GROUP BY {by}, lower, upper"""
