"""Sessions (conversations): list and get."""

from spanwise.model.errors import NotFound
from spanwise.model.page import Listing, PageRequest
from spanwise.model.telemetry.filters import Order, SessionSort, TraceFilter
from spanwise.model.telemetry.spans import Session, SessionWithTraces
from spanwise.services.agents import AgentDirectory
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.traces import sessions as stored


class Sessions:
    def __init__(self, engine: Engine, agents: AgentDirectory) -> None:
        self._engine = engine
        self._agents = agents

    async def find(
        self,
        workspace: str,
        filters: TraceFilter,
        search: str | None,
        page: PageRequest,
        sort: SessionSort,
        order: Order,
    ) -> Listing[Session]:
        filters = await self._agents.resolve_filter(workspace, filters)
        return await stored.find_sessions(
            self._engine, workspace, filters, search, page, sort, order
        )

    async def get(self, workspace: str, session_id: str) -> SessionWithTraces:
        ids = await self._agents.ids_by_name(workspace)
        session = await stored.find_session(self._engine, workspace, session_id, ids)
        if session is None:
            raise NotFound("session not found")
        return session
