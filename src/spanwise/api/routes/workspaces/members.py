"""Routes for the members of a workspace."""

from typing import Annotated

from fastapi import Path

from spanwise.api.auth import ClientAddress, Viewer, WorkspaceAdmin
from spanwise.api.http.envelope import Deleted, Success, SuccessPage, succeed, succeed_page
from spanwise.api.requests.parameters import Paged
from spanwise.api.routes.workspaces.workspaces import WorkspaceId
from spanwise.api.routing import PrefixRouter
from spanwise.api.services import UseIdentity
from spanwise.model.api_model import ApiModel
from spanwise.model.workspaces import Member, WorkspaceRole

router = PrefixRouter("workspaces", "/workspaces")

UserId = Annotated[str, Path(alias="userId")]


class MemberChange(ApiModel):
    role: WorkspaceRole


@router.get("/{workspaceId}/members")
async def list_members(
    _id: WorkspaceId, caller: Viewer, identity: UseIdentity, page: Paged
) -> SuccessPage[Member]:
    """List the members of a workspace in the order of joining."""
    return succeed_page(page, await identity.members.list(caller, page))


@router.put("/{workspaceId}/members/{userId}")
async def change_member(
    _id: WorkspaceId,
    user_id: UserId,
    body: MemberChange,
    caller: WorkspaceAdmin,
    identity: UseIdentity,
    address: ClientAddress,
) -> Success[Member]:
    """Change a member's role. Only an owner makes, changes or removes owners."""
    return succeed(await identity.members.change_role(caller, user_id, body.role, address))


@router.delete("/{workspaceId}/members/{userId}")
async def remove_member(
    _id: WorkspaceId, user_id: UserId, caller: Viewer, identity: UseIdentity, address: ClientAddress
) -> Success[Deleted]:
    """Remove a member, or leave the workspace. Keys that the member made stay valid.

    Everyone may leave; removing others needs the role admin.
    """
    await identity.members.remove(caller, user_id, address)
    return succeed(Deleted(id=user_id))
