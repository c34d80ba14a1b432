"""Reads traces: pages by filter and sort order, and single traces by id."""

import asyncio
from collections.abc import Awaitable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from spanwise.model.api_model import utc_now
from spanwise.model.page import Listing, PageRequest
from spanwise.model.telemetry.filters import Order, TraceFilter, TraceSort
from spanwise.model.telemetry.spans import Trace
from spanwise.model.times import TimeRange
from spanwise.storage.telemetry.engine import ranking
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.conditions import Conditions
from spanwise.storage.telemetry.engine.query import Rows
from spanwise.storage.telemetry.engine.ranking import SPARE_ROWS, placed_rows
from spanwise.storage.telemetry.filters.trace_filters import search_sql, trace_conditions
from spanwise.storage.telemetry.rows.decoding import in_utc, or_none
from spanwise.storage.telemetry.rows.error_names import find_error_names
from spanwise.storage.telemetry.rows.locations import (
    TRACES_AT_LOCATION,
    TraceLocation,
    binary_trace_id,
    trace_starts_condition,
)

COLUMNS = """lower(hex(trace_id)) AS id, start, name, agent_name, status, error_type, duration_ns,
    span_count, error_count, models, tools, input_tokens, output_tokens, cost, session_id, user_id,
    environment, experiment_id, variant, input_preview, output_preview"""

# A trace that was recomputed, for example after repricing, keeps its version.
_NEWEST_FIRST = "version DESC, written_at DESC"

SORTS = {
    TraceSort.START_TIME: "start",
    TraceSort.DURATION: "duration_ns",
    TraceSort.COST: "cost",
    TraceSort.TOKENS: "input_tokens + output_tokens",
}

# On the key, which all versions of a row share, so that few other rows are read.
_AT_STARTS = """PREWHERE workspace = {workspace:String}
    AND start IN {starts:Array(DateTime64(9, 'UTC'))}"""

# Ranges tried first for the first page: each further month makes the query slower.
_FIRST_PAGE_DAYS = (1, 30)

# A search that matches at most this many traces reads them by key, instead of all others too.
MAX_FEW = 1000

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
    page_start: datetime | None = None,
    *,
    with_error_names: bool = False,
) -> Listing[Trace]:
    """Return one page of traces and the total.

    Reading the names of exceptions takes about as long as the page, so it is left to the caller.
    `counting` supplies the total when the caller already counts. `page_start` is a hint that many
    traces started after that time; the first page is then searched there first.
    """
    where = trace_conditions(workspace, wanted)
    by = f"{SORTS[sort]} {order}, start {order}"
    is_latest = sort is TraceSort.START_TIME and order is Order.DESC
    if wanted.search is not None:
        total, rows = await _search(engine, workspace, wanted, page, by, is_latest=is_latest)
    else:
        reading = (
            _read_latest(engine, workspace, wanted, page, page_start)
            if is_latest
            else _read_ranked(engine, where, page, SORTS[sort], order)
        )
        total, rows = await asyncio.gather(counting or _count_traces(engine, where), reading)
    names = await find_error_names(engine, workspace, rows) if with_error_names else {}
    return Listing([to_trace(row, agent_ids, names.get(row["id"])) for row in rows], total)


async def _search(
    engine: Engine,
    workspace: str,
    wanted: TraceFilter,
    page: PageRequest,
    by: str,
    *,
    is_latest: bool,
) -> tuple[int, Rows]:
    """Return the total and one page of the traces that match a text search."""
    few = await _find_few(engine, workspace, wanted)
    where = few or trace_conditions(workspace, wanted)
    if few is None and is_latest:
        total = await _count_traces(engine, where)
        return total, await _search_latest(engine, workspace, wanted, page, total)
    rows = await _read_page(engine, where, page, by)
    if page.skip == 0 and len(rows) < page.limit:
        return len(rows), rows
    return await _count_traces(engine, where), rows


