"""Reads sessions: traces that share a session id."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from spanwise.model.agents import AgentIds
from spanwise.model.page import Listing, PageRequest
from spanwise.model.telemetry.filters import Order, SessionSort, TraceFilter, equal
from spanwise.model.telemetry.spans import Session, SessionWithTraces
from spanwise.model.times import TimeRange
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.conditions import Conditions
from spanwise.storage.telemetry.engine.query import Rows
from spanwise.storage.telemetry.filters.trace_filters import reads_spans, trace_conditions
from spanwise.storage.telemetry.lists.pages import SPARE_ROWS
from spanwise.storage.telemetry.rows.decoding import in_utc, or_none
from spanwise.storage.telemetry.traces.trace_queries import find_traces

# Per session; the trace list filtered by the session id returns the rest.
MAX_TRACES = 1000

# The latest sessions are sought among so many traces of each.
_TRACES_PER_SESSION = 100

_COLUMNS = """session_id, argMaxIf(user_id, start, user_id != '') AS user,
    arraySort(groupUniqArrayIf(agent_name, agent_name != '')) AS agent_names,
    min(start) AS first_at, max(start + toIntervalNanosecond(duration_ns)) AS last_at,
    count() AS trace_count, countIf(status = 'error') AS error_count,
    sum(input_tokens + output_tokens) AS total_tokens, sum(cost) AS total_cost,
    argMin(input_preview, (start, trace_id)) AS first_input,
    argMax(output_preview, (start, trace_id)) AS last_output"""


_END = "(toUnixTimestamp64Nano(start) + toInt64(duration_ns))"
# In whole seconds, exactly as in the index `ended_range`.
_ENDED = f"intDiv({_END}, 1000000000)"
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
    filters: TraceFilter,
    search: str | None,
    page: PageRequest,
    sort: SessionSort = SessionSort.TIME,
    order: Order = Order.DESC,
) -> Listing[Session]:
    """Return one page of sessions and the total."""
    where = _conditions(workspace, filters, search)
    ordering = f"{_SORTS[sort]} {order}, session_id {order}"
    is_latest = (sort, order, search) == (SessionSort.TIME, Order.DESC, None)
    is_latest = is_latest and not reads_spans(filters)
    latest = _ended_with_the_latest(where, filters.period, page) if is_latest else where
    counted, ids = await asyncio.gather(
        engine.fetch(
            f"SELECT uniqExact(session_id) AS total FROM traces FINAL WHERE {where.sql}",
            where.parameters,
            tag="count_sessions",
        ),
        _find_ids(engine, latest, page, ordering),
    )
    total = int(counted[0]["total"])
    if is_latest and len(ids) < min(page.limit, total - page.skip):
        ids = await _find_ids(engine, where, page, ordering)
    rows = await _read_sessions(engine, where, filters.period, ids, ordering)
    return Listing([_to_session(row) for row in rows], total)


def _conditions(workspace: str, filters: TraceFilter, search: str | None) -> Conditions:
    where = trace_conditions(workspace, filters)
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


def _ended_with_the_latest(where: Conditions, period: TimeRange, page: PageRequest) -> Conditions:
    """Return conditions for the traces that may decide on a page of the latest sessions.

    As many sessions as the page needs began after some time. So all of the page ended after it.
    """
    needed = page.skip + page.limit + SPARE_ROWS
    since = f"""(SELECT if(count() = {needed}, min(latest), 0) FROM (
        SELECT max(second) AS latest FROM (
            SELECT session_id, toUnixTimestamp(start) AS second FROM traces
            WHERE {where.sql} AND NOT is_deleted
            ORDER BY toStartOfHour(start) DESC, start DESC LIMIT {needed * _TRACES_PER_SESSION}
            SETTINGS max_block_size = 1024, max_threads = 1)
        GROUP BY session_id ORDER BY latest DESC LIMIT {needed}))"""
    hours = Conditions(where.workspace)
    hours.within("start", period)
    # The index of ends needs no current rows to find the hours in which these traces started.
    return where.narrowed(
        f"""{_ENDED} >= {since} AND toStartOfHour(start) IN (
            SELECT DISTINCT toStartOfHour(start) FROM traces
            WHERE {hours.sql} AND {_ENDED} >= {since})"""
    )


async def _find_ids(
    engine: Engine, where: Conditions, page: PageRequest, ordering: str
) -> list[str]:
    rows = await engine.fetch(
        f"""SELECT session_id FROM traces FINAL WHERE {where.sql}
        GROUP BY session_id
        ORDER BY {ordering} LIMIT {{limit:UInt32}} OFFSET {{skip:UInt32}}""",
        {**where.parameters, "limit": page.limit, "skip": page.skip},
        tag="find_session_ids",
    )
    return [row["session_id"] for row in rows]


async def _read_sessions(
    engine: Engine, where: Conditions, period: TimeRange, ids: Sequence[str], ordering: str
) -> Rows:
    """Aggregate sessions from all columns of their traces."""
    if not ids:
        return []
    of_ids = Conditions(where.workspace)
    of_ids.within("start", period)
    of_ids.add("session_id IN {ids:Array(String)}", ids=ids)
    return await engine.fetch(
        # PREWHERE on the start, which all versions of a row share, so that few other rows are read.
        f"""SELECT {_COLUMNS} FROM traces FINAL
        PREWHERE workspace = {{workspace:String}}
            AND start IN (SELECT start FROM traces WHERE {of_ids.sql})
        WHERE {where.sql} AND session_id IN {{ids:Array(String)}}
        GROUP BY session_id ORDER BY {ordering}""",
        {**where.parameters, **of_ids.parameters},
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
    filters = TraceFilter(conditions=equal(session_id=session_id))
    page = PageRequest(limit=MAX_TRACES)
    traces = await find_traces(
        engine, workspace, filters, page, agent_ids, order=Order.ASC, with_error_names=True
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
