"""Reads sessions: traces that share a session id."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from spanwise.model.page import Listing, PageRequest
from spanwise.model.telemetry.filters import Order, SessionSort, TraceFilter, equal
from spanwise.model.telemetry.spans import Session, SessionWithTraces
from spanwise.model.times import TimeRange
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.conditions import Conditions
from spanwise.storage.telemetry.engine.query import Rows
from spanwise.storage.telemetry.filters.trace_filters import trace_conditions
from spanwise.storage.telemetry.rows.decoding import in_utc, or_none
from spanwise.storage.telemetry.traces.trace_queries import (
    AgentIds,
    find_traces,
    recent_periods_first,
    to_start,
)

# Per session; the trace list filtered by the session id returns the rest.
MAX_TRACES = 1000

_COLUMNS = """session_id, argMaxIf(user_id, start, user_id != '') AS user,
    arraySort(groupUniqArrayIf(agent_name, agent_name != '')) AS agent_names,
    min(start) AS first_at, max(start + toIntervalNanosecond(duration_ns)) AS last_at,
    count() AS trace_count, countIf(status = 'error') AS error_count,
    sum(input_tokens + output_tokens) AS total_tokens, sum(cost) AS total_cost,
    argMin(input_preview, (start, trace_id)) AS first_input,
    argMax(output_preview, (start, trace_id)) AS last_output"""


_END = "(toUnixTimestamp64Nano(start) + toInt64(duration_ns))"
# Sort -> SQL for the traces of a session.
_SORTS = {
    SessionSort.TIME: f"max({_END})",
    SessionSort.COST: "sum(cost)",
    SessionSort.TRACES: "count()",
    SessionSort.DURATION: f"max({_END}) - min(toUnixTimestamp64Nano(start))",
    SessionSort.ERRORS: "countIf(status = 'error')",
}


async def find_sessions(
    engine: Engine,
    workspace: str,
    wanted: TraceFilter,
    search: str | None,
    page: PageRequest,
    sort: SessionSort = SessionSort.TIME,
    order: Order = Order.DESC,
) -> Listing[Session]:
    """Return one page of sessions and the total."""
    where = _conditions(workspace, wanted, search)
    counting = engine.fetch(
        f"SELECT uniqExact(session_id) AS total FROM traces FINAL WHERE {where.sql}",
        where.parameters,
        tag="count_sessions",
    )
    ordering = f"{_SORTS[sort]} {order}, session_id {order}"
    # The latest sessions are mostly those of the last days; a search looks at earlier ones too.
    is_latest = (sort, order, search) == (SessionSort.TIME, Order.DESC, None)
    finding = (
        _find_latest(engine, workspace, wanted, page, ordering)
        if is_latest
        else _find_page(engine, where, page, ordering)
    )
    counted, found = await asyncio.gather(counting, finding)
    ids = [row["session_id"] for row in found]
    rows = await _read_sessions(engine, where, ids, ordering)
    return Listing([_to_session(row) for row in rows], int(counted[0]["total"]))


def _conditions(workspace: str, wanted: TraceFilter, search: str | None) -> Conditions:
    where = trace_conditions(workspace, wanted)
    where.add("session_id != ''")
    if search is not None:
        text = where.bind(search.strip())
        # A user may be known in some traces of a session only.
        where.add(
            f"""(positionCaseInsensitiveUTF8(session_id, {text}) > 0 OR session_id IN (
            SELECT session_id FROM traces FINAL WHERE {where.sql}
            AND positionCaseInsensitiveUTF8(user_id, {text}) > 0))"""
        )
    return where


async def _find_page(engine: Engine, where: Conditions, page: PageRequest, ordering: str) -> Rows:
    """Return the ids of a page's sessions, and when their last traces ended."""
    return await engine.fetch(
        f"""SELECT session_id, max({_END}) AS ended FROM traces FINAL WHERE {where.sql}
        GROUP BY session_id
        ORDER BY {ordering} LIMIT {{limit:UInt32}} OFFSET {{skip:UInt32}}""",
        {**where.parameters, "limit": page.limit, "skip": page.skip},
        tag="find_session_ids",
    )


async def _find_latest(
    engine: Engine, workspace: str, wanted: TraceFilter, page: PageRequest, ordering: str
) -> Rows:
    """Find a page of the latest sessions in the last days, if these fill it."""
    rows: Rows = []
    for period in recent_periods_first(wanted.period):
        where = _conditions(workspace, replace(wanted, period=period), None)
        rows = await _find_page(engine, where, page, ordering)
        if len(rows) < page.limit:
            continue
        earlier = replace(wanted, period=TimeRange(wanted.period.start, period.start))
        before = _conditions(workspace, earlier, None)
        if period == wanted.period or not await _has_end_after(engine, before, rows[-1]["ended"]):
            break
    return rows


async def _has_end_after(engine: Engine, where: Conditions, nano: int) -> bool:
    """Return whether a trace may have ended after a time; the index skips most of them."""
    where.add(f"intDiv({_END}, 1000000000) >= {where.bind(nano // 10**9, 'Int64')}")
    sql = f"SELECT 1 FROM traces WHERE {where.sql} LIMIT 1"
    return bool(await engine.fetch(sql, where.parameters, tag="has_end_after"))


async def _read_sessions(
    engine: Engine, where: Conditions, ids: Sequence[str], ordering: str
) -> Rows:
    """Aggregate sessions: their keys from narrow columns, then all columns."""
    if not ids:
        return []
    where.add("session_id IN {ids:Array(String)}", ids=ids)
    keys = await engine.fetch(
        f"""SELECT DISTINCT toUnixTimestamp64Nano(start) AS nano FROM traces
        WHERE {where.sql}""",
        where.parameters,
        tag="find_session_keys",
    )
    return await engine.fetch(
        # PREWHERE on the start, which all versions of a row share, so that few other rows are read.
        f"""SELECT {_COLUMNS} FROM traces FINAL
        PREWHERE workspace = {{workspace:String}}
            AND start IN {{starts:Array(DateTime64(9, 'UTC'))}}
        WHERE {where.sql}
        GROUP BY session_id ORDER BY {ordering}""",
        {**where.parameters, "starts": [to_start(key) for key in keys]},
        tag="find_sessions",
    )


async def find_session(
    engine: Engine, workspace: str, session_id: str, agent_ids: AgentIds
) -> SessionWithTraces | None:
    """Return one session with its first traces in start order, or None."""
    where = Conditions(workspace)
    where.equals("session_id", session_id)
    rows = await engine.fetch(
        f"SELECT {_COLUMNS} FROM traces FINAL WHERE {where.sql} GROUP BY session_id",
        where.parameters,
        tag="find_session",
    )
    if not rows:
        return None
    wanted = TraceFilter(conditions=equal(session_id=session_id))
    page = PageRequest(limit=MAX_TRACES)
    traces = await find_traces(
        engine, workspace, wanted, page, agent_ids, order=Order.ASC, with_error_names=True
    )
    session = _to_session(rows[0])
    return SessionWithTraces(**session.model_dump(), traces=list(traces.items))


def _to_session(row: Mapping[str, Any]) -> Session:
    return Session(
        session_id=row["session_id"],
        user_id=or_none(row["user"]),
        agent_names=row["agent_names"],
        first_at=in_utc(row["first_at"]),
        last_at=in_utc(row["last_at"]),
        trace_count=row["trace_count"],
        error_count=row["error_count"],
        total_tokens=row["total_tokens"],
        cost=row["total_cost"],
        input_preview=row["first_input"],
        output_preview=row["last_output"],
    )
