"""Silences: times in which notifications of alerts are muted."""

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import func, insert, select, update

from spanwise.model.alerts import Silence
from spanwise.model.page import Listing, PageRequest
from spanwise.storage.catalog.database import Transaction
from spanwise.storage.catalog.tables import silences


async def add_silence(tx: Transaction, workspace_id: str, silence: Silence) -> None:
    values = silence.model_dump(by_alias=False)
    await tx.execute(insert(silences).values(**values, workspace_id=workspace_id))


async def list_silences(tx: Transaction, workspace_id: str, page: PageRequest) -> Listing[Silence]:
    """Return silences, those that end last first."""
    where = silences.c.workspace_id == workspace_id
    total = await tx.execute(select(func.count()).select_from(silences).where(where))
    rows = await tx.execute(
        select(silences)
        .where(where)
        .order_by(silences.c.ends_at.desc(), silences.c.id.desc())
        .limit(page.limit)
        .offset(page.skip)
    )
    return Listing([Silence.model_validate(dict(row._mapping)) for row in rows], total.scalar_one())


async def count_active_silences(tx: Transaction, workspace_id: str, now: datetime) -> int:
    where = (silences.c.workspace_id == workspace_id) & (silences.c.ends_at > now)
    return (await tx.execute(select(func.count()).select_from(silences).where(where))).scalar_one()


async def find_silence(tx: Transaction, workspace_id: str, silence_id: str) -> Silence | None:
    rows = await tx.execute(
        select(silences).where(silences.c.workspace_id == workspace_id, silences.c.id == silence_id)
    )
    row = rows.one_or_none()
    return None if row is None else Silence.model_validate(dict(row._mapping))


async def end_silence(tx: Transaction, workspace_id: str, silence_id: str, now: datetime) -> None:
    await tx.execute(
        update(silences)
        .where(
            silences.c.workspace_id == workspace_id,
            silences.c.id == silence_id,
            silences.c.ends_at > now,
        )
        .values(ends_at=now)
    )


async def find_active_silences(
    tx: Transaction, workspaces: Iterable[str], now: datetime
) -> dict[str, list[Silence]]:
    """Return the silences that are active now, by workspace; those that end last first."""
    rows = await tx.execute(
        select(silences)
        .where(
            silences.c.workspace_id.in_(set(workspaces)),
            silences.c.starts_at <= now,
            silences.c.ends_at > now,
        )
        .order_by(silences.c.ends_at.desc())
    )
    found: dict[str, list[Silence]] = {}
    for row in rows:
        silence = Silence.model_validate(dict(row._mapping))
        found.setdefault(row.workspace_id, []).append(silence)
    return found
