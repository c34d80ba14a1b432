"""Agents: which name is which id, and the ones that traces bring with them."""

import asyncio
import time
from collections.abc import Mapping, Sequence

from spanwise.storage.catalog import Catalog
from spanwise.storage.catalog import agents as stored

_CACHE_SECONDS = 2.0
_ADD_SECONDS = 30


class AgentDirectory:
    """Knows the agents of each workspace; what it has read is good for two seconds."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._cached: dict[str, tuple[float, Mapping[str, str]]] = {}
        self._known: set[tuple[str, str]] = set()

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

    def notice(self, seen: Sequence[tuple[str, str]], loop: asyncio.AbstractEventLoop) -> None:
        """Make agents of the (workspace, name) pairs that have none; waits, from a thread."""
        unknown = [pair for pair in seen if pair not in self._known]
        if unknown:
            asyncio.run_coroutine_threadsafe(self._add(unknown), loop).result(_ADD_SECONDS)

    async def _add(self, unknown: Sequence[tuple[str, str]]) -> None:
        async with self._catalog.write() as tx:
            await stored.add_seen_agents(tx, unknown)
        self._known.update(unknown)
        for workspace_id, _ in unknown:
            self._cached.pop(workspace_id, None)

    def forget(self, workspace_id: str) -> None:
        """Let a change to a workspace's agents take effect at once."""
        self._cached.pop(workspace_id, None)
        self._known = {pair for pair in self._known if pair[0] != workspace_id}
