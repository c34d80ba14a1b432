"""Routes for the holder of an invitation link."""

from typing import Annotated

from fastapi import Query

from spanwise.api.auth import ClientAddress, SignedIn
from spanwise.api.http.envelope import Success, succeed
from spanwise.api.routing import PrefixRouter
from spanwise.api.services import UseIdentity
from spanwise.model.api_model import ApiModel
from spanwise.model.workspaces import InvitationPreview, Workspace

router = PrefixRouter("workspaces", "/invitations")


class Acceptance(ApiModel):
    token: str


@router.get("/preview")
async def preview_invitation(
    token: Annotated[str, Query()], identity: UseIdentity
) -> Success[InvitationPreview]:
    """Get who invited whom into which workspace, for the holder of the link."""
    return succeed(await identity.invitations.preview(token))


@router.post("/accept")
async def accept_invitation(
    body: Acceptance, caller: SignedIn, identity: UseIdentity, address: ClientAddress
) -> Success[Workspace]:
    """Join a workspace with the token of an invitation to your address."""
    return succeed(await identity.invitations.accept(caller, body.token, address))
