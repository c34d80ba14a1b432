"""Agents: made by hand, or by the first trace that names one."""

from collections.abc import Iterable

from sqlalchemy import insert, select
from sqlalchemy.exc import IntegrityError

from spanwise.model.noun import new_id, utc_now
from spanwise.storage.catalog.database import Transaction
from spanwise.storage.catalog.tables import agents


async def find_agent_ids(tx: Transaction, workspace_id: str) -> dict[str, str]:
    """Return the id of every agent of the workspace, by name."""
    rows = await tx.execute(
        select(agents.c.name, agents.c.id).where(agents.c.workspace_id == workspace_id)
    )
    return {row.name: row.id for row in rows}


async def add_seen_agents(tx: Transaction, seen: Iterable[tuple[str, str]]) -> None:
    """Make an agent of each (workspace, name) that has none yet."""
    now = utc_now()
    for workspace_id, name in seen:
        try:
            async with tx.begin_nested():
                await tx.execute(
                    insert(agents).values(
                        id=new_id("agt"),
                        workspace_id=workspace_id,
                        name=name[:512],
                        tags=[],
                        metadata={},
                        created_at=now,
                        updated_at=now,
                    )
                )
        except IntegrityError:
            continue
