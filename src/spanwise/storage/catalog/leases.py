"""Leases: one replica at a time runs a job; another takes over after the lease expires."""

from datetime import datetime

from sqlalchemy import insert, or_, update
from sqlalchemy.exc import IntegrityError

from spanwise.storage.catalog.database import Transaction
from spanwise.storage.catalog.tables import leases


async def take_lease(
    tx: Transaction, name: str, holder: str, now: datetime, until: datetime
) -> bool:
    """Acquire or renew a lease; False while another holder has it."""
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
    """Renew a lease that is still held; False when it was lost."""
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
    """Write to a lease that nobody else uses, to check that writes work."""
    if not await keep_lease(tx, name, holder, now):
        await take_lease(tx, name, holder, now, now)
