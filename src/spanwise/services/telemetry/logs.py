"""Logs: record and list."""

from spanwise.ingest.receiver import Receiver
from spanwise.ingest.rest_bodies import NewLog, Parsed
from spanwise.model.accounts import Sender
from spanwise.model.errors import NotFound
from spanwise.model.page import Listing, PageRequest
from spanwise.model.telemetry.filters import Order, RowFilter, equal
from spanwise.model.telemetry.logs import Log
from spanwise.services.agents import AgentDirectory
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.spans import logs as stored
from spanwise.storage.telemetry.traces.trace_queries import is_known_trace


class Logs:
    def __init__(self, engine: Engine, receiver: Receiver, agents: AgentDirectory) -> None:
        self._engine = engine
        self._receiver = receiver
        self._agents = agents

    async def record(self, sender: Sender, body: bytes) -> Parsed[NewLog]:
        """Store the valid logs of a body; the result lists the rejected ones too."""
        parsed = await self._receiver.read_logs(sender, body)
        ids = await self._agents.ids_by_name(sender.workspace)
        names = {agent_id: name for name, agent_id in ids.items()}
        named = [
            log.model_copy(update={"agent_name": names.get(log.agent_id, log.agent_id)})
            if log.agent_id and not log.agent_name
            else log
            for log in parsed.items
        ]
        await self._receiver.receive_logs(
            sender, named, size=len(body), rejected=len(parsed.rejections)
        )
        return parsed

    async def find(
        self, workspace: str, filters: RowFilter, page: PageRequest, order: Order
    ) -> Listing[Log]:
        filters = await self._agents.resolve_filter(workspace, filters)
        ids = await self._agents.ids_by_name(workspace)
        return await stored.find_logs(self._engine, workspace, filters, page, ids, order)

    async def find_of_trace(
        self, workspace: str, trace_id: str, page: PageRequest, order: Order
    ) -> Listing[Log]:
        """List a trace's logs; raises NotFound if nothing is stored for the trace."""
        filters = RowFilter(conditions=equal(trace_id=trace_id))
        listing = await self.find(workspace, filters, page, order)
        if not listing.total and not await is_known_trace(self._engine, workspace, trace_id):
            raise NotFound("trace not found")
        return listing
