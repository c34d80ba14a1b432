"""Keeps the table of failures up to date: recomputes the traces written since the last run."""

import asyncio
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta

from clickhouse_connect.driver.client import Client

from spanwise.model.times import BoundedRange
from spanwise.storage.telemetry.engine.client_pool import BACKGROUND_SETTINGS, Engine
from spanwise.storage.telemetry.engine.conditions import to_engine_seconds
from spanwise.storage.telemetry.engine.query import query_rows
from spanwise.storage.telemetry.rollup.maintenance.idle import IdleCheck
from spanwise.storage.telemetry.rollup.maintenance.runs import (
    QUIET_SECONDS,
    batch_days,
    read_clock,
)
from spanwise.storage.telemetry.rollup.recent_changes import RecentChanges
from spanwise.storage.telemetry.rollup.watermarks import BEGINNING, to_engine_milliseconds
from spanwise.storage.telemetry.rows.decoding import in_utc
from spanwise.storage.telemetry.rows.error_names import error_name_or
from spanwise.storage.telemetry.rows.locations import (
    find_long_traces,
    trace_bounds_sql,
    trace_rows_condition,
)
from spanwise.storage.telemetry.rows.shown_spans import IS_SHOWN

MAX_MESSAGE_CHARACTERS = 300

_WRITTEN = """written_at > {since:DateTime64(3, 'UTC')}
    AND written_at <= {until:DateTime64(3, 'UTC')}"""
_CHANGED = f"""start >= {{first:DateTime64(9, 'UTC')}} AND start < {{end:DateTime64(9, 'UTC')}}
    AND {_WRITTEN}"""
_CHANGED_DAYS = f"""
SELECT toStartOfDay(start) AS day, count() AS traces FROM traces WHERE {_WRITTEN}
GROUP BY day ORDER BY day"""
_FAILED_TRACES = f"""
SELECT DISTINCT workspace, trace_id FROM traces
WHERE {_CHANGED} AND error_count > 0 AND NOT is_deleted"""

# What differs between two failures of the same kind: quoted values, ids and numbers.
_VARYING = "|".join(
    (
        r'"[^"]*"',
        r"`[^`]*`",
        r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b",
        r"\b0x[0-9a-fA-F]+\b",
        r"\b[0-9a-fA-F]{12,}\b",
        r"\b[A-Za-z]{2,8}[_-][0-9A-Za-z]{10,}\b",
        r"[0-9]+(?:[.,:][0-9]+)*",
    )
)
_MESSAGE = """replaceRegexpAll(
    substringUTF8(status_message, 1, {max_message:UInt32}), {varying:String}, '…')"""
# The name of the exception says more than its class.
_ERROR_TYPE = error_name_or("error_type != ''", "toString(error_type)", "'other'")
_OPERATION = "multiIf(tool_name != '', tool_name, model != '', model, name)"
_COLUMNS = """workspace, hour, trace_id, span_id, version, is_deleted, start, group_id, agent_name,
    operation, kind, error_type, message, user_id, environment"""
_ADD_DAYS = """
INSERT INTO failure_days (workspace, group_id, agent_name, day, first, last)
SELECT workspace, group_id, agent_name, toStartOfDay(start) AS day, min(start), max(start)
FROM failures WHERE version = {version:UInt64} AND NOT is_deleted
GROUP BY workspace, group_id, agent_name, day"""


class FailureUpdates:
    """`visible_until` and `changes` are those of `rollup.maintenance.runs.Maintenance`."""

    def __init__(
        self,
        engine: Engine,
        visible_until: Callable[[], datetime | None] = lambda: None,
        changes: RecentChanges | None = None,
    ) -> None:
        self._engine = engine
        self._visible_until = visible_until
        self._idle = IdleCheck(changes)
        self._running = threading.Lock()
        self._client: Client | None = None

    async def run(self) -> None:
        """Bring the table up to date, unless nothing was written."""
        if self._idle.has_work():
            await asyncio.to_thread(self._run)

    def _run(self) -> None:
        with self._running, self._idle.completing():
            if self._client is None:
                self._client = self._engine.new_client(BACKGROUND_SETTINGS)
            update_failures(self._client, self._visible_until())


