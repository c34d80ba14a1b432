"""Routes for sessions: the traces that share a session id."""

from typing import Annotated

from fastapi import Depends, Path, Query

from spanwise.api.auth import Reader
from spanwise.api.freshness import Fresh
from spanwise.api.http.envelope import Success, SuccessPage, succeed, succeed_page
from spanwise.api.requests.parameters import AgentId, Filters, Paged, Period, Text
from spanwise.api.routing import PrefixRouter
from spanwise.api.services import UseTelemetry
from spanwise.model.telemetry.filters import (
    Order,
    SessionSort,
    TraceFilter,
    equal,
    parse_conditions,
)
from spanwise.model.telemetry.spans import Session, SessionWithTraces

router = PrefixRouter("spans", "/spans/sessions")


async def _session_filter(
    period: Period,
    agent_id: AgentId = None,
    user_id: Annotated[Text, Query(alias="userId")] = None,
    environment: Text = None,
    filters: Filters = None,
) -> TraceFilter:
    conditions = equal(agent=agent_id, user_id=user_id, environment=environment)
    return TraceFilter(period, conditions + parse_conditions(filters))


@router.get("")
async def list_sessions(
    caller: Reader,
    telemetry: UseTelemetry,
    page: Paged,
    _fresh: Fresh,
    filters: Annotated[TraceFilter, Depends(_session_filter)],
    search: Annotated[Text, Query(description="Part of a session id or a user id.")] = None,
    sort: SessionSort = SessionSort.TIME,
    order: Order = Order.DESC,
) -> SuccessPage[Session]:
    """List sessions, by default those whose last trace ended last; only matching traces count."""
    listing = await telemetry.sessions.find(caller.workspace_id, filters, search, page, sort, order)
    return succeed_page(page, listing)


# Applications choose session ids, which may contain slashes.
@router.get("/{sessionId:path}")
async def get_session(
    session_id: Annotated[str, Path(alias="sessionId", min_length=1, max_length=512)],
    caller: Reader,
    telemetry: UseTelemetry,
    _fresh: Fresh,
) -> Success[SessionWithTraces]:
    """Get one session with up to 1000 traces, oldest first."""
    return succeed(await telemetry.sessions.get(caller.workspace_id, session_id))
