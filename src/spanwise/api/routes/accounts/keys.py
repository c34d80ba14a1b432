"""Routes for API keys. Only a signed-in user manages keys: a leaked key cannot create keys."""

from typing import Annotated

from pydantic import Field

from spanwise.api.auth import ClientAddress, Viewer, WorkspaceAdmin
from spanwise.api.http.envelope import Deleted, Success, SuccessPage, succeed, succeed_page
from spanwise.api.requests.fields import Name, Time
from spanwise.api.requests.parameters import Paged
from spanwise.api.routing import PrefixRouter
from spanwise.api.services import UseIdentity
from spanwise.model.api_model import ApiModel
from spanwise.model.keys import ApiKey, ApiKeyWithSecret, Scope

router = PrefixRouter("keys", "/keys")

MAX_GRACE_SECONDS = 86_400


class NewKey(ApiModel):
    name: Name
    expires_at: Time | None = None
    scopes: list[Scope] = Field(default=[Scope.FULL], min_length=1, max_length=len(Scope))


class KeyRefresh(ApiModel):
    grace_seconds: Annotated[int, Field(ge=0, le=MAX_GRACE_SECONDS, strict=True)] = 0


@router.post("", status_code=201)
async def create_key(
    body: NewKey, caller: WorkspaceAdmin, identity: UseIdentity, address: ClientAddress
) -> Success[ApiKeyWithSecret]:
    """Create a key. Only this response contains its secret."""
    return succeed(
        await identity.keys.create(caller, body.name, body.scopes, body.expires_at, address)
    )


@router.get("")
async def list_keys(caller: Viewer, identity: UseIdentity, page: Paged) -> SuccessPage[ApiKey]:
    """List the keys of the workspace in any state, newest first, without their secrets."""
    return succeed_page(page, await identity.keys.list(caller, page))


@router.put("/{id}/refresh")
async def refresh_key(
    id: str,  # noqa: A002 -- the name in the path
    caller: WorkspaceAdmin,
    identity: UseIdentity,
    address: ClientAddress,
    body: KeyRefresh | None = None,
) -> Success[ApiKeyWithSecret]:
    """Rotate a key: the id stays; the old secret expires now or after `graceSeconds`."""
    grace_seconds = body.grace_seconds if body else 0
    return succeed(await identity.keys.refresh(caller, id, grace_seconds, address))


@router.post("/{id}/revoke")
async def revoke_key(
    id: str,  # noqa: A002
    caller: WorkspaceAdmin,
    identity: UseIdentity,
    address: ClientAddress,
) -> Success[ApiKey]:
    """Revoke a key permanently."""
    return succeed(await identity.keys.revoke(caller, id, address))


@router.delete("/{id}")
async def delete_key(
    id: str,  # noqa: A002
    caller: WorkspaceAdmin,
    identity: UseIdentity,
    address: ClientAddress,
) -> Success[Deleted]:
    """Delete a key in any state; it stops working at once."""
    await identity.keys.delete(caller, id, address)
    return succeed(Deleted(id=id))
