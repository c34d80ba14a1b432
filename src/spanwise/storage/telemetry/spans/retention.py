"""Removes telemetry that is older than it is kept: whole months at once, the rest by rows.

A time-to-live with whole parts would keep up to a month too much, because merges join the parts of
a month; one that rewrites parts costs a rewrite of the month every day. A month that is past is
dropped as it is, in no time; of the month that the limit lies in, rows are masked once a day and
leave with the next merge. What follows from rows that are gone is recomputed from those that are
left: the rollup's month, and traces that have spans on both sides of the limit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from clickhouse_connect.driver.client import Client

from spanwise.model.times import Granularity, floor_time
from spanwise.storage.telemetry.engine.conditions import to_engine_time
from spanwise.storage.telemetry.engine.engine import query_rows
from spanwise.storage.telemetry.rollup.expiry import expire_rollup
from spanwise.storage.telemetry.traces.aggregates import summarize_traces


@dataclass(frozen=True)
class Aging:
    """A table whose rows grow old, by which column, and whether its partitions are months."""

    table: str
    column: str
    by_month: bool = True


# Spans before their bounds: as long as a span is there, its bounds lead to it. Traces and what they
# add up to one after another: lists and totals should differ for a moment only.
AGING = (
    Aging("spans", "hour"),
    Aging("traces", "start"),
    Aging("trace_rollup", "moment"),
    Aging("trace_slices", "moment", by_month=False),
    Aging("trace_bounds", "last_hour", by_month=False),
    Aging("logs", "time"),
    Aging("metrics", "time"),
    Aging("signals", "time", by_month=False),
    Aging("exposures", "first_at", by_month=False),
)


def remove_expired(
    client: Client, before: datetime, is_stopping: Callable[[], bool] = lambda: False
) -> dict[str, int]:
    """Remove what lies before a moment, by whole hours; returns how many rows of which tables."""
    before = floor_time(before, Granularity.HOURLY)
    removed: dict[str, int] = {}
    for aging in AGING:
        if is_stopping():
            break
        rows = _drop_months(client, aging, before) if aging.by_month else 0
        if aging.table == "trace_rollup":
            rows += expire_rollup(client, before)
        else:
            rows += _delete_rows(client, aging, before)
        if rows:
            removed[aging.table] = rows
    return removed


def summarize_cut_traces(client: Client, before: datetime) -> None:
    """Recompute the traces that have lost spans and have others left."""
    cut = """SELECT workspace, trace_id FROM trace_bounds GROUP BY workspace, trace_id
        HAVING min(first_hour) < {before:DateTime64(9, 'UTC')}
        AND max(last_hour) >= {before:DateTime64(9, 'UTC')}"""
    summarize_traces(client, cut, {"before": to_engine_time(before)})


def _drop_months(client: Client, aging: Aging, before: datetime) -> int:
    parts = query_rows(
        client,
        """SELECT partition, sum(rows) AS rows FROM system.parts
        WHERE database = currentDatabase() AND table = {table:String} AND active
        GROUP BY partition HAVING toUInt32OrZero(partition) < {month:UInt32}""",
        {"table": aging.table, "month": before.year * 100 + before.month},
    )
    for part in parts:
        month = int(part["partition"])
        client.command(f"ALTER TABLE {aging.table} DROP PARTITION {month}")
    return sum(int(part["rows"]) for part in parts)


def _delete_rows(client: Client, aging: Aging, before: datetime) -> int:
    # As fine as the finest column: compared with whole seconds, the last one of a day would stay.
    old = f"{aging.column} < {{before:DateTime64(9, 'UTC')}}"
    parameters = {"before": to_engine_time(before)}
    sql = f"SELECT count() AS rows FROM {aging.table} WHERE {old}"
    rows = int(query_rows(client, sql, parameters)[0]["rows"])
    # A deletion without rows would still make the engine go through every part.
    if rows:
        client.command(f"DELETE FROM {aging.table} WHERE {old}", parameters=parameters)
    return rows
