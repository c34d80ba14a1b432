"""Authentication and authorization: a route's signature states who may call it."""

import base64
from collections.abc import Collection, Mapping
from typing import Annotated, Any

from fastapi import Depends, Request

from spanwise.model.accounts import Principal
from spanwise.model.errors import Forbidden, NotFound, SpanwiseError, Unauthorized
from spanwise.model.keys import Scope
from spanwise.model.workspaces import WorkspaceRole
from spanwise.services.access import KEY_PREFIX, Access

WORKSPACE_HEADER = "x-workspace-id"
# A path with this parameter is about the workspace that it names.
WORKSPACE_PARAMETER = "workspaceId"
# Headers with an API key; exporters of other products send the last two.
KEY_HEADERS = ("x-api-key", "api-key", "api_key")


async def authenticate(
    access: Access,
    headers: Mapping[str, str],
    address: str | None,
    cookie_token: str | None = None,
) -> Principal:
    """Return the caller of `x-api-key`, `Authorization: Bearer` or `Authorization: Basic`.

    The token of the dashboard's cookie counts only without these headers.
    """
    if (key := find_key(headers)) is not None:
        return await access.by_key(key, address)
    token = cookie_token
    if "authorization" in headers:
        scheme, credentials = _authorization(headers)
        token = credentials if scheme == "bearer" else None
    if token:
        return await access.by_token(token, headers.get(WORKSPACE_HEADER))
    raise Unauthorized("send a token as 'Authorization: Bearer …' or a key as 'x-api-key: …'")


def find_key(headers: Mapping[str, str]) -> str | None:
    """Return the API key in the headers, if there is one."""
    for name in KEY_HEADERS:
        if key := headers.get(name):
            return key.strip()
    scheme, credentials = _authorization(headers)
    if scheme == "basic":
        return _basic_key(credentials)
    if scheme.startswith(KEY_PREFIX):
        return headers["authorization"].strip()
    return credentials if scheme == "bearer" and credentials.startswith(KEY_PREFIX) else None


def _authorization(headers: Mapping[str, str]) -> tuple[str, str]:
    scheme, _, credentials = headers.get("authorization", "").partition(" ")
    return scheme.lower(), credentials.strip()


def _basic_key(credentials: str) -> str:
    """Return the password, or the user name if that is the key."""
    try:
        user, _, password = base64.b64decode(credentials, validate=True).decode().partition(":")
    except ValueError:
        raise Unauthorized("the Basic credentials are not valid") from None
    is_user = user.startswith(KEY_PREFIX) and not password.startswith(KEY_PREFIX)
    return user if is_user else password


class Requires:
    """The permission that a route requires.

    A key needs one of several scopes. A person needs a role in the workspace, or, without a role,
    just an account; `admin` stands for administrators of the installation.
    """

    def __init__(
        self, *scopes: Scope, role: WorkspaceRole | None = None, admin: bool = False
    ) -> None:
        self._scopes = frozenset(scopes)
        self._role = role
        self._admin = admin

    @property
    def openapi(self) -> dict[str, Any]:
        """The requirement in OpenAPI: a token always works, a key only where scopes are named."""
        schemes = ("token", "apiKey") if self._scopes else ("token",)
        return {
            "security": [{scheme: []} for scheme in schemes],
            "x-key-scopes": self.key_scopes,
            **({"x-workspace-role": self._role} if self._role else {}),
        }

    @property
    def key_scopes(self) -> list[str]:
        """The scopes of which a key needs one; empty when keys are not accepted."""
        return sorted({*self._scopes, Scope.FULL}) if self._scopes else []

    def is_read(self, methods: Collection[str]) -> bool:
        """Return whether a route with this permission and these methods only reads."""
        if self._scopes:
            return self._scopes == {Scope.READ} and self._role is WorkspaceRole.VIEWER
        return methods == {"GET"}

    async def __call__(self, request: Request) -> Principal:
        outcome: Principal | SpanwiseError = request.state.principal
        if isinstance(outcome, SpanwiseError):
            raise outcome
        workspace_id = request.path_params.get(WORKSPACE_PARAMETER)
        if workspace_id is not None:
            # Stored, so that everything else in the request is about this workspace too.
            outcome = request.state.principal = outcome.in_workspace(workspace_id)
        return self.check(outcome)

    def check(self, caller: Principal) -> Principal:
        """Return the caller, or raise Forbidden with what is missing."""
        if caller.key_id is not None:
            if not self._scopes:
                raise Forbidden("this needs a signed-in person; an API key is not enough")
            if Scope.FULL not in caller.scopes and not self._scopes & caller.scopes:
                scopes = " or ".join(self.key_scopes)
                raise Forbidden(f"this needs an API key with the scope {scopes}")
        if self._admin and not caller.is_admin:
            raise Forbidden("Admins only")
        if self._role is not None:
            _check_role(caller, self._role)
        return caller


def _check_role(caller: Principal, needed: WorkspaceRole) -> None:
    if caller.role is None:
        if not caller.workspace_id:
            raise NotFound("you are not a member of any workspace; create one first")
        raise NotFound("workspace not found")
    if not caller.role.includes(needed):
        raise Forbidden(f"this needs the role {needed}; you are {caller.role} of this workspace")


SignedIn = Annotated[Principal, Depends(Requires())]
Admin = Annotated[Principal, Depends(Requires(admin=True))]
Reader = Annotated[Principal, Depends(Requires(Scope.READ, role=WorkspaceRole.VIEWER))]
Writer = Annotated[Principal, Depends(Requires(Scope.FULL, role=WorkspaceRole.EDITOR))]
# Administers what a key may administer too.
Manager = Annotated[Principal, Depends(Requires(Scope.FULL, role=WorkspaceRole.ADMIN))]
may_ingest = Requires(Scope.INGEST, role=WorkspaceRole.EDITOR)
Ingester = Annotated[Principal, Depends(may_ingest)]
# An assignment is a read for the application and a write for us, so either scope is enough.
may_assign = Requires(Scope.INGEST, Scope.READ, role=WorkspaceRole.VIEWER)
Assigner = Annotated[Principal, Depends(may_assign)]
# Only people, no keys.
Viewer = Annotated[Principal, Depends(Requires(role=WorkspaceRole.VIEWER))]
WorkspaceAdmin = Annotated[Principal, Depends(Requires(role=WorkspaceRole.ADMIN))]
Owner = Annotated[Principal, Depends(Requires(role=WorkspaceRole.OWNER))]


async def client_address(request: Request) -> str | None:
    return request.client.host if request.client else None


ClientAddress = Annotated[str | None, Depends(client_address)]
