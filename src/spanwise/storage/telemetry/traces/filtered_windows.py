"""Computes the metrics of alert rules with filters, of queries and of new failures, one by one."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from spanwise.model.alerts import AlertMetric, AlertRule, Condition, WatchedRule, Window
from spanwise.model.dashboards.queries import AnalyticsQuery
from spanwise.model.telemetry.failures import FailureMark
from spanwise.model.telemetry.filters import FilterCondition, TraceFilter, equal
from spanwise.model.times import TimeRange
from spanwise.storage.telemetry.analytics.measures import measure_sql
from spanwise.storage.telemetry.analytics.source_rows import has_uncounted_calls, select_rows
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.conditions import Conditions
from spanwise.storage.telemetry.failures.groups import SILENT_DAYS, bind_marks
from spanwise.storage.telemetry.filters.trace_filters import trace_conditions
from spanwise.storage.telemetry.traces.alert_windows import (
    EXAMPLES,
    MEASURED_COLUMNS,
    MEASUREMENTS,
    TRACE_ORDER,
    Buckets,
    ended_within,
    example_condition,
    to_window,
)

# Traces and spans that take longer are not found.
_LONGEST = timedelta(days=1)
# The metric whose most extreme traces are examples for a measure.
_LIKE = {
    "errors": AlertMetric.ERROR_RATE,
    "errorRate": AlertMetric.ERROR_RATE,
    "cost": AlertMetric.COST,
    "inputTokens": AlertMetric.TOTAL_TOKENS,
    "outputTokens": AlertMetric.TOTAL_TOKENS,
    "cachedTokens": AlertMetric.TOTAL_TOKENS,
    "avgLatency": AlertMetric.AVG_LATENCY,
    **dict.fromkeys(("p50", "p95", "p99"), AlertMetric.P95_LATENCY),
}
Windows = Mapping[int, Window]
Periods = Sequence[tuple[int, int]]


async def measure_filtered_traces(
    engine: Engine,
    watched: WatchedRule,
    conditions: Sequence[FilterCondition],
    periods: Periods,
    buckets: Buckets,
) -> Windows:
    """Measure the traces that meet all conditions; agents in them are given by name."""
    where = trace_conditions(watched.workspace_id, _filter_of(watched, conditions, periods))
    rows = await engine.fetch(
        f"""SELECT {buckets.sql} AS bucket, {MEASUREMENTS}
        FROM (
            SELECT {MEASURED_COLUMNS}
            FROM traces FINAL WHERE {ended_within(periods)} AND {where.sql})
        GROUP BY bucket""",
        {**where.parameters, **buckets.parameters, "workspaces": [watched.workspace_id]},
        tag="measure_filtered_traces",
    )
    return {row["bucket"]: to_window(row) for row in rows}


async def measure_query(
    engine: Engine,
    watched: WatchedRule,
    conditions: Sequence[FilterCondition],
    periods: Periods,
    buckets: Buckets,
) -> Windows:
    """Measure the traces or spans of a query, by their end."""
    rule, workspace = watched.rule, watched.workspace_id
    query = AnalyticsQuery(measures=[rule.measure or "count"], of=rule.of)
    wanted = _filter_of(watched, conditions, periods)
    has_uncounted = await has_uncounted_calls(engine, workspace, query, wanted.period)
    rows, where = select_rows(workspace, query, wanted, has_uncounted=has_uncounted)
    ended = " OR ".join(f"(seconds >= {int(a)} AND seconds < {int(b)})" for a, b in periods)
    found = await engine.fetch(
        f"""SELECT {buckets.sql} AS bucket, count() AS samples,
            toFloat64({measure_sql(query.measures[0], 0)}) AS value
        FROM (
            SELECT *, toUInt32(intDiv(
                toUnixTimestamp64Nano(moment) + toInt64(duration_ns), 1000000000)) AS seconds
            FROM ({rows}))
        WHERE {ended} GROUP BY bucket""",
        {**where.parameters, **buckets.parameters},
        tag="measure_query",
    )
    return {row["bucket"]: Window(samples=row["samples"], query=row["value"]) for row in found}


async def measure_new_failures(
    engine: Engine,
    watched: WatchedRule,
    marks: Sequence[FailureMark],
    periods: Periods,
    buckets: Buckets,
) -> Windows:
    """Count the groups of failures that appeared, or came back after a week, in each bucket.

    Muted groups and those marked as known afterwards do not count.
    """
    where = Conditions(watched.workspace_id)
    where.equals("agent_name", watched.agent_name)
    within = " OR ".join(f"(seconds >= {int(a)} AND seconds < {int(b)})" for a, b in periods)
    rows = await engine.fetch(
        f"""SELECT {buckets.sql} AS bucket, uniqExact(group_id) AS groups
        FROM (
            SELECT group_id, arraySort(groupArray((toUInt32(toDate(day)), began))) AS days,
                arrayJoin(arrayFilter(
                    (day, gap, number) -> number = 1 OR gap > {{silent:UInt32}},
                    days, arrayDifference(days.1), arrayEnumerate(days))) AS appearance,
                toUInt32(toUnixTimestamp(appearance.2)) AS seconds
            FROM (
                SELECT group_id, day, min(first) AS began FROM failure_days
                WHERE {where.sql} GROUP BY group_id, day)
            GROUP BY group_id)
        WHERE ({within}) AND NOT has({{muted:Array(UInt64)}}, group_id)
            AND seconds > if(has({{marked:Array(UInt64)}}, group_id),
                {{marked_at:Array(UInt32)}}[indexOf({{marked:Array(UInt64)}}, group_id)], 0)
        GROUP BY bucket""",
        {
            **where.parameters,
            **bind_marks(marks),
            **buckets.parameters,
            "silent": SILENT_DAYS,
        },
        tag="measure_new_failures",
    )
    return {
        row["bucket"]: Window(samples=row["groups"], new_failures=row["groups"]) for row in rows
    }


async def find_filtered_examples(
    engine: Engine, watched: WatchedRule, conditions: Sequence[FilterCondition], end: datetime
) -> list[str]:
    """Return ids of traces in the window of a rule, the most extreme first."""
    until = int(end.timestamp()) + 1
    period = until - watched.rule.window_minutes * 60, until
    where = trace_conditions(watched.workspace_id, _filter_of(watched, conditions, [period]))
    metric, is_low = _ordering_metric(watched.rule), watched.rule.condition is Condition.BELOW
    rows = await engine.fetch(
        f"""SELECT lower(hex(trace_id)) AS id FROM traces FINAL
        WHERE {ended_within([period])} AND {where.sql}
            AND {example_condition(metric, is_low=is_low)}
        ORDER BY {TRACE_ORDER[metric]} LIMIT {EXAMPLES}""",
        {**where.parameters, "workspaces": [watched.workspace_id]},
        tag="find_filtered_examples",
    )
    return [row["id"] for row in rows]


def _ordering_metric(rule: AlertRule) -> AlertMetric:
    if rule.metric is not AlertMetric.QUERY:
        return rule.metric
    return _LIKE.get(rule.measure or "", AlertMetric.REQUEST_COUNT)


def _filter_of(
    watched: WatchedRule, conditions: Sequence[FilterCondition], periods: Periods
) -> TraceFilter:
    start = datetime.fromtimestamp(min(start for start, _ in periods), UTC)
    end = datetime.fromtimestamp(max(end for _, end in periods), UTC)
    own = equal(agent=watched.agent_name)
    return TraceFilter(TimeRange(start - _LONGEST, end), (*own, *conditions))
