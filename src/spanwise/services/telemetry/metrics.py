"""Metrics: lists their names and answers queries about their data points."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from spanwise.model.api_model import utc_now
from spanwise.model.errors import Invalid
from spanwise.model.page import Listing, PageRequest
from spanwise.model.telemetry.metrics import (
    AGGREGATIONS,
    Aggregation,
    MetricName,
    MetricPoint,
    MetricQuery,
    MetricQueryResult,
    MetricRow,
    MetricType,
)
from spanwise.model.times import BoundedRange, Granularity, TimeRange, bucket_label, next_bucket
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.metrics import metric_queries as stored
from spanwise.storage.telemetry.metrics.metric_queries import Group, GroupValue

# Limit of groups times buckets per response.
MAX_POINTS = 50_000
# Aggregations whose buckets without points are 0; the others are unknown.
_ZERO_WITHOUT_POINTS = {Aggregation.SUM, Aggregation.RATE, Aggregation.COUNT}


class Metrics:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def find_names(
        self, workspace: str, period: TimeRange, search: str | None, page: PageRequest
    ) -> Listing[MetricName]:
        return await stored.find_names(self._engine, workspace, period, search, page)

    async def query(self, workspace: str, query: MetricQuery) -> MetricQueryResult:
        """Aggregate a metric's points by group and time; an unknown name has no rows."""
        buckets = query.period.buckets(query.granularity) if query.granularity else []
        if query.limit * len(buckets) > MAX_POINTS:
            raise Invalid.field(
                "limit", f"{query.limit} groups over {len(buckets):,} buckets are too many points"
            )
        definition = await stored.find_definition(self._engine, workspace, query)
        if definition is None:
            return MetricQueryResult(
                name=query.name,
                unit="",
                type=None,
                is_estimate=False,
                rows=[],
                total=0,
                truncated=False,
            )
        _check_aggregation(definition.type, query.aggregation)
        reader = stored.MetricReader(self._engine, workspace, query, definition)
        groups, total = await reader.find_groups()
        found = await reader.find_series([g.group for g in groups], buckets) if buckets else []
        is_estimate = any(value.is_estimate for value in (*groups, *found))
        rows = _to_rows(query, groups, found, buckets)
        return MetricQueryResult(
            name=query.name,
            unit=definition.unit,
            type=definition.type,
            is_estimate=is_estimate,
            rows=rows,
            total=total,
            truncated=total > len(rows),
        )


def _check_aggregation(kind: MetricType, aggregation: Aggregation) -> None:
    allowed = AGGREGATIONS[kind]
    if aggregation not in allowed:
        raise Invalid.field("aggregation", f"of a {kind} must be one of {', '.join(allowed)}")


def _to_rows(
    query: MetricQuery,
    groups: Sequence[GroupValue],
    found: Sequence[GroupValue],
    buckets: Sequence[datetime],
) -> list[MetricRow]:
    values = {(value.group, value.bucket): value for value in found}
    return [
        MetricRow(
            group=dict(zip(query.group_by, total.group, strict=True)),
            value=_rate(query, total, query.period).value,
            points=_to_points(query, query.granularity, total.group, values, buckets)
            if query.granularity
            else None,
        )
        for total in groups
    ]


def _to_points(
    query: MetricQuery,
    granularity: Granularity,
    group: Group,
    values: Mapping[tuple[Group, int], GroupValue],
    buckets: Sequence[datetime],
) -> list[MetricPoint]:
    empty = 0.0 if query.aggregation in _ZERO_WITHOUT_POINTS else None
    points = []
    for bucket in buckets:
        value = values.get((group, int(bucket.timestamp())), GroupValue(group, empty))
        end = next_bucket(bucket, granularity)
        inside = BoundedRange(max(bucket, query.period.start), min(end, query.period.end))
        date = bucket_label(bucket, granularity)
        points.append(MetricPoint(date=date, value=_rate(query, value, inside).value))
    return points


def _rate(query: MetricQuery, value: GroupValue, period: BoundedRange) -> GroupValue:
    """Divide a rate by the seconds of its period that have passed."""
    if query.aggregation is not Aggregation.RATE or value.value is None:
        return value
    seconds = (min(period.end, utc_now()) - period.start).total_seconds()
    return replace(value, value=value.value / seconds if seconds > 0 else 0.0)
