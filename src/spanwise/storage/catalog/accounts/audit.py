"""The audit trail, written in the same transaction as the action it records."""

from sqlalchemy import ColumnElement, and_, func, insert, or_, select, true

from spanwise.model.accounts import AuditEntry, AuditFilter
from spanwise.model.page import Listing, PageRequest
from spanwise.storage.catalog.database import Transaction
from spanwise.storage.catalog.tables import api_keys, audit, memberships, users

_NAMES = {"actor_name", "subject_name"}
_SIGN_INS = ("login.succeeded", "login.failed")


async def add_entry(tx: Transaction, entry: AuditEntry) -> None:
    await tx.execute(insert(audit).values(entry.model_dump(by_alias=False, exclude=_NAMES)))


async def list_entries(
    tx: Transaction, filters: AuditFilter, page: PageRequest
) -> Listing[AuditEntry]:
    """Return entries, newest first, with the present names of people and keys."""
    period = filters.period
    condition = and_(
        true(),
        *([_concerns(filters.workspace_id)] if filters.workspace_id else []),
        *([audit.c.at >= period.start] if period.start else []),
        *([audit.c.at < period.end] if period.end else []),
        *([audit.c.actor == filters.actor] if filters.actor else []),
        *([audit.c.action == filters.action] if filters.action else []),
    )
    total = await tx.execute(select(func.count()).select_from(audit).where(condition))
    actors, subjects = users.alias("actors"), users.alias("subjects")
    acting_keys = api_keys.alias("acting_keys")
    joined = (
        audit.outerjoin(actors, actors.c.id == audit.c.actor)
        .outerjoin(acting_keys, acting_keys.c.id == audit.c.actor)
        .outerjoin(subjects, subjects.c.id == audit.c.subject)
        .outerjoin(api_keys, api_keys.c.id == audit.c.subject)
    )
    rows = await tx.execute(
        select(
            audit,
            func.coalesce(actors.c.name, acting_keys.c.name).label("actor_name"),
            func.coalesce(subjects.c.name, api_keys.c.name).label("subject_name"),
        )
        .select_from(joined)
        .where(condition)
        .order_by(audit.c.at.desc(), audit.c.id.desc())
        .limit(page.limit)
        .offset(page.skip)
    )
    return Listing(
        [AuditEntry.model_validate(dict(row._mapping)) for row in rows], total.scalar_one()
    )


def _concerns(workspace_id: str) -> ColumnElement[bool]:
    """Actions in the workspace, and sign-ins of its members, which belong to no workspace."""
    members = (
        select(users.c.id, users.c.email)
        .join(memberships, memberships.c.user_id == users.c.id)
        .where(memberships.c.workspace_id == workspace_id)
        .subquery()
    )
    of_member = or_(
        audit.c.actor.in_(select(members.c.id)), audit.c.subject.in_(select(members.c.email))
    )
    return or_(audit.c.workspace_id == workspace_id, and_(audit.c.action.in_(_SIGN_INS), of_member))
