"""Agents: name and id lookup, registration of agents found in traces, and CRUD."""

import asyncio
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import groupby, islice
from typing import Any

import structlog

from spanwise.ingest.commit.pipeline import Pipeline
from spanwise.model.accounts import Principal
from spanwise.model.agents import MAX_AGENTS, Agent, AgentActivity, AgentStats
from spanwise.model.alerts import AlertSettings
from spanwise.model.api_model import new_id, utc_now
from spanwise.model.dashboards.queries import AnalyticsQuery
from spanwise.model.errors import Invalid, NotFound
from spanwise.model.events import SERVICE, EventType
from spanwise.model.freshness import Freshness
from spanwise.model.page import Listing, PageRequest
from spanwise.model.telemetry.filters import AnyFilter, FilterCondition, Operator
from spanwise.model.times import BoundedRange
from spanwise.model.workspaces import WorkspaceRole
from spanwise.services.audit import record_action
from spanwise.services.notifications.events import new_event, record_event, record_events
from spanwise.storage.catalog import Catalog, Transaction
from spanwise.storage.catalog import agents as stored
from spanwise.storage.catalog.events import has_event
from spanwise.storage.telemetry.analytics.run import run_query
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.rollup.rollup import Rollup

log = structlog.get_logger()

STATS_PERIOD = timedelta(hours=24)
_CACHE_SECONDS = 2.0
_MAX_CACHED_WORKSPACES = 1000
_ADD_SECONDS = 30
# A batch with more new names than this does not wait for their registration.
INLINE_AGENTS = 200
# Agents per transaction; limits how long other catalog writers wait.
_CHUNK = 200
_MAX_KNOWN = 200_000
_RETRY_SECONDS = 1.0
# How long new names in a workspace at its limit are ignored without a catalog lookup.
_FULL_SECONDS = 60.0

_Pair = tuple[str, str]


