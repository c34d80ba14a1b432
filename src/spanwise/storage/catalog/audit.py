"""The audit trail, written in the same transaction as the action it records."""

from sqlalchemy import and_, func, insert, select, true

from spanwise.model.accounts import AuditEntry
from spanwise.model.page import Listing, PageRequest
from spanwise.model.times import TimeRange
from spanwise.storage.catalog.database import Transaction
from spanwise.storage.catalog.tables import audit


async def add_entry(tx: Transaction, entry: AuditEntry) -> None:
    await tx.execute(insert(audit).values(entry.model_dump(by_alias=False)))


async def list_entries(
    tx: Transaction, period: TimeRange, action: str | None, page: PageRequest
) -> Listing[AuditEntry]:
    wanted = and_(
        true(),
        *([audit.c.at >= period.start] if period.start else []),
        *([audit.c.at < period.end] if period.end else []),
        *([audit.c.action == action] if action else []),
    )
    total = await tx.execute(select(func.count()).select_from(audit).where(wanted))
    rows = await tx.execute(
        select(audit)
        .where(wanted)
        .order_by(audit.c.at.desc(), audit.c.id.desc())
        .limit(page.limit)
        .offset(page.skip)
    )
    return Listing(
        [AuditEntry.model_validate(dict(row._mapping)) for row in rows], total.scalar_one()
    )
