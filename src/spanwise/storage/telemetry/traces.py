"""Reads traces: lists by filters, one by its id, the values for filter menus, conversations."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from spanwise.model.filters import Order, TraceFilter, TraceSort
from spanwise.model.noun import utc_now
from spanwise.model.page import Listing, PageRequest
from spanwise.model.spans import Trace
from spanwise.model.times import TimeRange
from spanwise.storage.telemetry.analytics_source import Source
from spanwise.storage.telemetry.conditions import Conditions, to_engine_time, trace_conditions
from spanwise.storage.telemetry.engine import Engine
from spanwise.storage.telemetry.places import STARTS_IN_PLACE, Place
from spanwise.storage.telemetry.values import in_utc, or_none

COLUMNS = """lower(hex(trace_id)) AS id, start, name, agent_name, status, error_type, duration_ns,
    span_count, error_count, models, tools, input_tokens, output_tokens, cost, session_id, user_id,
    environment, experiment_id, variant, input_preview, output_preview"""

# A trace that was added up again, after re-pricing, may have the same version as before.
_LATEST = "version DESC, written_at DESC"

_SORTS = {
    TraceSort.START_TIME: "start",
    TraceSort.DURATION: "duration_ns",
    TraceSort.COST: "cost",
    TraceSort.TOKENS: "input_tokens + output_tokens",
}

# Agent name -> agent id, for the traces' `agentId`.
AgentIds = Mapping[str, str]


async def find_traces(
    engine: Engine,
    workspace: str,
    wanted: TraceFilter,
    page: PageRequest,
    agent_ids: AgentIds,
    sort: TraceSort = TraceSort.START_TIME,
    order: Order = Order.DESC,
    source: Source | None = None,
) -> Listing[Trace]:
    """Return one page of traces and how many there are in all, as the source counts them."""
    where = trace_conditions(workspace, wanted)
    as_of = utc_now()
    source = source or Source(where.sql, parameters=where.parameters)
    counting = _count_traces(engine, source, as_of)
    is_latest_first = sort is TraceSort.START_TIME and order is Order.DESC
    if not is_latest_first:
        counts = await counting
        rows = await _read_page(engine, where, page, f"{_SORTS[sort]} {order}, start {order}")
        return Listing([to_trace(row, agent_ids) for row in rows], int(counts["total"]))
    # Most pages are of the last day: beside counting, see whether this one is.
    last_day = trace_conditions(workspace, _narrowed(wanted, as_of, _WINDOW_DAYS[0]))
    counts, rows = await asyncio.gather(counting, _read_page(engine, last_day, page, "start desc"))
    total = int(counts["total"])
    if len(rows) < page.limit and len(rows) < total - page.skip:
        latest = _narrow_to_latest(wanted, as_of, counts, page.skip + page.limit)
        rows = await _read_page(engine, trace_conditions(workspace, latest), page, "start desc")
    return Listing([to_trace(row, agent_ids) for row in rows], total)


async def _read_page(
    engine: Engine, where: Conditions, page: PageRequest, order: str
) -> list[dict[str, Any]]:
    """Read a page: first its ids, from narrow columns; then all columns for those alone."""
    direction = order.rpartition(" ")[2]
    keys = await engine.fetch(
        f"""SELECT toUnixTimestamp64Nano(start) AS nano, trace_id FROM traces FINAL
        WHERE {where.sql} ORDER BY {order}, trace_id {direction}
        LIMIT {{limit:UInt32}} OFFSET {{skip:UInt32}}""",
        {**where.parameters, "limit": page.limit, "skip": page.skip},
        tag="find_traces",
        raw=True,
    )
    return await _read_rows(engine, where.workspace, keys)


# The years before need not be sorted for the latest traces.
_WINDOW_DAYS = (1, 7, 30)


async def _count_traces(engine: Engine, source: Source, as_of: datetime) -> dict[str, Any]:
    """Count the traces in all, and those that surely are of the latest days."""
    windows = ", ".join(
        f"sumIf(traces, moment >= {{as_of:DateTime64(9, 'UTC')}} - INTERVAL {days} DAY)"
        f" AS last_{days}"
        for days in _WINDOW_DAYS
    )
    rows = await engine.fetch(
        f"SELECT sum(traces) AS total, {windows} FROM ({source.select(('traces',))})"
        f" {source.settings}",
        {**source.parameters, "as_of": to_engine_time(as_of)},
        tag="count_traces",
    )
    return rows[0]


def _narrow_to_latest(
    wanted: TraceFilter, as_of: datetime, counts: Mapping[str, Any], needed: int
) -> TraceFilter:
    """Look only at the shortest of the windows that holds the whole page."""
    for days in _WINDOW_DAYS:
        if counts[f"last_{days}"] >= needed:
            return _narrowed(wanted, as_of, days)
    return wanted


def _narrowed(wanted: TraceFilter, as_of: datetime, days: int) -> TraceFilter:
    start, end = wanted.period.start, wanted.period.end
    window = as_of - timedelta(days=days)
    return replace(wanted, period=TimeRange(max(start or window, window), end))


async def _read_rows(
    engine: Engine, workspace: str, keys: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Read the whole rows of traces, in the order of their keys."""
    if not keys:
        return []
    ids = [key["trace_id"].hex() for key in keys]
    where = Conditions(workspace)
    # Each key's own place in the table, so that few other rows are read.
    where.add(
        """start IN {starts:Array(DateTime64(9, 'UTC'))}
        AND lower(hex(trace_id)) IN {ids:Array(String)}""",
        starts=[f"{key['nano'] // 10**9}.{key['nano'] % 10**9:09}" for key in keys],
        ids=ids,
    )
    rows = await engine.fetch(
        f"""SELECT {COLUMNS} FROM traces WHERE {where.sql} ORDER BY {_LATEST} LIMIT 1 BY trace_id
        SETTINGS max_threads = 1""",
        where.parameters,
        tag="read_traces",
    )
    place = {trace_id: position for position, trace_id in enumerate(ids)}
    return sorted(rows, key=lambda row: place[row["id"]])