class AgentDirectory:
    """Caches agent ids per workspace, and registers the agents of stored traces."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._cached: dict[str, tuple[float, Mapping[str, str]]] = {}
        self._lock = threading.Lock()
        self._known: set[_Pair] = set()
        self._full_until: dict[str, float] = {}
        self._activities: dict[_Pair, AgentActivity] = {}
        self._pending: dict[_Pair, AgentActivity] = {}
        self._registering: asyncio.Task[None] | None = None

    async def ids_by_name(self, workspace_id: str) -> Mapping[str, str]:
        cached = self._cached.get(workspace_id)
        if cached is not None and cached[0] > time.monotonic():
            return cached[1]
        async with self._catalog.read() as tx:
            ids = await stored.find_agent_ids(tx, workspace_id)
        now = time.monotonic()
        if len(self._cached) >= _MAX_CACHED_WORKSPACES:
            self._cached = {key: entry for key, entry in self._cached.items() if entry[0] > now}
        self._cached[workspace_id] = (now + _CACHE_SECONDS, ids)
        return ids

    async def resolve_name(self, workspace_id: str, agent: str) -> str:
        """Return the agent name for an id or a name."""
        ids = await self.ids_by_name(workspace_id)
        return next((name for name, agent_id in ids.items() if agent_id == agent), agent)

    async def resolve_conditions(
        self, workspace_id: str, conditions: Sequence[FilterCondition]
    ) -> tuple[FilterCondition, ...]:
        """Replace agent ids in conditions with the agents' names."""
        if not any(condition.field == "agent" for condition in conditions):
            return tuple(conditions)
        names = {i: name for name, i in (await self.ids_by_name(workspace_id)).items()}

        def resolve(condition: FilterCondition) -> FilterCondition:
            if condition.field != "agent" or condition.op is Operator.EXISTS:
                return condition
            values = [names.get(str(value), value) for value in condition.values]
            is_list = isinstance(condition.value, list)
            return condition.model_copy(update={"value": values if is_list else values[0]})

        return tuple(map(resolve, conditions))

    async def resolve_filter(self, workspace_id: str, filters: AnyFilter) -> AnyFilter:
        """Replace agent ids in a filter with the agents' names."""
        conditions = await self.resolve_conditions(workspace_id, filters.conditions)
        return replace(filters, conditions=conditions)

    def register_seen(self, seen: Sequence[AgentActivity], loop: asyncio.AbstractEventLoop) -> None:
        """Register the agents of a stored batch; called from the apply thread.

        Blocks while a few unknown agents are added; many are added in the background. Activity of
        known agents is collected and flushed periodically.
        """
        unknown = []
        now = time.monotonic()
        with self._lock:
            for activity in seen:
                pair = activity.workspace_id, activity.name
                if pair in self._known:
                    self._activities[pair] = activity.merge(self._activities.get(pair))
                elif self._full_until.get(activity.workspace_id, 0.0) <= now:
                    unknown.append(activity)
            if len(unknown) > INLINE_AGENTS:
                _merge(self._pending, unknown)
        if len(unknown) > INLINE_AGENTS:
            loop.call_soon_threadsafe(self._start_registering)
        elif unknown:
            asyncio.run_coroutine_threadsafe(self._write(unknown), loop).result(_ADD_SECONDS)

    def has_pending(self) -> bool:
        """Return whether agents of finished batches are not registered yet."""
        return bool(self._pending)

    async def close(self) -> None:
        """Wait until pending agents are registered, up to a timeout."""
        if self._registering is not None:
            await asyncio.wait([self._registering], timeout=_ADD_SECONDS)
            self._registering.cancel()

    def _start_registering(self) -> None:
        if self._registering is None or self._registering.done():
            self._registering = asyncio.create_task(self._register_pending())

    async def _register_pending(self) -> None:
        """Register pending agents in chunks, pausing after each one for as long as it took."""
        while self._pending:
            started = time.monotonic()
            with self._lock:
                chunk = list(islice(self._pending.values(), _CHUNK))
            try:
                await self._write(chunk)
            except Exception:
                log.exception("agents_not_registered", pending=len(self._pending))
                await asyncio.sleep(_RETRY_SECONDS)
                continue
            with self._lock:
                for activity in chunk:
                    pair = activity.workspace_id, activity.name
                    if self._pending.get(pair) == activity:
                        del self._pending[pair]
            await asyncio.sleep(time.monotonic() - started)

    async def flush_activity(self) -> None:
        """Flush the collected activity of known agents; runs periodically."""
        with self._lock:
            collected, self._activities = list(self._activities.values()), {}
        try:
            while collected:
                await self._write(collected[:_CHUNK])
                del collected[:_CHUNK]
        finally:
            with self._lock:
                _merge(self._activities, collected)

    async def _write(self, activities: Sequence[AgentActivity]) -> None:
        """Update the activity of existing agents, and create the others."""
        async with self._catalog.write() as tx:
            unknown = await stored.update_seen_times(tx, activities)
            created, full = await stored.add_seen_agents(tx, unknown)
            for workspace_id, agents in groupby(created, key=lambda entry: entry[0]):
                events = [
                    new_event(
                        EventType.AGENT_CREATED, actor=SERVICE, subject=agent.id, name=agent.name
                    )
                    for _, agent in agents
                ]
                await record_events(tx, workspace_id, events)
            names_by_workspace = {
                workspace_id: await self._record_limit_reached(tx, workspace_id)
                for workspace_id in full
            }
        ignored = {(seen.workspace_id, seen.name) for seen in unknown if seen.workspace_id in full}
        with self._lock:
            if len(self._known) >= _MAX_KNOWN:
                self._known, self._full_until = set(), {}
            pairs = {(seen.workspace_id, seen.name) for seen in activities}
            self._known |= pairs - ignored
            for workspace_id, names in names_by_workspace.items():
                self._known |= {(workspace_id, name) for name in names}
                self._full_until[workspace_id] = time.monotonic() + _FULL_SECONDS
        for workspace_id, _ in created:
            self._cached.pop(workspace_id, None)

    async def _record_limit_reached(self, tx: Transaction, workspace_id: str) -> Iterable[str]:
        """Record once that a workspace is at its agent limit; return the names of its agents."""
        if not await has_event(tx, workspace_id, EventType.AGENTS_LIMIT_REACHED):
            await record_event(
                tx,
                workspace_id,
                EventType.AGENTS_LIMIT_REACHED,
                actor=SERVICE,
                subject=workspace_id,
                limit=MAX_AGENTS,
            )
        return await stored.find_agent_ids(tx, workspace_id)

    def invalidate(self, workspace_id: str) -> None:
        """Drop all cached data about a workspace's agents, after a change to them."""
        self._cached.pop(workspace_id, None)
        with self._lock:
            self._full_until.pop(workspace_id, None)
            self._known = {pair for pair in self._known if pair[0] != workspace_id}
            self._activities = {p: s for p, s in self._activities.items() if p[0] != workspace_id}


def _merge(activities: dict[_Pair, AgentActivity], more: Iterable[AgentActivity]) -> None:
    for activity in more:
        pair = activity.workspace_id, activity.name
        activities[pair] = activity.merge(activities.get(pair))


