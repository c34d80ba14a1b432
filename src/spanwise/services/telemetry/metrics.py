"""Metrics: lists their names and answers queries about their data points."""

from collections.abc import Sequence
from dataclasses import dataclass
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
from spanwise.model.times import BoundedRange, TimeRange, bucket_label, next_bucket
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.metrics import metric_queries as stored
from spanwise.storage.telemetry.metrics.metric_queries import GroupValue

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
        series = await reader.find_series([g.group for g in groups], buckets) if buckets else []
        is_estimate = any(value.is_estimate for value in (*groups, *series))
        rows = _to_rows(query, groups, series, buckets)
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
    series: Sequence[GroupValue],
    buckets: Sequence[datetime],
) -> list[MetricRow]:
    values = {(value.group, value.bucket): value.value for value in series}
    steps = _to_steps(query, buckets)
    empty = 0.0 if query.aggregation in _ZERO_WITHOUT_POINTS else None
    rows = []
    for total in groups:
        points = [
            MetricPoint(
                date=step.label,
                value=_divide(values.get((total.group, step.start), empty), step.seconds),
            )
            for step in steps
        ]
        rows.append(
            MetricRow(
                group=dict(zip(query.group_by, total.group, strict=True)),
                value=_divide(total.value, _seconds_of(query, query.period)),
                points=points if query.granularity else None,
            )
        )
    return rows


@dataclass(frozen=True)
class _Step:
    """A bucket: its start as Unix time, its label, and what a rate is divided by."""

    start: int
    label: str
    seconds: float | None


def _to_steps(query: MetricQuery, buckets: Sequence[datetime]) -> list[_Step]:
    if query.granularity is None:
        return []
    steps = []
    for bucket in buckets:
        end = min(next_bucket(bucket, query.granularity), query.period.end)
        inside = BoundedRange(max(bucket, query.period.start), end)
        label = bucket_label(bucket, query.granularity)
        steps.append(_Step(int(bucket.timestamp()), label, _seconds_of(query, inside)))
    return steps


def _seconds_of(query: MetricQuery, period: BoundedRange) -> float | None:
    """Return the seconds of a period that have passed, which a rate is divided by."""
    if query.aggregation is not Aggregation.RATE:
        return None
    return (min(period.end, utc_now()) - period.start).total_seconds()


def _divide(value: float | None, seconds: float | None) -> float | None:
    if value is None or seconds is None:
        return value
    return value / seconds if seconds > 0 else 0.0
