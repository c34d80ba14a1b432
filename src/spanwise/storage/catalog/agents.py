"""Agents, created through the API or when the first trace names them."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Row, bindparam, case, delete, func, insert, or_, select, tuple_, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError

from spanwise.model.agents import MAX_AGENTS, Agent, AgentActivity
from spanwise.model.alerts import AlertSettings, settings_from
from spanwise.model.api_model import new_id, utc_now
from spanwise.model.page import Listing, PageRequest
from spanwise.storage.catalog.database import Transaction, serialize_writers
from spanwise.storage.catalog.tables import UtcDateTime, agents

# Advisory lock, so that two replicas cannot exceed a workspace's limit by adding at once.
_NEW_AGENTS_LOCK = 7_205_761


async def find_agent_ids(tx: Transaction, workspace_id: str) -> dict[str, str]:
    """Return the ids of the workspace's agents by name."""
    rows = await tx.execute(
        select(agents.c.name, agents.c.id).where(agents.c.workspace_id == workspace_id)
    )
    return {row.name: row.id for row in rows}


async def list_agents(
    tx: Transaction, workspace_id: str, search: str | None, page: PageRequest
) -> Listing[Agent]:
    condition = agents.c.workspace_id == workspace_id
    if search:
        condition &= func.lower(agents.c.name).contains(search.lower(), autoescape=True)
    total = await tx.execute(select(func.count()).select_from(agents).where(condition))
    rows = await tx.execute(
        select(agents)
        .where(condition)
        .order_by(agents.c.created_at.desc(), agents.c.id.desc())
        .limit(page.limit)
        .offset(page.skip)
    )
    return Listing([to_agent(row) for row in rows], total.scalar_one())


async def find_agent(tx: Transaction, workspace_id: str, agent: str) -> Agent | None:
    """Return the agent with this id, else with exactly this name."""
    rows = await tx.execute(
        select(agents)
        .where(
            agents.c.workspace_id == workspace_id, or_(agents.c.id == agent, agents.c.name == agent)
        )
        .order_by(case((agents.c.id == agent, 0), else_=1))
        .limit(1)
    )
    row = rows.one_or_none()
    return None if row is None else to_agent(row)


async def add_agent(tx: Transaction, workspace_id: str, agent: Agent) -> bool:
    """Add an agent; False when the name is taken."""
    try:
        async with tx.begin_nested():
            await tx.execute(insert(agents).values(_to_row(workspace_id, agent)))
    except IntegrityError:
        return False
    return True


async def change_agent(
    tx: Transaction, workspace_id: str, agent_id: str, changes: dict[str, Any], now: datetime
) -> bool:
    """Change some columns; False when another agent has the new name."""
    try:
        async with tx.begin_nested():
            await tx.execute(
                update(agents)
                .where(agents.c.workspace_id == workspace_id, agents.c.id == agent_id)
                .values(**changes, updated_at=now)
            )
    except IntegrityError:
        return False
    return True


async def delete_agent(tx: Transaction, workspace_id: str, agent_id: str) -> None:
    await tx.execute(
        delete(agents).where(agents.c.workspace_id == workspace_id, agents.c.id == agent_id)
    )


async def can_add_agent(tx: Transaction, workspace_id: str) -> bool:
    """Return whether the workspace may have another agent; blocks other adds until the commit."""
    await serialize_writers(tx, _NEW_AGENTS_LOCK)
    counts = await _count_agents(tx, [workspace_id])
    return counts[workspace_id] < MAX_AGENTS


