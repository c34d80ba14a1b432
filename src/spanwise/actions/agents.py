"""Agents: which name is which id, the ones that traces bring with them, and what people change."""

import asyncio
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from spanwise.actions.events import record_event
from spanwise.ingest.pipeline import Pipeline
from spanwise.model.accounts import Principal
from spanwise.model.agents import Agent, Sighting
from spanwise.model.alerts import AlertSettings
from spanwise.model.errors import Invalid, NotFound
from spanwise.model.events import SERVICE, EventType
from spanwise.model.noun import new_id, utc_now
from spanwise.model.page import Listing, PageRequest
from spanwise.storage.catalog import Catalog, Transaction
from spanwise.storage.catalog import agents as stored
from spanwise.storage.telemetry.agents import read_agent_stats
from spanwise.storage.telemetry.engine import Engine

_CACHE_SECONDS = 2.0
_ADD_SECONDS = 30


class AgentDirectory:
    """Knows the agents of each workspace; what it has read is good for two seconds."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._cached: dict[str, tuple[float, Mapping[str, str]]] = {}
        self._lock = threading.Lock()
        self._known: set[tuple[str, str]] = set()
        self._sightings: dict[tuple[str, str], Sighting] = {}

    async def ids_by_name(self, workspace_id: str) -> Mapping[str, str]:
        cached = self._cached.get(workspace_id)
        if cached is not None and cached[0] > time.monotonic():
            return cached[1]
        async with self._catalog.read() as tx:
            ids = await stored.find_agent_ids(tx, workspace_id)
        self._cached[workspace_id] = (time.monotonic() + _CACHE_SECONDS, ids)
        return ids

    async def resolve_name(self, workspace_id: str, agent: str) -> str:
        """Return the name of the agent that is meant by an id or a name."""
        ids = await self.ids_by_name(workspace_id)
        return next((name for name, agent_id in ids.items() if agent_id == agent), agent)

    def notice(self, seen: Sequence[Sighting], loop: asyncio.AbstractEventLoop) -> None:
        """Take note of agents whose traces came in; waits, from a thread, for unknown ones.

        Of known agents only the times have changed, and these are written by the clock.
        """
        unknown = []
        with self._lock:
            for sighting in seen:
                pair = sighting.workspace_id, sighting.name
                if pair in self._known:
                    self._sightings[pair] = sighting.join(self._sightings.get(pair))
                else:
                    unknown.append(sighting)
        if unknown:
            asyncio.run_coroutine_threadsafe(self._write(unknown), loop).result(_ADD_SECONDS)

    async def write_sightings(self) -> None:
        """Write the times that have gathered; runs by the clock, not by request."""
        with self._lock:
            sightings, self._sightings = self._sightings, {}
        if not sightings:
            return
        try:
            await self._write(list(sightings.values()))
        except BaseException:
            with self._lock:
                for pair, sighting in sightings.items():
                    self._sightings[pair] = sighting.join(self._sightings.get(pair))
            raise

    async def _write(self, sightings: Sequence[Sighting]) -> None:
        """Note when agents were seen; one that is not there, or was deleted, comes (back)."""
        async with self._catalog.write() as tx:
            unknown = await stored.note_sightings(tx, sightings)
            made = await stored.add_seen_agents(tx, unknown)
            for workspace_id, agent in made:
                await record_event(
                    tx,
                    workspace_id,
                    EventType.AGENT_CREATED,
                    actor=SERVICE,
                    subject=agent.id,
                    name=agent.name,
                )
        with self._lock:
            self._known.update((seen.workspace_id, seen.name) for seen in sightings)
        for workspace_id, _ in made:
            self._cached.pop(workspace_id, None)

    def forget(self, workspace_id: str) -> None:
        """Let a change to a workspace's agents take effect at once."""
        self._cached.pop(workspace_id, None)
        with self._lock:
            self._known = {pair for pair in self._known if pair[0] != workspace_id}
            self._sightings = {p: s for p, s in self._sightings.items() if p[0] != workspace_id}


class Agents:
    def __init__(
        self, catalog: Catalog, engine: Engine, pipeline: Pipeline, directory: AgentDirectory
    ) -> None:
        self._catalog = catalog
        self._engine = engine
        self._pipeline = pipeline
        self._directory = directory

    async def list(
        self, caller: Principal, search: str | None, page: PageRequest
    ) -> Listing[Agent]:
        await self._settle()
        async with self._catalog.read() as tx:
            found = await stored.list_agents(tx, caller.workspace_id, search, page)
        return Listing(await self._complete(caller.workspace_id, found.items), found.total)

    async def get(self, caller: Principal, agent: str) -> Agent:
        await self._settle()
        async with self._catalog.read() as tx:
            found = await require_agent(tx, caller.workspace_id, agent)
        [complete] = await self._complete(caller.workspace_id, [found])
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
            if not await stored.add_agent(tx, caller.workspace_id, agent):
                raise _taken(agent.name)
            await record_event(
                tx,
                caller.workspace_id,
                EventType.AGENT_CREATED,
                actor=caller.caller_id,
                subject=agent.id,
                name=agent.name,
            )
        self._directory.forget(caller.workspace_id)
        return await self.get(caller, agent.id)

    async def change(self, caller: Principal, agent: str, changes: Mapping[str, Any]) -> Agent:
        """Change the fields that are given. The name is also what traces are matched by."""
        await self._settle()
        async with self._catalog.write() as tx:
            found = await require_agent(tx, caller.workspace_id, agent)
            if changes and not await stored.change_agent(
                tx, caller.workspace_id, found.id, dict(changes), utc_now()
            ):
                raise _taken(changes["name"])
        self._directory.forget(caller.workspace_id)
        return await self.get(caller, found.id)

    async def delete(self, caller: Principal, agent: str) -> str:
        """Remove an agent, not its telemetry. A later trace of its name brings it back."""
        await self._settle()
        async with self._catalog.write() as tx:
            found = await require_agent(tx, caller.workspace_id, agent)
            await stored.delete_agent(tx, caller.workspace_id, found.id)
            await record_event(
                tx,
                caller.workspace_id,
                EventType.AGENT_DELETED,
                actor=caller.caller_id,
                subject=found.id,
                name=found.name,
            )
        self._directory.forget(caller.workspace_id)
        return found.id

    async def _settle(self) -> None:
        # What was acknowledged before is to be seen: its agents, and when they were seen.
        await self._pipeline.settle()
        await self._directory.write_sightings()

    async def _complete(self, workspace_id: str, found: Sequence[Agent]) -> Sequence[Agent]:
        """Add the statistics, and leave the secrets out."""
        names = [agent.name for agent in found]
        stats = await read_agent_stats(self._engine, workspace_id, names, utc_now())
        return [
            agent.model_copy(
                update={
                    "alert_settings": agent.alert_settings.without_secrets(),
                    **({"stats24h": stats[agent.name]} if agent.name in stats else {}),
                }
            )
            for agent in found
        ]


async def require_agent(tx: Transaction, workspace_id: str, agent: str) -> Agent:
    found = await stored.find_agent(tx, workspace_id, agent)
    if found is None:
        raise NotFound("no such agent")
    return found


def _taken(name: str) -> Invalid:
    return Invalid.field("name", f"there is an agent named {name!r} already")