class Agents:
    def __init__(
        self,
        catalog: Catalog,
        engine: Engine,
        rollup: Rollup,
        pipeline: Pipeline,
        directory: AgentDirectory,
    ) -> None:
        self._catalog = catalog
        self._engine = engine
        self._rollup = rollup
        self._pipeline = pipeline
        self._directory = directory

    async def list(
        self, caller: Principal, search: str | None, page: PageRequest
    ) -> Listing[Agent]:
        await self._directory.flush_activity()
        async with self._catalog.read() as tx:
            listing = await stored.list_agents(tx, caller.workspace_id, search, page)
        return Listing(await self._complete(caller, listing.items), listing.total)

    async def get(self, caller: Principal, agent: str) -> Agent:
        await self._directory.flush_activity()
        async with self._catalog.read() as tx:
            record = await require_agent(tx, caller.workspace_id, agent)
        [complete] = await self._complete(caller, [record])
        return complete

    async def create(self, caller: Principal, fields: Mapping[str, Any]) -> Agent:
        now = utc_now()
        agent = Agent(
            id=new_id("agt"),
            **fields,
            alert_settings=AlertSettings(),
            created_at=now,
            updated_at=now,
            first_seen_at=None,
            last_seen_at=None,
        )
        async with self._catalog.write() as tx:
            if not await stored.can_add_agent(tx, caller.workspace_id):
                raise Invalid(f"a workspace has at most {MAX_AGENTS:,} agents; delete some first")
            if not await stored.add_agent(tx, caller.workspace_id, agent):
                raise _name_taken(agent.name)
            await record_event(
                tx,
                caller.workspace_id,
                EventType.AGENT_CREATED,
                actor=caller.caller_id,
                subject=agent.id,
                name=agent.name,
            )
        self._directory.invalidate(caller.workspace_id)
        return await self.get(caller, agent.id)

    async def change(self, caller: Principal, agent: str, changes: Mapping[str, Any]) -> Agent:
        """Change the given fields. Traces are matched to agents by name."""
        await self._wait_until_visible(caller)
        async with self._catalog.write() as tx:
            record = await require_agent(tx, caller.workspace_id, agent)
            if changes and not await stored.change_agent(
                tx, caller.workspace_id, record.id, dict(changes), utc_now()
            ):
                raise _name_taken(changes["name"])
        self._directory.invalidate(caller.workspace_id)
        return await self.get(caller, record.id)

    async def delete(self, caller: Principal, agent: str, address: str | None) -> str:
        """Delete an agent but not its telemetry. A later trace with its name creates it again."""
        await self._wait_until_visible(caller)
        async with self._catalog.write() as tx:
            record = await require_agent(tx, caller.workspace_id, agent)
            await stored.delete_agent(tx, caller.workspace_id, record.id)
            await record_event(
                tx,
                caller.workspace_id,
                EventType.AGENT_DELETED,
                actor=caller.caller_id,
                subject=record.id,
                name=record.name,
            )
            await record_action(tx, caller, "agent.deleted", record.id, address, name=record.name)
        self._directory.invalidate(caller.workspace_id)
        return record.id

    async def _wait_until_visible(self, caller: Principal) -> None:
        """Wait until the agents of all acknowledged traces exist."""
        await self._pipeline.wait_until_visible(Freshness(caller.workspace_id))
        await self._directory.flush_activity()

    async def _complete(self, caller: Principal, agents: Sequence[Agent]) -> Sequence[Agent]:
        """Add statistics and remove secrets of receivers."""
        may_change = caller.may_write(WorkspaceRole.EDITOR)
        names = [agent.name for agent in agents]
        stats = await self._read_stats(caller.workspace_id, names)
        return [
            agent.model_copy(
                update={
                    "alert_settings": agent.alert_settings.without_secrets(
                        shortens_webhooks=not may_change
                    ),
                    **({"stats24h": stats[agent.name]} if agent.name in stats else {}),
                }
            )
            for agent in agents
        ]

    async def _read_stats(self, workspace_id: str, names: Sequence[str]) -> dict[str, AgentStats]:
        """Return the statistics of the last 24 hours by agent name."""
        if not names:
            return {}
        now = utc_now()
        named = FilterCondition(field="agent", op=Operator.IN, value=list(names))
        result = await run_query(
            self._engine,
            self._rollup,
            workspace_id,
            AnalyticsQuery(
                measures=["count", "errorRate", "p95", "cost"], group_by=["agent"], limit=len(names)
            ),
            (named,),
            BoundedRange(now - STATS_PERIOD, now),
        )
        return {
            row["agent"]: AgentStats(
                traces=row["count"],
                error_rate=row["errorRate"],
                p95_latency=row["p95"],
                cost=row["cost"],
            )
            for row in result.rows
        }


async def require_agent(tx: Transaction, workspace_id: str, agent: str) -> Agent:
    record = await stored.find_agent(tx, workspace_id, agent)
    if record is None:
        raise NotFound("agent not found")
    return record


def _name_taken(name: str) -> Invalid:
    return Invalid.field("name", f"an agent named {name!r} already exists")
