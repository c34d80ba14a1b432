"""Leases: one process of many does a thing, and another takes over when it is gone."""

from datetime import datetime

from sqlalchemy import insert, or_, update
from sqlalchemy.exc import IntegrityError

from spanwise.storage.catalog.database import Transaction
from spanwise.storage.catalog.tables import leases


async def take_lease(
    tx: Transaction, name: str, holder: str, now: datetime, until: datetime
) -> bool:
    """Take or prolong a lease; False while somebody else holds it."""
    taken = await tx.execute(
        update(leases)
        .where(leases.c.name == name, or_(leases.c.holder == holder, leases.c.expires_at <= now))
        .values(holder=holder, expires_at=until)
    )
    if taken.rowcount:
        return True
    try:
        async with tx.begin_nested():
            await tx.execute(insert(leases).values(name=name, holder=holder, expires_at=until))
    except IntegrityError:
        return False
    return True


async def keep_lease(tx: Transaction, name: str, holder: str, until: datetime) -> bool:
    """Prolong a lease that is still held; False when it was lost, so that late work is dropped."""
    kept = await tx.execute(
        update(leases)
        .where(leases.c.name == name, leases.c.holder == holder)
        .values(expires_at=until)
    )
    return kept.rowcount > 0


async def release_lease(tx: Transaction, name: str, holder: str, now: datetime) -> None:
    await tx.execute(
        update(leases)
        .where(leases.c.name == name, leases.c.holder == holder)
        .values(expires_at=now)
    )


async def touch_lease(tx: Transaction, name: str, holder: str, now: datetime) -> None:
    """Write to a lease that nobody takes: it shows that writing works."""
    if not await keep_lease(tx, name, holder, now):
        await take_lease(tx, name, holder, now, now)
