"""Workspaces and their members."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, delete, func, insert, or_, select, update

from spanwise.model.masking import MaskingRules
from spanwise.model.page import Listing, PageRequest
from spanwise.model.workspaces import (
    Member,
    Workspace,
    WorkspaceRetention,
    WorkspaceRole,
    WorkspaceSummary,
)
from spanwise.storage.catalog.database import Transaction
from spanwise.storage.catalog.tables import (
    agents,
    alerts,
    api_keys,
    dashboards,
    deliveries,
    events,
    experiments,
    failure_marks,
    memberships,
    model_prices,
    repricing,
    rule_states,
    silences,
    users,
    views,
    webhooks,
    workspace_removals,
    workspaces,
)

# Tables with rows of a workspace that do not disappear with its own row.
_OWNED_TABLES = (
    agents,
    alerts,
    api_keys,
    dashboards,
    deliveries,
    events,
    experiments,
    failure_marks,
    model_prices,
    repricing,
    silences,
    views,
    webhooks,
)
_members = memberships.alias()
_MEMBER_COUNT = (
    select(func.count())
    .select_from(_members)
    .where(_members.c.workspace_id == workspaces.c.id)
    .scalar_subquery()
)


async def add_workspace(tx: Transaction, workspace_id: str, name: str, now: datetime) -> None:
    row = {"id": workspace_id, "name": name, "created_at": now, "require_key_expiry": False}
    await tx.execute(insert(workspaces).values(row))


async def find_workspace(tx: Transaction, workspace_id: str, user_id: str) -> Workspace | None:
    """Return a workspace as a member sees it.

    None if it does not exist or the user is not a member.
    """
    query = _seen_by(user_id).where(workspaces.c.id == workspace_id)
    row = (await tx.execute(query)).one_or_none()
    return None if row is None else _to_workspace(row)


async def find_workspace_name(tx: Transaction, workspace_id: str) -> str | None:
    query = select(workspaces.c.name).where(workspaces.c.id == workspace_id)
    return (await tx.execute(query)).scalar_one_or_none()


async def list_workspaces(tx: Transaction, user_id: str, page: PageRequest) -> Listing[Workspace]:
    """Return the workspaces of which a user is a member, in the order of joining."""
    rows = await tx.execute(
        _seen_by(user_id)
        .order_by(memberships.c.joined_at, workspaces.c.id)
        .limit(page.limit)
        .offset(page.skip)
    )
    total = select(func.count()).select_from(memberships).where(memberships.c.user_id == user_id)
    return Listing([_to_workspace(row) for row in rows], (await tx.execute(total)).scalar_one())


async def summarize_workspaces(tx: Transaction) -> list[WorkspaceSummary]:
    """Return all workspaces of the installation; for the operator only."""
    joined = memberships.join(users, users.c.id == memberships.c.user_id)
    owners = defaultdict[str, list[str]](list)
    query = select(memberships.c.workspace_id, users.c.email).select_from(joined)
    for row in await tx.execute(query.where(memberships.c.role == WorkspaceRole.OWNER)):
        owners[row.workspace_id].append(row.email)
    rows = await tx.execute(
        select(workspaces.c.id, workspaces.c.name, _MEMBER_COUNT.label("members")).order_by(
            workspaces.c.id
        )
    )
    return [WorkspaceSummary(row.id, row.name, row.members, owners[row.id]) for row in rows]


async def update_workspace(tx: Transaction, workspace_id: str, changes: Mapping[str, Any]) -> None:
    if changes:
        await tx.execute(update(workspaces).where(workspaces.c.id == workspace_id).values(changes))


async def delete_workspace(tx: Transaction, workspace_id: str, now: datetime) -> None:
    """Delete a workspace with all its records; its telemetry is left to be removed."""
    of_workspace = select(agents.c.id).where(agents.c.workspace_id == workspace_id)
    await tx.execute(
        delete(rule_states).where(
            rule_states.c.agent_id.in_(of_workspace) | (rule_states.c.agent_id == workspace_id)
        )
    )
    for table in _OWNED_TABLES:
        await tx.execute(delete(table).where(table.c.workspace_id == workspace_id))
    await tx.execute(delete(workspaces).where(workspaces.c.id == workspace_id))
    await tx.execute(insert(workspace_removals).values(workspace_id=workspace_id, deleted_at=now))


async def list_removals(tx: Transaction) -> dict[str, datetime]:
    """Return deleted workspaces whose telemetry may still be stored, and since when.

    For internal jobs only.
    """
    rows = await tx.execute(select(workspace_removals))
    return {row.workspace_id: row.deleted_at for row in rows}


async def finish_removal(tx: Transaction, workspace_id: str) -> None:
    await tx.execute(
        delete(workspace_removals).where(workspace_removals.c.workspace_id == workspace_id)
    )


async def list_retentions(tx: Transaction) -> list[WorkspaceRetention]:
    """Return the workspaces that have their own retention; for internal jobs only."""
    days = (workspaces.c.retention_days, workspaces.c.content_retention_days)
    rows = await tx.execute(
        select(workspaces.c.id, *days).where(or_(*(column.is_not(None) for column in days)))
    )
    return [
        WorkspaceRetention(row.id, row.retention_days, row.content_retention_days) for row in rows
    ]


async def list_masking(tx: Transaction) -> dict[str, MaskingRules]:
    """Return the masking rules by workspace; for ingest only."""
    query = select(workspaces.c.id, workspaces.c.masking).where(workspaces.c.masking.is_not(None))
    rows = await tx.execute(query)
    return {row.id: MaskingRules.model_validate(row.masking) for row in rows if row.masking}


async def add_member(
    tx: Transaction, workspace_id: str, user_id: str, role: WorkspaceRole, now: datetime
) -> None:
    await tx.execute(
        insert(memberships).values(
            workspace_id=workspace_id, user_id=user_id, role=role, joined_at=now
        )
    )


async def find_memberships(tx: Transaction, user_id: str) -> dict[str, WorkspaceRole]:
    """Return a user's role by workspace, in the order of joining."""
    rows = await tx.execute(
        select(memberships.c.workspace_id, memberships.c.role)
        .where(memberships.c.user_id == user_id)
        .order_by(memberships.c.joined_at, memberships.c.workspace_id)
    )
    return {row.workspace_id: WorkspaceRole(row.role) for row in rows}