async def find_trace(engine: Engine, place: Place, agent_ids: AgentIds) -> Trace | None:
    """Return one trace if it has a root, else None."""
    rows = await engine.fetch(
        f"""SELECT * FROM (
            SELECT {COLUMNS}, is_deleted FROM traces WHERE {STARTS_IN_PLACE}
            ORDER BY {_LATEST} LIMIT 1 BY start)
        WHERE NOT is_deleted LIMIT 1""",
        place.parameters,
        tag="find_trace",
    )
    return to_trace(rows[0], agent_ids) if rows else None


async def is_known_trace(engine: Engine, workspace: str, trace_id: str) -> bool:
    """Say whether the workspace has a span, a signal or a log of the trace."""
    rows = await engine.fetch(
        """SELECT
            exists(SELECT 1 FROM trace_bounds WHERE workspace = {workspace:String}
                AND trace_id = unhex({trace:String}))
            OR exists(SELECT 1 FROM signals FINAL WHERE workspace = {workspace:String}
                AND trace_id = {trace:String})
            OR exists(SELECT 1 FROM logs WHERE workspace = {workspace:String}
                AND trace_id = {trace:String}) AS is_known""",
        {"workspace": workspace, "trace": trace_id},
        tag="is_known_trace",
    )
    return bool(rows[0]["is_known"])


def to_trace(row: Mapping[str, Any], agent_ids: AgentIds) -> Trace:
    start = in_utc(row["start"])
    return Trace(
        trace_id=row["id"],
        name=row["name"],
        agent_id=agent_ids.get(row["agent_name"]),
        agent_name=or_none(row["agent_name"]),
        status=row["status"],
        error_type=or_none(row["error_type"]),
        start_time=start,
        end_time=start + timedelta(microseconds=row["duration_ns"] / 1000),
        duration_ms=row["duration_ns"] / 1e6,
        span_count=row["span_count"],
        error_count=row["error_count"],
        models=row["models"],
        tools=row["tools"],
        input_tokens=row["input_tokens"],
        output_tokens=row["output_tokens"],
        total_tokens=row["input_tokens"] + row["output_tokens"],
        cost=row["cost"],
        session_id=or_none(row["session_id"]),
        user_id=or_none(row["user_id"]),
        environment=or_none(row["environment"]),
        experiment_id=or_none(row["experiment_id"]),
        variant=or_none(row["variant"]),
        input_preview=row["input_preview"],
        output_preview=row["output_preview"],
    )
