"""Reads traces: lists by filters, one by its id, the values for filter menus, conversations."""

import asyncio
from collections.abc import Awaitable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from spanwise.model.page import Listing, PageRequest
from spanwise.model.record import utc_now
from spanwise.model.telemetry.filters import Order, TraceFilter, TraceSort
from spanwise.model.telemetry.spans import Trace
from spanwise.model.times import TimeRange
from spanwise.storage.telemetry.engine.conditions import Conditions, trace_conditions
from spanwise.storage.telemetry.engine.engine import Engine, Rows
from spanwise.storage.telemetry.spans.decoding import in_utc, or_none
from spanwise.storage.telemetry.spans.locations import STARTS_IN_PLACE, Place

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

# Where a first page is looked for first: each further month takes the engine longer.
_FIRST_PAGE_DAYS = (1, 30)

# Keys beyond those of a page: some may be of traces that are deleted, or have changed since.
_SPARE_KEYS = 10

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
    counting: Awaitable[int] | None = None,
    busy_since: datetime | None = None,
) -> Listing[Trace]:
    """Return one page of traces and how many there are in all, as they are being counted.

    Many of them have started since `busy_since`, if it is given: the latest are looked for there.
    """
    where = trace_conditions(workspace, wanted)
    if counting is None:
        counting = _count_traces(engine, where)
    if sort is not TraceSort.START_TIME or order is not Order.DESC:
        reading = _read_page(engine, where, page, f"{_SORTS[sort]} {order}, start {order}")
    elif wanted.search is not None:
        reading = _search_latest(engine, workspace, wanted, page)
    else:
        reading = _read_latest(engine, workspace, wanted, page, busy_since)
    total, rows = await asyncio.gather(counting, reading)
    return Listing([to_trace(row, agent_ids) for row in rows], total)


async def _count_traces(engine: Engine, where: Conditions) -> int:
    sql = f"SELECT count() AS total FROM traces FINAL WHERE {where.sql}"
    rows = await engine.fetch(sql, where.parameters, tag="count_traces")
    return int(rows[0]["total"])


async def _read_latest(
    engine: Engine,
    workspace: str,
    wanted: TraceFilter,
    page: PageRequest,
    busy_since: datetime | None,
) -> Rows:
    """Read a page of the latest traces without comparing the versions of all the others."""
    if page.skip == 0 and busy_since is not None:
        near = replace(wanted, period=TimeRange(busy_since, wanted.period.end))
        rows = await _read_first_rows(engine, trace_conditions(workspace, near), page.limit)
        if len(rows) == page.limit:
            return rows
    if page.skip == 0:
        enough = page.limit + _SPARE_KEYS
        for part in _nearest_first(wanted):
            keys = await _find_latest_keys(engine, trace_conditions(workspace, part), enough)
            if len(keys) < page.limit and part != wanted:
                continue
            # A key has its time: no need to ask for it again.
            again = trace_conditions(workspace, replace(part, period=TimeRange()))
            rows = await _read_rows(engine, again, keys)
            if len(rows) >= page.limit or (part == wanted and len(keys) < enough):
                return rows[: page.limit]
    where = trace_conditions(workspace, wanted)
    after = page.skip + page.limit + _SPARE_KEYS
    keys = await _find_latest_keys(engine, where, 1, skip=after)
    if keys:
        nearer = trace_conditions(workspace, wanted)
        nearer.add("start >= {bound:DateTime64(9, 'UTC')}", bound=_to_start(keys[0]))
        rows = await _read_page(engine, nearer, page, "start desc")
        if len(rows) == page.limit:
            return rows
    return await _read_page(engine, where, page, "start desc")


async def _search_latest(
    engine: Engine, workspace: str, wanted: TraceFilter, page: PageRequest
) -> Rows:
    """Read a page of the latest traces with the words that are searched for.

    Not in the order of the table: to find the words takes the engine longer than to sort what has
    them.
    """
    rows: Rows = []
    for part in _nearest_first(wanted):
        rows = await _read_page(engine, trace_conditions(workspace, part), page, "start desc")
        if len(rows) == page.limit:
            break
    return rows


async def _read_first_rows(engine: Engine, where: Conditions, limit: int) -> Rows:
    return await engine.fetch(
        f"""SELECT {COLUMNS} FROM traces FINAL WHERE {where.sql}
        ORDER BY start DESC, trace_id DESC LIMIT {{limit:UInt32}} SETTINGS max_threads = 1""",
        {**where.parameters, "limit": limit},
        tag="read_first_traces",
    )


def _nearest_first(wanted: TraceFilter) -> Iterable[TraceFilter]:
    """Return what is wanted of the last days alone, of more days, and all of it."""
    return dict.fromkeys((*(_last_days_of(wanted, days) for days in _FIRST_PAGE_DAYS), wanted))


def _last_days_of(wanted: TraceFilter, days: int) -> TraceFilter:
    start, end = wanted.period.start, wanted.period.end
    before = (end or utc_now()) - timedelta(days=days)
    return replace(wanted, period=TimeRange(max(start or before, before), end))


async def _find_latest_keys(engine: Engine, where: Conditions, limit: int, skip: int = 0) -> Rows:
    """Return the keys of the latest rows, also of rows that no longer count.

    They are read in the order of the table, so only as many as it takes, rounded up to a block of
    each part.
    """
    return await engine.fetch(
        f"""SELECT DISTINCT toStartOfHour(start) AS hour, start, trace_id,
            toUnixTimestamp64Nano(start) AS nano
        FROM traces WHERE {where.sql} ORDER BY hour DESC, start DESC, trace_id DESC
        LIMIT {{limit:UInt32}} OFFSET {{skip:UInt32}}
        SETTINGS max_block_size = 1024, max_threads = 1""",
        {**where.parameters, "limit": limit, "skip": skip},
        tag="find_latest_keys",
        raw=True,
    )


async def _read_page(engine: Engine, where: Conditions, page: PageRequest, order: str) -> Rows:
    """Read a page: first its keys, from narrow columns; then all columns for those alone."""
    direction = order.rpartition(" ")[2]
    keys = await engine.fetch(
        f"""SELECT toUnixTimestamp64Nano(start) AS nano, trace_id FROM traces FINAL
        WHERE {where.sql} ORDER BY {order}, trace_id {direction}
        LIMIT {{limit:UInt32}} OFFSET {{skip:UInt32}}""",
        {**where.parameters, "limit": page.limit, "skip": page.skip},
        tag="find_keys",
        raw=True,
    )
    return await _read_rows(engine, Conditions(where.workspace), keys)


async def _read_rows(engine: Engine, where: Conditions, keys: Rows) -> Rows:
    """Read the whole rows of those traces that meet the conditions, in the order of their keys."""
    if not keys:
        return []
    places = {(key["nano"], key["trace_id"].hex()): place for place, key in enumerate(keys)}
    rows = await engine.fetch(
        # By the key first, which is the same in all versions of a row: few others are read.
        f"""SELECT {COLUMNS}, toUnixTimestamp64Nano(start) AS nano FROM traces FINAL
        PREWHERE workspace = {{workspace:String}}
            AND start IN {{starts:Array(DateTime64(9, 'UTC'))}}
        WHERE {where.sql} SETTINGS max_threads = 1""",
        {**where.parameters, "starts": [_to_start(key) for key in keys]},
        tag="read_traces",
    )
    found = {places.get((row["nano"], row["id"]), -1): row for row in rows}
    return [found[place] for place in sorted(found) if place >= 0]


def _to_start(key: Mapping[str, Any]) -> str:
    return f"{key['nano'] // 10**9}.{key['nano'] % 10**9:09}"


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
