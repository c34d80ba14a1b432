"""Agents: made by hand, or by the first trace that names one."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import Row, bindparam, case, delete, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from spanwise.model.agents import Agent, Sighting
from spanwise.model.alerts import AlertSettings, WatchedRule, settings_from
from spanwise.model.noun import new_id, utc_now
from spanwise.model.page import Listing, PageRequest
from spanwise.storage.catalog.database import Transaction
from spanwise.storage.catalog.tables import UtcDateTime, agents


async def find_agent_ids(tx: Transaction, workspace_id: str) -> dict[str, str]:
    """Return the id of every agent of the workspace, by name."""
    rows = await tx.execute(
        select(agents.c.name, agents.c.id).where(agents.c.workspace_id == workspace_id)
    )
    return {row.name: row.id for row in rows}


async def list_agents(
    tx: Transaction, workspace_id: str, search: str | None, page: PageRequest
) -> Listing[Agent]:
    wanted = agents.c.workspace_id == workspace_id
    if search:
        wanted &= func.lower(agents.c.name).contains(search.lower(), autoescape=True)
    total = await tx.execute(select(func.count()).select_from(agents).where(wanted))
    rows = await tx.execute(
        select(agents)
        .where(wanted)
        .order_by(agents.c.created_at.desc(), agents.c.id.desc())
        .limit(page.limit)
        .offset(page.skip)
    )
    return Listing([to_agent(row) for row in rows], total.scalar_one())


async def find_agent(tx: Transaction, workspace_id: str, agent: str) -> Agent | None:
    """Return the agent with this id or else with exactly this name."""
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
    """Add an agent; False when the workspace has one of that name."""
    values = agent.model_dump(by_alias=False, exclude={"alert_settings", "stats24h"})
    try:
        async with tx.begin_nested():
            await tx.execute(insert(agents).values(**values, workspace_id=workspace_id))
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


async def note_sightings(tx: Transaction, sightings: Iterable[Sighting]) -> list[Sighting]:
    """Widen the times that agents were seen between; return the sightings of unknown agents."""
    unknown = []
    # In one order everywhere, so that two replicas cannot wait for each other's rows.
    for seen in sorted(sightings, key=lambda seen: (seen.workspace_id, seen.name)):
        changed = await tx.execute(
            _NOTE, {"of": seen.workspace_id, "named": seen.name, "f": seen.first, "l": seen.last}
        )
        if changed.rowcount == 0:
            unknown.append(seen)
    return unknown


_FIRST, _LAST = bindparam("f", type_=UtcDateTime), bindparam("l", type_=UtcDateTime)
_NOTE = (
    update(agents)
    .where(agents.c.workspace_id == bindparam("of"), agents.c.name == bindparam("named"))
    .values(
        first_seen_at=case(
            (agents.c.first_seen_at <= _FIRST, agents.c.first_seen_at), else_=_FIRST
        ),
        last_seen_at=case((agents.c.last_seen_at >= _LAST, agents.c.last_seen_at), else_=_LAST),
    )
)


async def add_seen_agents(tx: Transaction, seen: Iterable[Sighting]) -> list[tuple[str, Agent]]:
    """Make an agent of each sighting whose name has none; return the new ones by workspace."""
    now = utc_now()
    made = []
    for sighting in sorted(seen, key=lambda seen: (seen.workspace_id, seen.name)):
        agent = Agent(
            id=new_id("agt"),
            name=sighting.name,
            description=None,
            tags=[],
            metadata={},
            alert_settings=AlertSettings(),
            created_at=now,
            updated_at=now,
            first_seen_at=sighting.first,
            last_seen_at=sighting.last,
        )
        if await add_agent(tx, sighting.workspace_id, agent):
            made.append((sighting.workspace_id, agent))
    return made


async def find_watched_rules(tx: Transaction) -> list[WatchedRule]:
    """Return every rule that is switched on, of all workspaces; only the service itself asks."""
    rows = await tx.execute(select(agents).where(agents.c.alert_settings.is_not(None)))
    watched = []
    for row in rows:
        settings = settings_from(row.alert_settings)
        if settings.enabled:
            watched += [
                WatchedRule(row.workspace_id, row.id, row.name, row.first_seen_at, rule)
                for rule in settings.rules
            ]
    return watched


async def find_alert_settings(tx: Transaction, agent_id: str) -> AlertSettings | None:
    """Return the settings with their secrets, or None when the agent is gone."""
    row = (
        await tx.execute(select(agents.c.alert_settings).where(agents.c.id == agent_id))
    ).one_or_none()
    return None if row is None else settings_from(row.alert_settings)


def to_agent(row: Row[Any]) -> Agent:
    values = dict(row._mapping)
    values["alert_settings"] = settings_from(values["alert_settings"])
    return Agent.model_validate(
        {name: values[name] for name in Agent.model_fields if name in values}
    )