async def list_members(tx: Transaction, workspace_id: str, page: PageRequest) -> Listing[Member]:
    of_workspace = memberships.c.workspace_id == workspace_id
    rows = await tx.execute(
        _select_members(of_workspace)
        .order_by(memberships.c.joined_at, memberships.c.user_id)
        .limit(page.limit)
        .offset(page.skip)
    )
    total = select(func.count()).select_from(memberships).where(of_workspace)
    found = [Member.model_validate(dict(row._mapping)) for row in rows]
    return Listing(found, (await tx.execute(total)).scalar_one())


async def find_member(tx: Transaction, workspace_id: str, user_id: str) -> Member | None:
    query = _select_members(_is_member(workspace_id, user_id))
    row = (await tx.execute(query)).one_or_none()
    return None if row is None else Member.model_validate(dict(row._mapping))


async def find_member_by_email(tx: Transaction, workspace_id: str, email: str) -> Member | None:
    of_workspace = and_(memberships.c.workspace_id == workspace_id, users.c.email == email)
    row = (await tx.execute(_select_members(of_workspace))).one_or_none()
    return None if row is None else Member.model_validate(dict(row._mapping))


async def update_member(
    tx: Transaction, workspace_id: str, user_id: str, role: WorkspaceRole
) -> None:
    await tx.execute(update(memberships).where(_is_member(workspace_id, user_id)).values(role=role))


async def remove_member(tx: Transaction, workspace_id: str, user_id: str) -> None:
    await tx.execute(delete(memberships).where(_is_member(workspace_id, user_id)))


async def count_owners(tx: Transaction, workspace_id: str) -> int:
    """Count the owners whose accounts are not disabled."""
    query = (
        select(func.count())
        .select_from(memberships.join(users, users.c.id == memberships.c.user_id))
        .where(
            memberships.c.workspace_id == workspace_id,
            memberships.c.role == WorkspaceRole.OWNER,
            users.c.disabled.is_(False),
        )
    )
    return (await tx.execute(query)).scalar_one()


def _is_member(workspace_id: str, user_id: str) -> ColumnElement[bool]:
    return and_(memberships.c.workspace_id == workspace_id, memberships.c.user_id == user_id)


def _seen_by(user_id: str) -> Select[Any]:
    joined = workspaces.join(memberships, memberships.c.workspace_id == workspaces.c.id)
    return (
        select(workspaces, memberships.c.role, _MEMBER_COUNT.label("members"))
        .select_from(joined)
        .where(memberships.c.user_id == user_id)
    )


def _select_members(condition: ColumnElement[bool]) -> Select[Any]:
    joined = memberships.join(users, users.c.id == memberships.c.user_id)
    return (
        select(
            memberships.c.user_id,
            users.c.email,
            users.c.name,
            memberships.c.role,
            memberships.c.joined_at,
            users.c.last_login_at,
            users.c.disabled,
        )
        .select_from(joined)
        .where(condition)
    )


def _to_workspace(row: Row[Any]) -> Workspace:
    values = {name: row._mapping[name] for name in Workspace.model_fields}
    return Workspace.model_validate({**values, "masking": values["masking"] or {}})
