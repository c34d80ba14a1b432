"""Failures: groups of failed spans, and their triage status."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from spanwise.model.accounts import Principal
from spanwise.model.api_model import utc_now
from spanwise.model.errors import Invalid, NotFound
from spanwise.model.page import Listing
from spanwise.model.telemetry.failures import (
    FailureGroup,
    FailureMark,
    FailureQuery,
    FailureStatus,
    parse_failure_id,
)
from spanwise.services.agents import AgentDirectory
from spanwise.services.audit import record_action
from spanwise.storage.catalog import Catalog
from spanwise.storage.catalog import failures as stored
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.failures.groups import has_failure, list_failures
from spanwise.storage.telemetry.failures.updates import FailureUpdates

MAX_MARKS = 5000


class Failures:
    def __init__(
        self,
        engine: Engine,
        catalog: Catalog,
        agents: AgentDirectory,
        updates: FailureUpdates,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._engine = engine
        self._catalog = catalog
        self._agents = agents
        self._updates = updates
        self._clock = clock

    async def find(self, workspace: str, query: FailureQuery) -> Listing[FailureGroup]:
        if query.agent_name is not None:
            name = await self._agents.resolve_name(workspace, query.agent_name)
            query = replace(query, agent_name=name)
        conditions = await self._agents.resolve_conditions(workspace, query.conditions)
        await self._updates.run()
        async with self._catalog.read() as tx:
            marks = await stored.list_marks(tx, workspace)
        query = replace(query, conditions=conditions, now=self._clock())
        return await list_failures(self._engine, workspace, query, marks)

    async def get(self, workspace: str, failure_id: str, query: FailureQuery) -> FailureGroup:
        """Return one failure; raises NotFound when it did not happen in the period."""
        group = parse_failure_id(failure_id)
        if group is not None:
            listing = await self.find(workspace, replace(query, group=group))
            if listing.items:
                return listing.items[0]
        raise NotFound("failure not found in this period")

    async def mark(
        self, caller: Principal, failure_id: str, status: FailureStatus, address: str | None
    ) -> FailureMark:
        """Set the status of a failure; `new` takes an earlier mark back."""
        workspace = caller.workspace_id
        group = parse_failure_id(failure_id)
        if group is None or not await has_failure(self._engine, workspace, group):
            raise NotFound("failure not found")
        mark = FailureMark(id=failure_id, status=status, marked_at=self._clock())
        async with self._catalog.write() as tx:
            if status is FailureStatus.NEW:
                await stored.delete_mark(tx, workspace, failure_id)
            elif await stored.count_marks(tx, workspace) >= MAX_MARKS:
                raise Invalid(f"a workspace has at most {MAX_MARKS:,} marked failures")
            else:
                await stored.put_mark(tx, workspace, mark)
            await record_action(tx, caller, "failure.marked", failure_id, address, status=status)
        return mark