async def _find_few(engine: Engine, workspace: str, wanted: TraceFilter) -> Conditions | None:
    """Return conditions that find the traces of a search by key; None if they are too many."""
    within = trace_conditions(workspace, TraceFilter(wanted.period))
    found = search_sql(within, wanted.period, wanted.search or "")
    rows = await engine.fetch(
        f"SELECT DISTINCT lower(hex(trace_id)) AS id FROM ({found}) LIMIT {MAX_FEW + 1}",
        within.parameters,
        tag="search",
    )
    if len(rows) > MAX_FEW:
        return None
    # Without the words: what remains is as fast as any list.
    where = trace_conditions(workspace, replace(wanted, search=None))
    ids = where.bind([row["id"] for row in rows], "Array(String)")
    traces = f"SELECT {{workspace:String}}, {binary_trace_id(f'arrayJoin({ids})')}"
    where.add(trace_starts_condition(traces) if rows else "0")
    return where


async def _count_traces(engine: Engine, where: Conditions) -> int:
    sql = f"SELECT count() AS total FROM traces FINAL WHERE {where.sql}"
    rows = await engine.fetch(sql, where.parameters, tag="count_traces")
    return int(rows[0]["total"])


async def _read_latest(
    engine: Engine,
    workspace: str,
    wanted: TraceFilter,
    page: PageRequest,
    page_start: datetime | None,
) -> Rows:
    """Read a page of the latest traces without deduplicating all others."""
    if page.skip == 0 and page_start is not None:
        recent = replace(wanted, period=TimeRange(page_start, wanted.period.end))
        rows = await _read_first_rows(engine, trace_conditions(workspace, recent), page.limit)
        if len(rows) == page.limit:
            return rows
    if page.skip == 0:
        enough = page.limit + SPARE_ROWS
        for part in _recent_ranges_first(wanted):
            keys = await _find_latest_keys(engine, trace_conditions(workspace, part), enough)
            if len(keys) < page.limit and part != wanted:
                continue
            rows = await _read_rows(engine, trace_conditions(workspace, part), keys)
            if len(rows) >= page.limit or (part == wanted and len(keys) < enough):
                return rows[: page.limit]
    where = trace_conditions(workspace, wanted)
    after = page.skip + page.limit + SPARE_ROWS
    keys = await _find_latest_keys(engine, where, 1, skip=after)
    if keys:
        bounded = trace_conditions(workspace, wanted)
        bounded.add("start >= {bound:DateTime64(9, 'UTC')}", bound=to_start(keys[0]))
        rows = await _read_page(engine, bounded, page, "start desc")
        if len(rows) == page.limit:
            return rows
    return await _read_page(engine, where, page, "start desc")


async def _search_latest(
    engine: Engine, workspace: str, wanted: TraceFilter, page: PageRequest, total: int
) -> Rows:
    """Read a page of the latest traces that match a text search.

    Not in table order: finding the words takes longer than sorting the matches.
    """
    rows: Rows = []
    if total <= page.skip:
        return rows
    for part in _recent_ranges_first(wanted):
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


def _recent_ranges_first(wanted: TraceFilter) -> Iterable[TraceFilter]:
    return [replace(wanted, period=period) for period in recent_periods_first(wanted.period)]


def recent_periods_first(period: TimeRange) -> Iterable[TimeRange]:
    """Return the last days of a period, more days of it, and all of it."""
    return dict.fromkeys((*(_last_days(period, days) for days in _FIRST_PAGE_DAYS), period))


def _last_days(period: TimeRange, days: int) -> TimeRange:
    before = (period.end or utc_now()) - timedelta(days=days)
    return TimeRange(max(period.start or before, before), period.end)


