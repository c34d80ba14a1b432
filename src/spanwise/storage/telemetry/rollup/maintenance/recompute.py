"""Recomputes aggregates of the rollup from traces, or from a finer resolution.

`trace_rollup` and `trace_slices` name the resolution of a row in their column `step`.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from clickhouse_connect.driver.client import Client

from spanwise.model.times import BoundedRange
from spanwise.storage.telemetry.engine.conditions import to_engine_seconds
from spanwise.storage.telemetry.rollup.measures import LATENCY_BOUNDS_MS, MEASURES
from spanwise.storage.telemetry.rollup.source import bind_ranges, compile_ranges
from spanwise.storage.telemetry.rollup.time_ranges import SLICE_START

# Resolution -> SQL for the start of the bucket of a time, and the resolution it is computed from.
BUCKET_STARTS = {
    "hour": "toStartOfHour({})",
    "day": "toStartOfDay({})",
    "month": "toDateTime(toStartOfMonth({}), 'UTC')",
}
FINER_RESOLUTIONS = {"day": "hour", "month": "day"}

_SUMMED = (
    *("traces", "errors", "duration_ms", "input_tokens", "output_tokens", "cost"),
    "unpriced_tokens",
    *(f"under_{ms}" for ms in LATENCY_BOUNDS_MS),
)
# sumMap drops keys whose values are all zero, so costs, which may be zero, are summed with calls.
_SUMMED_BY_KEY = (
    ("latency_keys", "latency_counts"),
    ("error_types", "error_counts"),
    ("models", "model_calls", "model_costs", "model_unpriced_tokens"),
    ("tools", "tool_calls", "tool_costs"),
)
_COLLECTED = ("unpriced_models", "providers", "kinds", "named_errors", "experiments")

_COLUMNS = tuple(name for name in MEASURES if name not in {"agent_name", "environment"})
# The columns of a row that aggregates no traces.
ZEROS = ", ".join(f"0 AS {name}" if name in _SUMMED else f"[] AS {name}" for name in _COLUMNS)

_STARTS_WITHIN = "start >= {first:DateTime64(9, 'UTC')} AND start < {end:DateTime64(9, 'UTC')}"
_MOMENT_WITHIN = "moment >= {first:DateTime('UTC')} AND moment < {end:DateTime('UTC')}"


def recompute(
    client: Client,
    period: BoundedRange,
    resolutions: Sequence[str],
    written: Mapping[str, Any],
) -> None:
    """Recompute the changed buckets of a period at some resolutions, the finest first.

    `written` binds `since` and `until`: buckets written between them, and not later, are changed.
    """
    parameters = {
        **written,
        "first": to_engine_seconds(period.start),
        "end": to_engine_seconds(period.end),
        "version": time.time_ns(),
    }
    for resolution in resolutions:
        changed = f"{_MOMENT_WITHIN} AND (workspace, moment) IN ({_changed_buckets(resolution)})"
        rows = _select_traces() if resolution == "hour" else _select_finer(resolution)
        sql = insert_aggregates_sql("trace_rollup", resolution, rows, changed)
        client.command(sql, parameters=parameters)


def recompute_slices(client: Client, ranges: Sequence[BoundedRange]) -> None:
    """Recompute all slices of some ranges."""
    measures = ", ".join(f"{sql} AS {name}" for name, sql in MEASURES.items())
    starts = " OR ".join(compile_ranges("start", "DateTime64(9, 'UTC')", ranges))
    moments = " OR ".join(compile_ranges("moment", "DateTime('UTC')", ranges))
    rows = f"SELECT workspace, {SLICE_START} AS moment, {measures} FROM traces FINAL WHERE {starts}"
    client.command(
        insert_aggregates_sql("trace_slices", "slice", rows, f"({moments})"),
        parameters={**bind_ranges(ranges), "version": time.time_ns()},
    )


def insert_aggregates_sql(table: str, resolution: str, rows: str, changed: str) -> str:
    """SQL that inserts the aggregates of rows by key, and zeros for keys that have no rows left.

    One statement does both, so that a reader never sees an intermediate state.
    """
    sums = {name: f"sum(row.{name})" for name in _SUMMED}
    maps = {
        name: f"sumMap({', '.join(f'row.{name}' for name in names)}).{position}"
        for names in _SUMMED_BY_KEY
        for position, name in enumerate(names, 1)
    }
    sets = {name: f"groupUniqArrayArray(row.{name})" for name in _COLLECTED}
    aggregates = {**sums, **maps, **sets}
    values = ", ".join(f"{aggregates[name]} AS {name}" for name in _COLUMNS)
    existing = f"""
        SELECT DISTINCT workspace, moment, agent_name, environment, {ZEROS}
        FROM {table} WHERE step = '{resolution}' AND {changed}"""
    return f"""
    INSERT INTO {table}
        (workspace, step, moment, agent_name, environment, version, {", ".join(_COLUMNS)})
    SELECT row.workspace AS workspace, '{resolution}' AS step, row.moment AS moment,
        row.agent_name AS agent_name, row.environment AS environment,
        {{version:UInt64}} AS version, {values}
    FROM ({rows} UNION ALL {existing}) AS row
    GROUP BY row.workspace, row.moment, row.agent_name, row.environment"""


def _changed_buckets(resolution: str) -> str:
    """SQL for the buckets that were written between `since` and `until`, and not later."""
    start = BUCKET_STARTS[resolution].format("start")
    return f"""
    SELECT workspace, {start} FROM traces
    WHERE {_STARTS_WITHIN} AND written_at > {{since:DateTime64(3, 'UTC')}}
    GROUP BY workspace, {start} HAVING max(written_at) <= {{until:DateTime64(3, 'UTC')}}"""


def _select_traces() -> str:
    measures = ", ".join(f"{sql} AS {name}" for name, sql in MEASURES.items())
    return f"""
        SELECT workspace, toStartOfHour(start) AS moment, {measures}
        FROM traces FINAL
        WHERE {_STARTS_WITHIN} AND (workspace, toStartOfHour(start)) IN ({_changed_buckets("hour")})
    """


def _select_finer(resolution: str) -> str:
    start = BUCKET_STARTS[resolution].format("moment")
    return f"""
        SELECT workspace, {start} AS moment, {", ".join(MEASURES)}
        FROM (
            SELECT * FROM trace_rollup FINAL
            WHERE step = '{FINER_RESOLUTIONS[resolution]}' AND {_MOMENT_WITHIN}
            AND (workspace, {start}) IN ({_changed_buckets(resolution)}))"""
