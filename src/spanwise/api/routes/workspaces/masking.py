"""Routes for the masking rules of a workspace."""

from typing import Annotated

from pydantic import StringConstraints

from spanwise.api.auth import ClientAddress, WorkspaceAdmin
from spanwise.api.http.envelope import Success, succeed
from spanwise.api.routes.workspaces.workspaces import WorkspaceId
from spanwise.api.routing import PrefixRouter
from spanwise.api.services import UseIdentity, UseIngest
from spanwise.model.api_model import ApiModel
from spanwise.model.masking import MaskingRules

router = PrefixRouter("workspaces", "/workspaces")


class PreviewRequest(ApiModel):
    """Without rules, those of the workspace apply."""

    text: Annotated[str, StringConstraints(max_length=100_000)]
    rules: MaskingRules | None = None


class MaskedText(ApiModel):
    text: str


@router.put("/{workspaceId}/masking")
async def set_masking(
    _id: WorkspaceId,
    body: MaskingRules,
    caller: WorkspaceAdmin,
    ingest: UseIngest,
    address: ClientAddress,
) -> Success[MaskingRules]:
    """Set what is masked before telemetry is stored. Stored telemetry does not change."""
    return succeed(await ingest.masking.put(caller, body, address))


@router.post("/{workspaceId}/masking/preview")
async def preview_masking(
    _id: WorkspaceId,
    body: PreviewRequest,
    caller: WorkspaceAdmin,
    identity: UseIdentity,
    ingest: UseIngest,
) -> Success[MaskedText]:
    """Get what would be kept of a text."""
    rules = body.rules or (await identity.workspaces.find(caller)).masking
    return succeed(MaskedText(text=await ingest.masking.preview(rules, body.text)))
