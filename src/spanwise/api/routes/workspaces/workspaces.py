"""Routes for workspaces and their audit log."""

from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import Field, StrictBool

from spanwise.api.auth import (
    WORKSPACE_PARAMETER,
    ClientAddress,
    Owner,
    SignedIn,
    Viewer,
    WorkspaceAdmin,
)
from spanwise.api.freshness import Fresh
from spanwise.api.http.envelope import Deleted, Success, SuccessPage, succeed, succeed_page
from spanwise.api.requests.fields import Name
from spanwise.api.requests.parameters import Paged, Period
from spanwise.api.routing import PrefixRouter
from spanwise.api.services import Use, UseIdentity, UseTelemetry
from spanwise.model.accounts import AuditEntry, AuditFilter
from spanwise.model.api_model import ApiModel
from spanwise.model.workspaces import RetentionPreview, Workspace
from spanwise.storage.catalog.accounts import audit as stored_audit

router = PrefixRouter("workspaces", "/workspaces")

Days = Annotated[int, Field(ge=1, le=36_500)]
WorkspaceId = Annotated[str, Path(alias=WORKSPACE_PARAMETER)]


class NewWorkspace(ApiModel):
    name: Name


class WorkspaceChange(ApiModel):
    """Missing fields keep their value; a retention of null keeps everything."""

    name: Name | None = None
    require_key_expiry: StrictBool | None = None
    retention_days: Days | None = None
    content_retention_days: Days | None = None

    @property
    def changes(self) -> dict[str, Any]:
        given = self.model_dump(by_alias=False, exclude_unset=True)
        return {n: v for n, v in given.items() if v is not None or n.endswith("retention_days")}


class WorkspaceDeletion(ApiModel):
    """The name of the workspace, repeated."""

    name: str


@router.get("")
async def list_workspaces(
    caller: SignedIn, identity: UseIdentity, page: Paged
) -> SuccessPage[Workspace]:
    """List the workspaces of which you are a member, with your role in each."""
    return succeed_page(page, await identity.workspaces.list(caller, page))


@router.post("", status_code=201)
async def create_workspace(
    body: NewWorkspace, caller: SignedIn, identity: UseIdentity, address: ClientAddress
) -> Success[Workspace]:
    """Create a workspace; you become its owner."""
    return succeed(await identity.workspaces.create(caller, body.name, address))


@router.get("/{workspaceId}")
async def get_workspace(
    _id: WorkspaceId, caller: Viewer, identity: UseIdentity
) -> Success[Workspace]:
    """Get a workspace of which you are a member."""
    return succeed(await identity.workspaces.find(caller))


@router.put("/{workspaceId}")
async def update_workspace(
    _id: WorkspaceId,
    body: WorkspaceChange,
    caller: WorkspaceAdmin,
    identity: UseIdentity,
    address: ClientAddress,
) -> Success[Workspace]:
    """Rename a workspace, set its retention, or require that new keys expire."""
    return succeed(await identity.workspaces.update(caller, body.changes, address))


@router.get("/{workspaceId}/retention")
async def preview_retention(
    _id: WorkspaceId,
    caller: Viewer,
    telemetry: UseTelemetry,
    _fresh: Fresh,
    days: Annotated[Days | None, Query(description="Remove everything after this.")] = None,
    content_days: Annotated[
        Days | None, Query(alias="contentDays", description="Remove contents after this.")
    ] = None,
) -> Success[RetentionPreview]:
    """Count what a retention would remove now, before it is set."""
    return succeed(
        await telemetry.retention_previews.count(caller.workspace_id, days, content_days)
    )


@router.delete("/{workspaceId}")
async def delete_workspace(
    _id: WorkspaceId,
    body: WorkspaceDeletion,
    caller: Owner,
    identity: UseIdentity,
    address: ClientAddress,
) -> Success[Deleted]:
    """Delete a workspace with all its data. The body repeats its name."""
    await identity.workspaces.delete(caller, body.name, address)
    return succeed(Deleted(id=caller.workspace_id))


@router.get("/{workspaceId}/audit")
async def list_workspace_audit(
    _id: WorkspaceId,
    caller: WorkspaceAdmin,
    use: Use,
    page: Paged,
    period: Period,
    actor: Annotated[str | None, Query(description="Only actions of this user, by id.")] = None,
    type: Annotated[str | None, Query(description="Only this action.")] = None,  # noqa: A002
) -> SuccessPage[AuditEntry]:
    """List who did what in the workspace, from which address, newest first.

    Includes the sign-ins of its members.
    """
    filters = AuditFilter(period, caller.workspace_id, actor, type)
    async with use.catalog.read() as tx:
        return succeed_page(page, await stored_audit.list_entries(tx, filters, page))
