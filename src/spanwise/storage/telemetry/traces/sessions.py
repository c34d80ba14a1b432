"""Reads sessions: traces that share a session id."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from spanwise.model.page import Listing, PageRequest
from spanwise.model.telemetry.filters import Order, SessionFilter, TraceFilter
from spanwise.model.telemetry.spans import Session, SessionWithTraces
from spanwise.model.times import TimeRange
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.conditions import Conditions
from spanwise.storage.telemetry.engine.query import Rows
from spanwise.storage.telemetry.spans.decoding import in_utc, or_none
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


async def find_sessions(
    engine: Engine, workspace: str, wanted: SessionFilter, page: PageRequest
) -> Listing[Session]:
    """Return one page of sessions, latest first, and the total."""
    where = _conditions(workspace, wanted, wanted.period)
    counting = engine.fetch(
        f"SELECT uniqExact(session_id) AS total FROM traces FINAL WHERE {where.sql}",
        where.parameters,
        tag="count_sessions",
    )
    counted, ids = await asyncio.gather(counting, _find_latest_ids(engine, workspace, wanted, page))
    rows = await _read_sessions(engine, where, ids)
    return Listing([_to_session(row) for row in rows], int(counted[0]["total"]))


def _conditions(workspace: str, wanted: SessionFilter, period: TimeRange) -> Conditions:
    where = Conditions(workspace)
    where.within("start", period)
    where.equals("agent_name", wanted.agent_name)
    where.equals("user_id", wanted.user_id)
    where.equals("environment", wanted.environment)
    where.add("session_id != ''")
    return where


async def _find_latest_ids(
    engine: Engine, workspace: str, wanted: SessionFilter, page: PageRequest
) -> list[str]:
    """Return the ids of a page's sessions; a session of the last days is among the latest ones."""
    ids: list[str] = []
    for period in recent_periods_first(wanted.period):
        where = _conditions(workspace, wanted, period)
        rows = await engine.fetch(
            f"""SELECT session_id FROM traces FINAL WHERE {where.sql} GROUP BY session_id
            ORDER BY max(start) DESC, session_id DESC
            LIMIT {{limit:UInt32}} OFFSET {{skip:UInt32}}""",
            {**where.parameters, "limit": page.limit, "skip": page.skip},
            tag="find_session_ids",
        )
        ids = [row["session_id"] for row in rows]
        if len(ids) == page.limit:
            break
    return ids


async def _read_sessions(engine: Engine, where: Conditions, ids: Sequence[str]) -> Rows:
    """Aggregate sessions, latest first: their keys from narrow columns, then all columns."""
    if not ids:
        return []
    where.add("session_id IN {session_ids:Array(String)}", session_ids=ids)
    # Rows of any version: the session of a trace may have changed.
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
        GROUP BY session_id ORDER BY max(start) DESC, session_id DESC""",
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
    wanted = TraceFilter(session_id=session_id)
    page = PageRequest(limit=MAX_TRACES)
    traces = await find_traces(engine, workspace, wanted, page, agent_ids, order=Order.ASC)
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
