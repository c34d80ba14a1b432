"""Retention of the rollup: removes old aggregates, recomputes buckets that straddle the cutoff."""

import time
from datetime import datetime

from clickhouse_connect.driver.client import Client

from spanwise.model.times import Granularity, floor_time, next_bucket
from spanwise.storage.telemetry.engine.conditions import OF_WORKSPACE_OR_ALL, to_engine_seconds
from spanwise.storage.telemetry.engine.query import query_rows
from spanwise.storage.telemetry.rollup.maintenance.recompute import (
    BUCKET_STARTS,
    FINER_RESOLUTIONS,
    ZEROS,
    insert_aggregates_sql,
)
from spanwise.storage.telemetry.rollup.measures import MEASURES

_IS_EXPIRED = f"""{OF_WORKSPACE_OR_ALL} AND (
    step = 'hour' AND moment < {{hour_edge:DateTime('UTC')}}
    OR step = 'day' AND moment < {{day_edge:DateTime('UTC')}})"""
_IN_CUT_MONTH = f"""{OF_WORKSPACE_OR_ALL} AND moment >= {{month_edge:DateTime('UTC')}}
    AND moment < {{month_end:DateTime('UTC')}}"""
# Rows to remove, and whether a month differs from its days: an earlier run may have been
# interrupted.
_EXPIRED = f"""
SELECT sum(expired) AS expired, countIf(of_days != of_month) > 0 AS is_wrong
FROM (
    SELECT workspace, countIf({_IS_EXPIRED}) AS expired,
        sumIf(traces, step = 'day' AND moment >= {{day_edge:DateTime('UTC')}}) AS of_days,
        sumIf(traces, step = 'month') AS of_month
    FROM trace_rollup FINAL WHERE {_IN_CUT_MONTH} GROUP BY workspace)"""
_OLD_SLICE_PARTITIONS = """
SELECT DISTINCT partition_id FROM system.parts
WHERE database = currentDatabase() AND active AND table = 'trace_slices'
AND partition_id < {before:String}"""


def expire_rollup(client: Client, before: datetime, workspace: str | None = None) -> int:
    """Remove the hours and days before a whole hour; returns the number of rows removed.

    Without a workspace, those of all workspaces.

    The day and the month of that hour are recomputed from what is left of them. Earlier months
    are left to the caller.
    """
    edges = {
        "hour": before,
        "day": floor_time(before, Granularity.DAILY),
        "month": floor_time(before, Granularity.MONTHLY),
    }
    parameters = {f"{name}_edge": to_engine_seconds(edge) for name, edge in edges.items()}
    parameters["workspace"] = workspace or ""
    month_end = next_bucket(edges["month"], Granularity.MONTHLY)
    parameters["month_end"] = to_engine_seconds(month_end)
    (found,) = query_rows(client, _EXPIRED, parameters)
    if not found["expired"] and not found["is_wrong"]:
        return 0
    # A cutoff at midnight splits no day.
    for resolution in ("month",) if edges["day"] == before else ("day", "month"):
        versioned = {**parameters, "version": time.time_ns()}
        client.command(_recompute_partial(resolution), parameters=versioned)
    client.command(f"DELETE FROM trace_rollup WHERE {_IS_EXPIRED}", parameters=parameters)
    return int(found["expired"])


def _recompute_partial(resolution: str) -> str:
    """SQL that recomputes the day or month of the cutoff, and sets expired rows to zero.

    One statement does both, so that a reader sees neither without the other.
    """
    edge, finer = f"{{{resolution}_edge:DateTime('UTC')}}", FINER_RESOLUTIONS[resolution]
    cut_bucket = f"{OF_WORKSPACE_OR_ALL} AND moment = {edge}"
    rows = f"""SELECT workspace, {edge} AS moment, {", ".join(MEASURES)}
        FROM (
            SELECT * FROM trace_rollup FINAL
            WHERE {OF_WORKSPACE_OR_ALL} AND step = '{finer}'
            AND moment >= {{{finer}_edge:DateTime('UTC')}}
            AND {BUCKET_STARTS[resolution].format("moment")} = {edge})"""
    return f"""{insert_aggregates_sql("trace_rollup", resolution, rows, cut_bucket)}
    UNION ALL
    SELECT workspace, toString(step), moment, agent_name, environment, {{version:UInt64}},
        {ZEROS}
    FROM trace_rollup FINAL WHERE {_IN_CUT_MONTH} AND {_IS_EXPIRED}"""


def drop_slices(client: Client, before: datetime) -> None:
    """Drop the slices of days before a time, which are read from hourly aggregates."""
    rows = query_rows(client, _OLD_SLICE_PARTITIONS, {"before": f"{before:%Y%m%d}"})
    for row in rows:
        client.command(f"ALTER TABLE trace_slices DROP PARTITION ID '{row['partition_id']}'")
