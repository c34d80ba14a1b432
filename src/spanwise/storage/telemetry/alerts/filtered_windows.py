"""Computes the metrics of alert rules with filters, of queries and of new failures, one by one."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from spanwise.model.alerts import WatchedRule, Window
from spanwise.model.dashboards.queries import AnalyticsQuery
from spanwise.model.measures import FIRST_TOKEN_MEASURES, NEW_FAILURES, SIGNAL
from spanwise.model.telemetry.failures import FailureMark
from spanwise.model.telemetry.filters import FilterCondition, TraceFilter, equal
from spanwise.model.times import TimeRange
from spanwise.storage.telemetry.alerts.alert_windows import EXAMPLES, Buckets
from spanwise.storage.telemetry.analytics.measures import measure_sql
from spanwise.storage.telemetry.analytics.source_rows import has_uncounted_calls, select_rows
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.conditions import Conditions
from spanwise.storage.telemetry.failures.groups import SILENT_DAYS, bind_marks

# Traces and spans that take longer are not found.
_LONGEST = timedelta(days=1)
# The examples of an alert are the traces with the most of this; other measures order by themselves.
_EXTREMES = {
    "errorRate": measure_sql("errors", 0),
    **dict.fromkeys(("avgLatency", "p50", "p95", "p99"), "max(duration_ns)"),
    **dict.fromkeys(FIRST_TOKEN_MEASURES, "max(first_token_ms)"),
}
_ERRORS = {"errors", "errorRate"}
Windows = Mapping[int, Window]
Periods = Sequence[tuple[int, int]]


async def measure_query(
    engine: Engine,
    watched: WatchedRule,
    conditions: Sequence[FilterCondition],
    periods: Periods,
    buckets: Buckets,
) -> Windows:
    """Measure the traces or spans of a query, by their end."""
    measure = watched.rule.measured
    rows, parameters = await _select_ended(engine, watched, conditions, periods)
    found = await engine.fetch(
        f"""SELECT {buckets.sql} AS bucket, {_samples_sql(measure)} AS samples,
            toFloat64({measure_sql(measure, 0)}) AS value
        FROM ({rows}) GROUP BY bucket""",
        {**parameters, **buckets.parameters},
        tag="measure_query",
    )
    # The engine returns NaN for a percentile of no values.
    return {
        row["bucket"]: Window(row["samples"], {measure: row["value"] if row["samples"] else None})
        for row in found
    }


def _samples_sql(measure: str) -> str:
    """SQL for how many rows have a value of the measure."""
    if measure in FIRST_TOKEN_MEASURES:
        return "count(first_token_ms)"
    return "countIf(signal_count_0 > 0)" if measure.startswith(SIGNAL) else "count()"


async def _select_ended(
    engine: Engine,
    watched: WatchedRule,
    conditions: Sequence[FilterCondition],
    periods: Periods,
) -> tuple[str, Mapping[str, Any]]:
    """Return SQL for the rows of a query that ended within the periods, and its parameters."""
    rule, workspace = watched.rule, watched.workspace_id
    query = AnalyticsQuery(measures=[rule.measured], of=rule.of)
    filters = _filter_of(watched, conditions, periods)
    has_uncounted = await has_uncounted_calls(engine, workspace, query, filters.period)
    rows, where = select_rows(workspace, query, filters, has_uncounted=has_uncounted)
    ended = " OR ".join(f"(seconds >= {int(a)} AND seconds < {int(b)})" for a, b in periods)
    sql = f"""SELECT *, toUInt32(intDiv(
            toUnixTimestamp64Nano(moment) + toInt64(duration_ns), 1000000000)) AS seconds
        FROM ({rows}) WHERE {ended}"""
    return sql, where.parameters


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
        row["bucket"]: Window(row["groups"], {NEW_FAILURES.name: row["groups"]}) for row in rows
    }


async def find_query_examples(
    engine: Engine,
    watched: WatchedRule,
    conditions: Sequence[FilterCondition],
    end: datetime,
    *,
    is_low: bool,
) -> list[str]:
    """Return ids of the traces with the most extreme traces or spans of a query.

    `is_low`: the measured value is too low.
    """
    measure = watched.rule.measured
    value = _EXTREMES.get(measure) or measure_sql(measure, 0)
    having = f"{_samples_sql(measure)} > 0"
    if measure in _ERRORS and not is_low:
        having += " AND value > 0"
    rows, parameters = await _select_ended(engine, watched, conditions, [_window(watched, end)])
    found = await engine.fetch(
        f"""SELECT lower(hex(trace_id)) AS id, {value} AS value FROM ({rows})
        GROUP BY trace_id HAVING {having}
        ORDER BY value {"ASC" if is_low else "DESC"}, max(moment) DESC LIMIT {EXAMPLES}""",
        parameters,
        tag="find_query_examples",
    )
    return [row["id"] for row in found]


def _window(watched: WatchedRule, end: datetime) -> tuple[int, int]:
    until = int(end.timestamp()) + 1
    return until - watched.rule.window_minutes * 60, until


def _filter_of(
    watched: WatchedRule, conditions: Sequence[FilterCondition], periods: Periods
) -> TraceFilter:
    start = datetime.fromtimestamp(min(start for start, _ in periods), UTC)
    end = datetime.fromtimestamp(max(end for _, end in periods), UTC)
    own = equal(agent=watched.agent_name)
    return TraceFilter(TimeRange(start - _LONGEST, end), (*own, *conditions))