def update_failures(client: Client, visible_until: datetime | None) -> None:
    """Recompute the failures of traces that were written since the last update."""
    (found,) = query_rows(client, "SELECT max(updated_until) AS mark FROM failure_updates", {})
    since = max(in_utc(found["mark"]), BEGINNING)
    now = read_clock(client)
    until = visible_until or now
    # Rows that are not visible yet are found by the next runs.
    mark = visible_until or now - timedelta(seconds=QUIET_SECONDS)
    written = {"since": to_engine_milliseconds(since), "until": to_engine_milliseconds(until)}
    rows = query_rows(client, _CHANGED_DAYS, written)
    for batch in batch_days({in_utc(row["day"]): int(row["traces"]) for row in rows}):
        _recompute(client, batch, written)
    if rows and mark > since:
        client.command(
            "INSERT INTO failure_updates SELECT {until:DateTime64(3, 'UTC')}",
            parameters={"until": to_engine_milliseconds(mark)},
        )


def _recompute(client: Client, batch: BoundedRange, written: dict[str, str]) -> None:
    """Recompute the failures of the changed traces of some days.

    The same statement deletes the rows that the traces had before, with a lower version.
    """
    version = time.time_ns()
    parameters = {
        **written,
        "first": to_engine_seconds(batch.start),
        "end": to_engine_seconds(batch.end),
        "version": version,
        "max_message": MAX_MESSAGE_CHARACTERS,
        "varying": _VARYING,
    }
    bounds = trace_bounds_sql(_FAILED_TRACES)
    long = find_long_traces(client, bounds, parameters)
    spans = f"""
    SELECT workspace, hour, trace_id, span_id, parent_span_id, start, name, kind, status,
        status_message, error_type, tool_name, model, attributes
    FROM spans WHERE {trace_rows_condition(bounds, long)}
    ORDER BY version DESC LIMIT 1 BY workspace, trace_id, span_id"""
    failed = f"""
    SELECT *, groupUniqArray(parent_span_id) OVER (PARTITION BY workspace, trace_id) AS parents
    FROM ({spans}) WHERE status = 'error' AND {IS_SHOWN}"""
    described = f"""
    SELECT workspace, hour, trace_id, span_id, start, kind, {_OPERATION} AS operation,
        {_ERROR_TYPE} AS error_type, {_MESSAGE} AS message
    FROM ({failed}) WHERE NOT has(parents, span_id)"""
    traces = f"""
    SELECT workspace, trace_id, argMax(agent_name, version) AS agent_name,
        argMax(user_id, version) AS user_id, argMax(environment, version) AS environment
    FROM traces WHERE {_CHANGED} AND error_count > 0 AND NOT is_deleted
    GROUP BY workspace, trace_id"""
    current = f"""
    SELECT workspace, hour, trace_id, span_id, {{version:UInt64}} AS version, 0 AS is_deleted,
        start, sipHash64(agent_name, operation, error_type, message) AS group_id, agent_name,
        operation, kind, error_type, message, user_id, environment
    FROM ({described}) AS s INNER JOIN ({traces}) AS t USING (workspace, trace_id)"""
    # A span may lie in another hour than the start of its trace.
    earlier = f"""
    SELECT workspace, hour, trace_id, span_id, {{version:UInt64}} - 1 AS version, 1 AS is_deleted,
        start, group_id, agent_name, operation, kind, error_type, message, user_id, environment
    FROM failures FINAL
    WHERE hour >= {{first:DateTime('UTC')}} - INTERVAL 1 DAY
    AND hour < {{end:DateTime('UTC')}} + INTERVAL 1 DAY
    AND (workspace, trace_id) IN (SELECT workspace, trace_id FROM traces WHERE {_CHANGED})"""
    sql = f"INSERT INTO failures ({_COLUMNS}) {current} UNION ALL {earlier}"
    client.command(sql, parameters=parameters)
    client.command(_ADD_DAYS, parameters={"version": version})