async def update_seen_times(
    tx: Transaction, sightings: Iterable[AgentActivity]
) -> list[AgentActivity]:
    """Extend the first and last seen times of agents; returns the sightings of unknown agents."""
    # The same order everywhere prevents deadlocks between replicas.
    ordered = sorted(sightings, key=lambda seen: (seen.workspace_id, seen.name))
    pair = tuple_(agents.c.workspace_id, agents.c.name)
    rows = await tx.execute(
        select(agents.c.workspace_id, agents.c.name).where(
            pair.in_([(seen.workspace_id, seen.name) for seen in ordered])
        )
    )
    known = {(row.workspace_id, row.name) for row in rows}
    updates = [
        {
            "seen_workspace": seen.workspace_id,
            "seen_name": seen.name,
            "first": seen.first,
            "last": seen.last,
        }
        for seen in ordered
        if (seen.workspace_id, seen.name) in known
    ]
    if updates:
        await tx.execute(_UPDATE_SEEN_TIMES, updates)
    return [seen for seen in ordered if (seen.workspace_id, seen.name) not in known]


_FIRST, _LAST = bindparam("first", type_=UtcDateTime), bindparam("last", type_=UtcDateTime)
_UPDATE_SEEN_TIMES = (
    update(agents)
    .where(
        agents.c.workspace_id == bindparam("seen_workspace"),
        agents.c.name == bindparam("seen_name"),
    )
    .values(
        first_seen_at=case(
            (agents.c.first_seen_at <= _FIRST, agents.c.first_seen_at), else_=_FIRST
        ),
        last_seen_at=case((agents.c.last_seen_at >= _LAST, agents.c.last_seen_at), else_=_LAST),
    )
)


class SeenAgents(NamedTuple):
    """The agents created from sightings, and the workspaces that reached their limit."""

    created: list[tuple[str, Agent]]
    full: set[str]


async def add_seen_agents(tx: Transaction, seen: Sequence[AgentActivity]) -> SeenAgents:
    """Create an agent per sighting, up to the limit of its workspace."""
    if not seen:
        return SeenAgents([], set())
    await serialize_writers(tx, _NEW_AGENTS_LOCK)
    counts = await _count_agents(tx, {activity.workspace_id for activity in seen})
    now = utc_now()
    new: dict[str, tuple[str, Agent]] = {}
    full = set()
    for activity in sorted(seen, key=lambda seen: (seen.workspace_id, seen.name)):
        if counts[activity.workspace_id] >= MAX_AGENTS:
            full.add(activity.workspace_id)
            continue
        counts[activity.workspace_id] += 1
        agent = Agent(
            id=new_id("agt"),
            name=activity.name,
            description=None,
            tags=[],
            metadata={},
            alert_settings=AlertSettings(),
            created_at=now,
            updated_at=now,
            first_seen_at=activity.first,
            last_seen_at=activity.last,
        )
        new[agent.id] = (activity.workspace_id, agent)
    if new:
        rows = [_to_row(workspace_id, agent) for workspace_id, agent in new.values()]
        dialect = postgresql if tx.dialect.name == "postgresql" else sqlite
        await tx.execute(dialect.insert(agents).on_conflict_do_nothing(), rows)
    added = await tx.execute(select(agents.c.id).where(agents.c.id.in_(new)))
    kept = {row.id for row in added}
    return SeenAgents([entry for agent_id, entry in new.items() if agent_id in kept], full)


async def _count_agents(tx: Transaction, workspaces: Iterable[str]) -> dict[str, int]:
    rows = await tx.execute(
        select(agents.c.workspace_id, func.count().label("total"))
        .where(agents.c.workspace_id.in_(workspaces))
        .group_by(agents.c.workspace_id)
    )
    return dict.fromkeys(workspaces, 0) | {row.workspace_id: row.total for row in rows}


def _to_row(workspace_id: str, agent: Agent) -> dict[str, Any]:
    values = agent.model_dump(by_alias=False, exclude={"alert_settings", "stats24h"})
    return {**values, "workspace_id": workspace_id}


def to_agent(row: Row[Any]) -> Agent:
    values = dict(row._mapping)
    values["alert_settings"] = settings_from(values["alert_settings"])
    return Agent.model_validate(
        {name: values[name] for name in Agent.model_fields if name in values}
    )
