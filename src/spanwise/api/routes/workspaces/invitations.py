"""Routes for invitations to a workspace."""

from typing import Annotated

from fastapi import Path

from spanwise.api.auth import ClientAddress, WorkspaceAdmin
from spanwise.api.http.envelope import Deleted, Success, SuccessPage, succeed, succeed_page
from spanwise.api.requests.fields import Email
from spanwise.api.requests.parameters import Paged
from spanwise.api.routes.workspaces.workspaces import WorkspaceId
from spanwise.api.routing import PrefixRouter
from spanwise.api.services import UseIdentity
from spanwise.model.api_model import ApiModel
from spanwise.model.workspaces import (
    Invitation,
    InvitationWithLink,
    WorkspaceRole,
)
from spanwise.services.accounts.emails import normalize_email

router = PrefixRouter("workspaces", "/workspaces")

_OF_WORKSPACE = "/{workspaceId}/invitations"


class NewInvitation(ApiModel):
    email: Email
    role: WorkspaceRole = WorkspaceRole.EDITOR


@router.get(_OF_WORKSPACE)
async def list_invitations(
    _id: WorkspaceId, caller: WorkspaceAdmin, identity: UseIdentity, page: Paged
) -> SuccessPage[Invitation]:
    """List the open invitations to a workspace, newest first."""
    return succeed_page(page, await identity.invitations.list(caller, page))


@router.post(_OF_WORKSPACE, status_code=201)
async def invite_member(
    _id: WorkspaceId,
    body: NewInvitation,
    caller: WorkspaceAdmin,
    identity: UseIdentity,
    address: ClientAddress,
) -> Success[InvitationWithLink]:
    """Mail an invitation. The link works once, for this address, for seven days.

    Only this response contains the link. A new invitation replaces an earlier one.
    """
    email = normalize_email(body.email)
    return succeed(await identity.invitations.invite(caller, email, body.role, address))


@router.delete(f"{_OF_WORKSPACE}/{{invitationId}}")
async def withdraw_invitation(
    _id: WorkspaceId,
    invitation_id: Annotated[str, Path(alias="invitationId")],
    caller: WorkspaceAdmin,
    identity: UseIdentity,
    address: ClientAddress,
) -> Success[Deleted]:
    """Withdraw an invitation; its link stops working."""
    await identity.invitations.withdraw(caller, invitation_id, address)
    return succeed(Deleted(id=invitation_id))
