"""Invitations to a workspace, looked up by the hash of the token in their link."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import Row, Select, and_, delete, func, insert, select

from spanwise.model.page import Listing, PageRequest
from spanwise.model.workspaces import Invitation, InvitationPreview, WorkspaceRole
from spanwise.storage.catalog.database import Transaction
from spanwise.storage.catalog.tables import invitations, memberships, users, workspaces


async def replace_invitation(
    tx: Transaction, workspace_id: str, invitation: Invitation, inviter_id: str, token_hash: str
) -> None:
    """Store an invitation; an earlier one for the same address stops working."""
    await tx.execute(
        delete(invitations).where(
            invitations.c.workspace_id == workspace_id, invitations.c.email == invitation.email
        )
    )
    row = invitation.model_dump(by_alias=False, include=set(Invitation.model_fields))
    row |= {"workspace_id": workspace_id, "invited_by": inviter_id, "token_hash": token_hash}
    await tx.execute(insert(invitations).values(row))


async def count_invitations(tx: Transaction, workspace_id: str) -> int:
    of_workspace = invitations.c.workspace_id == workspace_id
    query = select(func.count()).select_from(invitations).where(of_workspace)
    return (await tx.execute(query)).scalar_one()


async def list_invitations(
    tx: Transaction, workspace_id: str, now: datetime, page: PageRequest
) -> Listing[Invitation]:
    """Return the open invitations, newest first."""
    condition = and_(invitations.c.workspace_id == workspace_id, invitations.c.expires_at > now)
    rows = await tx.execute(
        _select_invitations()
        .where(condition)
        .order_by(invitations.c.id.desc())
        .limit(page.limit)
        .offset(page.skip)
    )
    total = select(func.count()).select_from(invitations).where(condition)
    return Listing([_to_invitation(row) for row in rows], (await tx.execute(total)).scalar_one())


async def delete_invitation(tx: Transaction, workspace_id: str, invitation_id: str) -> str | None:
    """Delete an invitation; return its address, or None when there is no such invitation."""
    deleted = await tx.execute(
        delete(invitations)
        .where(invitations.c.workspace_id == workspace_id, invitations.c.id == invitation_id)
        .returning(invitations.c.email)
    )
    return deleted.scalar_one_or_none()


async def delete_invitations_by(
    tx: Transaction, workspace_id: str, inviter_id: str, roles: Iterable[WorkspaceRole]
) -> list[str]:
    """Delete the invitations of a member to these roles; return their addresses."""
    deleted = await tx.execute(
        delete(invitations)
        .where(
            invitations.c.workspace_id == workspace_id,
            invitations.c.invited_by == inviter_id,
            invitations.c.role.in_(list(roles)),
        )
        .returning(invitations.c.email)
    )
    return sorted(deleted.scalars())


async def find_by_token(
    tx: Transaction, token_hash: str, now: datetime
) -> tuple[str, WorkspaceRole, InvitationPreview] | None:
    """Return the id and content of an open invitation, and the role that its inviter has now."""
    invitee, inviter = users.alias(), users
    joined = (
        invitations.join(workspaces, workspaces.c.id == invitations.c.workspace_id)
        .join(inviter, (inviter.c.id == invitations.c.invited_by) & inviter.c.disabled.is_(False))
        .join(
            memberships,
            (memberships.c.workspace_id == workspaces.c.id)
            & (memberships.c.user_id == inviter.c.id),
        )
        .outerjoin(invitee, invitee.c.email == invitations.c.email)
    )
    row = (
        await tx.execute(
            select(
                invitations.c.id,
                invitations.c.workspace_id,
                workspaces.c.name.label("workspace_name"),
                invitations.c.email,
                invitations.c.role,
                memberships.c.role.label("inviter_role"),
                inviter.c.name.label("invited_by"),
                invitations.c.expires_at,
                invitee.c.id.is_not(None).label("has_account"),
            )
            .select_from(joined)
            .where(invitations.c.token_hash == token_hash, invitations.c.expires_at > now)
        )
    ).one_or_none()
    if row is None:
        return None
    values = dict(row._mapping)
    inviter_role = WorkspaceRole(values.pop("inviter_role"))
    return values.pop("id"), inviter_role, InvitationPreview.model_validate(values)


def _select_invitations() -> Select[Any]:
    columns = [column for column in invitations.c if column.name != "invited_by"]
    joined = invitations.outerjoin(users, users.c.id == invitations.c.invited_by)
    return select(*columns, users.c.name.label("invited_by")).select_from(joined)


def _to_invitation(row: Row[Any]) -> Invitation:
    values = row._mapping
    return Invitation.model_validate({name: values[name] for name in Invitation.model_fields})
