"""Finds the rows of a trace by primary key: looks up the hours in which it has spans.

Tables are sorted by workspace, hour and trace id: without the hours a lookup would be a full scan.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from clickhouse_connect.driver.client import Client

from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.query import query_rows

# What a statement with the conditions below begins with: the first and last hour of a trace, as a
# constant. A deleted trace has no hours.
WITH_BOUNDS = """WITH (
    SELECT (min(first_hour),
        if(max(last_version) > max(deleted_version), max(last_hour), toDateTime(0, 'UTC')))
    FROM trace_bounds
    WHERE workspace = {workspace:String} AND trace_id = unhex({trace:String})) AS bounds"""
# Conditions on `spans` and `traces` for one trace, with `TraceLocation.parameters`.
SPANS_AT_LOCATION = """workspace = {workspace:String} AND trace_id = unhex({trace:String})
    AND hour BETWEEN bounds.1 AND bounds.2"""
# DateTime64, because for a bound in whole seconds the engine's index drops the last second
# (it reads `< 10:00:00` as `<= 09:59:59`).
TRACES_AT_LOCATION = """workspace = {workspace:String} AND trace_id = unhex({trace:String})
    AND start >= toDateTime64(bounds.1, 9, 'UTC')
    AND start < toDateTime64(bounds.2, 9, 'UTC') + INTERVAL 1 HOUR"""

# The start of a trace that lasts longer is searched in its first year only.
_MAX_START_HOURS = 366 * 24
# The hours of a trace are listed up to one week; longer traces are searched by range.
MAX_LISTED_HOURS = 7 * 24
_IS_LONG = f"dateDiff('hour', from_hour, to_hour) > {MAX_LISTED_HOURS}"


@dataclass(frozen=True)
class TraceLocation:
    """A trace, whose hours the engine looks up in the same statement."""

    workspace: str
    trace_id: str

    @property
    def parameters(self) -> dict[str, str]:
        """Return the bound parameters of the conditions above."""
        return {"workspace": self.workspace, "trace": self.trace_id}


async def find_location(engine: Engine, workspace: str, trace_id: str) -> TraceLocation | None:
    """Return the location of a trace, or None when the workspace has no span of it."""
    location = TraceLocation(workspace, trace_id)
    rows = await engine.fetch(
        """SELECT 1 FROM trace_bounds
        WHERE workspace = {workspace:String} AND trace_id = unhex({trace:String})
        HAVING max(last_version) > max(deleted_version)""",
        location.parameters,
        tag="find_location",
    )
    return location if rows else None


def trace_bounds_sql(traces: str) -> str:
    """SQL for the first and last hour of traces, given as SQL for their workspaces and ids."""
    return f"""
        SELECT workspace, trace_id, min(first_hour) AS from_hour, max(last_hour) AS to_hour
        FROM trace_bounds WHERE (workspace, trace_id) IN ({traces})
        GROUP BY workspace, trace_id"""


def hourly_keys_condition(bounds: str, hour: str, max_hours: int) -> str:
    """SQL condition on workspace, hour and trace id, with every hour between a trace's bounds.

    `bounds` selects from `trace_bounds_sql`; `hour` is the expression that the table is sorted by.
    """
    return f"""(workspace, {hour}, trace_id) IN (
        SELECT workspace, arrayJoin(arrayMap(n -> from_hour + 3600 * n,
            range(toUInt32(least(dateDiff('hour', from_hour, to_hour) + 1, {max_hours}))))) AS hour,
            trace_id
        FROM ({bounds}))"""


class LongTraces(NamedTuple):
    """The hours, in seconds since 1970, of traces that last too long to list each of their hours.

    Client clocks may be years off; the hours of a few thousand such traces would not fit in memory.
    """

    traces: int
    first_hour: int
    last_hour: int


def find_long_traces(client: Client, bounds: str, parameters: Mapping[str, Any]) -> LongTraces:
    """Find the long ones of traces, given as `trace_bounds_sql` selects them."""
    sql = f"""SELECT countIf({_IS_LONG}) AS traces,
            toUInt32(minIf(from_hour, {_IS_LONG})) AS first_hour,
            toUInt32(maxIf(to_hour, {_IS_LONG})) AS last_hour
        FROM ({bounds})"""
    (found,) = query_rows(client, sql, parameters)
    return LongTraces(**found)


def trace_rows_condition(bounds: str, long: LongTraces, hour: str = "hour") -> str:
    """SQL condition that finds all rows of traces by primary key.

    `bounds` selects the traces like `trace_bounds_sql`; `hour` is the expression for the hour that
    the table is sorted by. For long traces, all rows of their workspace in that hour range are
    read.
    """
    if not long.traces:
        return hourly_keys_condition(bounds, hour, MAX_LISTED_HOURS + 1)
    short = f"SELECT * FROM ({bounds}) WHERE NOT {_IS_LONG}"
    return f"""({hourly_keys_condition(short, hour, MAX_LISTED_HOURS + 1)}
        OR {hour} BETWEEN toDateTime({long.first_hour}, 'UTC')
            AND toDateTime({long.last_hour}, 'UTC')
        AND (workspace, trace_id) IN (
            SELECT workspace, trace_id FROM ({bounds}) WHERE {_IS_LONG}))"""


def trace_starts_condition(traces: str) -> str:
    """SQL condition that finds rows of `traces`, given as SQL for their workspaces and ids."""
    bounds = trace_bounds_sql(traces)
    return hourly_keys_condition(bounds, "toStartOfHour(start)", _MAX_START_HOURS)


def binary_trace_id(text: str) -> str:
    """SQL for a trace id as stored, from SQL for its 32 hexadecimal digits.

    The exact column type matters: `IN` compares other types as strings, which lose trailing zero
    bytes. An imported id may be too long; it is truncated, or the engine would reject the query.
    """
    return f"toFixedString(left(unhex({text}), 16), 16)"
