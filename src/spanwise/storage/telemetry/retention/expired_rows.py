"""Removes expired telemetry: past months as partitions, the rest row by row.

ClickHouse's TTL does not fit: with whole parts it keeps up to a month too much, because merges join
the parts of a month; rewriting parts would rewrite the month every day. Here past months are
dropped as partitions, and in the month of the cutoff rows are deleted once a day, masked until the
next merge. Data derived from removed rows is recomputed from the remaining ones: the rollup's
month, and traces with spans on both sides of the cutoff.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from clickhouse_connect.driver.client import Client

from spanwise.model.times import Granularity, floor_time
from spanwise.storage.telemetry.engine.conditions import OF_WORKSPACE_OR_ALL, to_engine_time
from spanwise.storage.telemetry.engine.query import delete_where, query_rows
from spanwise.storage.telemetry.rollup.maintenance.expiry import expire_rollup
from spanwise.storage.telemetry.write.aggregates import recompute_traces


@dataclass(frozen=True)
class ExpiringTable:
    """A table with its time column, and whether it is partitioned by month."""

    table: str
    column: str
    by_month: bool = True


# In this order: spans before their bounds, so that every remaining span stays reachable through its
# bounds; traces just before their rollups, so that lists and totals differ only briefly.
EXPIRING_TABLES = (
    ExpiringTable("spans", "hour"),
    ExpiringTable("traces", "start"),
    ExpiringTable("trace_rollup", "moment"),
    ExpiringTable("trace_slices", "moment", by_month=False),
    ExpiringTable("failures", "hour"),
    ExpiringTable("failure_days", "day", by_month=False),
    ExpiringTable("trace_bounds", "last_hour", by_month=False),
    ExpiringTable("logs", "time"),
    ExpiringTable("metric_points", "time"),
    ExpiringTable("signals", "time", by_month=False),
    ExpiringTable("exposures", "first_at", by_month=False),
)


# The names of what is counted, by table; the other tables are derived from these.
_COUNTED_NAMES = {
    **{table: table for table in ("traces", "spans", "logs", "signals")},
    "metric_points": "metrics",
}


def remove_expired(
    client: Client,
    before: datetime,
    workspace: str | None = None,
    is_stopping: Callable[[], bool] = lambda: False,
) -> dict[str, int]:
    """Remove rows before the hour of `before`, of one workspace or of all.

    Returns the number of rows by table.
    """
    before = floor_time(before, Granularity.HOURLY)
    removed: dict[str, int] = {}
    for expiring in EXPIRING_TABLES:
        if is_stopping():
            break
        rows = 0
        if expiring.by_month and workspace is None:
            rows += _drop_months(client, expiring, before)
        if expiring.table == "trace_rollup":
            if workspace is not None:
                month = floor_time(before, Granularity.MONTHLY)
                rows += _delete_rows(client, expiring, month, workspace)
            rows += expire_rollup(client, before, workspace)
        else:
            rows += _delete_rows(client, expiring, before, workspace)
        if rows:
            removed[expiring.table] = rows
    return removed


def recompute_truncated_traces(
    client: Client, before: datetime, workspace: str | None = None
) -> None:
    """Recompute traces that lost some of their spans."""
    truncated = f"""SELECT workspace, trace_id FROM trace_bounds WHERE {OF_WORKSPACE_OR_ALL}
        GROUP BY workspace, trace_id
        HAVING min(first_hour) < {{before:DateTime64(9, 'UTC')}}
        AND max(last_hour) >= {{before:DateTime64(9, 'UTC')}}"""
    parameters = {"before": to_engine_time(before), "workspace": workspace or ""}
    recompute_traces(client, truncated, parameters)


def count_expired(client: Client, before: datetime, workspace: str) -> dict[str, int]:
    """Count the rows of a workspace that a cutoff would remove, by name; none is left out."""
    parameters = {"before": to_engine_time(before), "workspace": workspace}
    return {
        _COUNTED_NAMES[expiring.table]: _count(client, expiring, parameters)
        for expiring in EXPIRING_TABLES
        if expiring.table in _COUNTED_NAMES
    }


def _drop_months(client: Client, expiring: ExpiringTable, before: datetime) -> int:
    parts = query_rows(
        client,
        """SELECT partition, sum(rows) AS rows FROM system.parts
        WHERE database = currentDatabase() AND table = {table:String} AND active
        GROUP BY partition HAVING toUInt32OrZero(partition) < {month:UInt32}""",
        {"table": expiring.table, "month": before.year * 100 + before.month},
    )
    for part in parts:
        month = int(part["partition"])
        client.command(f"ALTER TABLE {expiring.table} DROP PARTITION {month}")
    return sum(int(part["rows"]) for part in parts)


def _delete_rows(
    client: Client, expiring: ExpiringTable, before: datetime, workspace: str | None
) -> int:
    # Times are compared as DateTime64: in whole seconds, rows of the last second would stay.
    old = f"{expiring.column} < {{before:DateTime64(9, 'UTC')}} AND {OF_WORKSPACE_OR_ALL}"
    parameters = {"before": to_engine_time(before), "workspace": workspace or ""}
    return delete_where(client, expiring.table, old, parameters)


def _count(client: Client, expiring: ExpiringTable, parameters: Mapping[str, Any]) -> int:
    sql = f"""SELECT count() AS rows FROM {expiring.table} FINAL
        WHERE workspace = {{workspace:String}}
        AND {expiring.column} < {{before:DateTime64(9, 'UTC')}}"""
    return int(query_rows(client, sql, parameters)[0]["rows"])
