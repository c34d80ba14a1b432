"""Reads sessions: traces that share a session id."""

from collections.abc import Mapping
from typing import Any

from spanwise.model.page import Listing, PageRequest
from spanwise.model.telemetry.filters import Order, SessionFilter, TraceFilter
from spanwise.model.telemetry.spans import Session, SessionWithTraces
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.conditions import Conditions
from spanwise.storage.telemetry.spans.decoding import in_utc, or_none
from spanwise.storage.telemetry.traces.trace_queries import AgentIds, find_traces

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
    where = Conditions(workspace)
    where.within("start", wanted.period)
    where.equals("agent_name", wanted.agent_name)
    where.equals("user_id", wanted.user_id)
    where.equals("environment", wanted.environment)
    where.add("session_id != ''")
    counted = await engine.fetch(
        f"SELECT uniqExact(session_id) AS total FROM traces FINAL WHERE {where.sql}",
        where.parameters,
        tag="count_sessions",
    )
    total = int(counted[0]["total"])
    if total <= page.skip:
        return Listing([], total)
    # The inner query finds the page's sessions from narrow columns; the outer reads all columns.
    rows = await engine.fetch(
        f"""SELECT {_COLUMNS} FROM traces FINAL
        WHERE {where.sql} AND session_id IN (
            SELECT session_id FROM traces FINAL WHERE {where.sql} GROUP BY session_id
            ORDER BY max(start) DESC, session_id DESC
            LIMIT {{limit:UInt32}} OFFSET {{skip:UInt32}})
        GROUP BY session_id ORDER BY max(start) DESC, session_id DESC""",
        {**where.parameters, "limit": page.limit, "skip": page.skip},
        tag="find_sessions",
    )
    return Listing([_to_session(row) for row in rows], total)


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