async def _find_latest_keys(engine: Engine, where: Conditions, limit: int, skip: int = 0) -> Rows:
    """Return the keys of the latest rows, including outdated ones.

    Reading in table order touches only as many rows as needed, rounded up to a block per part.
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


async def _read_ranked(
    engine: Engine, where: Conditions, page: PageRequest, rank: str, order: Order
) -> Rows:
    """Read a page in the order of an expression without deduplicating all traces."""
    wanted = page.skip + page.limit
    by = f"{rank} {order}, start {order}"
    if wanted > ranking.MAX_RANKED:
        return await _read_page(engine, where, page, by)
    # The first page has few other rows, so all columns are read at once.
    columns = "" if page.skip else COLUMNS
    found = await _find_ranked(engine, where, wanted, rank, order, columns)
    if found is None:
        return await _read_page(engine, where, page, by)
    found = found[page.skip : wanted]
    return await _read_rows(engine, Conditions(where.workspace), found) if page.skip else found


async def _find_ranked(
    engine: Engine, where: Conditions, wanted: int, rank: str, order: Order, columns: str
) -> Rows | None:
    """Return the first traces in the order of an expression; None if too many rows are outdated.

    Ids, the widest part of a key, are not ranked: all traces of a start time are read.
    """
    limit = wanted + SPARE_ROWS
    by = f"{rank} {order}, start {order}"
    key = f"toUnixTimestamp64Nano(start) AS nano, {rank} AS rank"
    ranked = await engine.fetch(
        f"""SELECT {key} FROM traces WHERE {where.sql} AND NOT is_deleted
        ORDER BY {by} LIMIT {{limit:UInt32}}""",
        {**where.parameters, "limit": limit},
        tag="find_ranked_keys",
    )
    current = await engine.fetch(
        f"""SELECT {", ".join(filter(None, (key, "trace_id", columns)))}
        FROM traces FINAL {_AT_STARTS} WHERE {where.sql}
        ORDER BY {by}, trace_id {order} SETTINGS max_threads = 1""",
        {**where.parameters, "starts": [to_start(row) for row in ranked]},
        tag="rank_current_traces",
    )
    return placed_rows(current, ranked, wanted, _position, order)


def _position(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return row["rank"], row["nano"]


async def _read_page(engine: Engine, where: Conditions, page: PageRequest, order: str) -> Rows:
    """Read a page in two steps: keys from narrow columns, then all columns of those rows."""
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
    """Read the full rows of traces that match the conditions, in the order of their keys."""
    if not keys:
        return []
    positions = {(key["nano"], key["trace_id"].hex()): n for n, key in enumerate(keys)}
    rows = await engine.fetch(
        f"""SELECT {COLUMNS}, toUnixTimestamp64Nano(start) AS nano FROM traces FINAL {_AT_STARTS}
        WHERE {where.sql} SETTINGS max_threads = 1""",
        {**where.parameters, "starts": [to_start(key) for key in keys]},
        tag="read_traces",
    )
    found = {positions.get((row["nano"], row["id"]), -1): row for row in rows}
    return [found[position] for position in sorted(found) if position >= 0]


def to_start(key: Mapping[str, Any]) -> str:
    return f"{key['nano'] // 10**9}.{key['nano'] % 10**9:09}"


async def find_trace(engine: Engine, location: TraceLocation, agent_ids: AgentIds) -> Trace | None:
    """Return one trace if it has a root, else None."""
    rows = await engine.fetch(
        f"""SELECT * FROM (
            SELECT {COLUMNS}, is_deleted FROM traces WHERE {TRACES_AT_LOCATION}
            ORDER BY {_NEWEST_FIRST} LIMIT 1 BY start)
        WHERE NOT is_deleted LIMIT 1""",
        location.parameters,
        tag="find_trace",
    )
    return to_trace(rows[0], agent_ids) if rows else None


async def is_known_trace(engine: Engine, workspace: str, trace_id: str) -> bool:
    """Return whether the workspace has a span, a signal or a log of the trace."""
    rows = await engine.fetch(
        """SELECT
            exists(SELECT 1 FROM trace_bounds WHERE workspace = {workspace:String}
                AND trace_id = unhex({trace:String})
                HAVING max(last_version) > max(deleted_version))
            OR exists(SELECT 1 FROM signals FINAL WHERE workspace = {workspace:String}
                AND trace_id = {trace:String})
            OR exists(SELECT 1 FROM logs WHERE workspace = {workspace:String}
                AND trace_id = {trace:String}) AS is_known""",
        {"workspace": workspace, "trace": trace_id},
        tag="is_known_trace",
    )
    return bool(rows[0]["is_known"])


def to_trace(row: Mapping[str, Any], agent_ids: AgentIds, error_name: str | None = None) -> Trace:
    start = in_utc(row["start"])
    return Trace(
        trace_id=row["id"],
        name=row["name"],
        agent_id=agent_ids.get(row["agent_name"]),
        agent_name=or_none(row["agent_name"]),
        status=row["status"],
        error_type=or_none(row["error_type"]),
        error_name=error_name,
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
