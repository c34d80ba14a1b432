"""Workspaces: create, rename, delete."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from spanwise.model.accounts import Principal
from spanwise.model.api_model import new_id, utc_now
from spanwise.model.errors import Invalid, NotFound
from spanwise.model.page import Listing, PageRequest
from spanwise.model.workspaces import Workspace, WorkspaceRole
from spanwise.services import audit
from spanwise.services.access import Access
from spanwise.services.workspaces.retention import check_retention
from spanwise.storage.catalog import Catalog, Transaction
from spanwise.storage.catalog.accounts import workspaces as stored

_MAX_OWN_NAME = 100


class Workspaces:
    def __init__(
        self,
        catalog: Catalog,
        access: Access,
        installation_days: int,
        wake_retention: Callable[[], None],
    ) -> None:
        self._catalog = catalog
        self._access = access
        self._installation_days = installation_days
        self._wake_retention = wake_retention

    async def list(self, caller: Principal, page: PageRequest) -> Listing[Workspace]:
        async with self._catalog.read() as tx:
            return await stored.list_workspaces(tx, caller.user_id, page)

    async def find(self, caller: Principal) -> Workspace:
        async with self._catalog.read() as tx:
            return await _require(tx, caller)

    async def create(self, caller: Principal, name: str, address: str | None) -> Workspace:
        """Create a workspace that the caller owns."""
        async with self._catalog.write() as tx:
            workspace_id = await add_owned_workspace(tx, caller.user_id, name, utc_now())
            await audit.record(
                tx,
                "workspace.created",
                workspace=workspace_id,
                actor=caller.user_id,
                address=address,
                name=name,
            )
            created = await _require(tx, caller.in_workspace(workspace_id))
        self._access.invalidate_user(caller.user_id)
        return created

    async def update(
        self, caller: Principal, changes: Mapping[str, Any], address: str | None
    ) -> Workspace:
        """Change some fields. A retention that is None keeps everything."""
        async with self._catalog.write() as tx:
            before = await _require(tx, caller)
            changed = {
                field: value for field, value in changes.items() if getattr(before, field) != value
            }
            after = before.model_copy(update=changed)
            check_retention(
                after.retention_days, after.content_retention_days, self._installation_days
            )
            await stored.update_workspace(tx, caller.workspace_id, changed)
            if changed:
                await audit.record(
                    tx,
                    "workspace.changed",
                    workspace=caller.workspace_id,
                    actor=caller.user_id,
                    address=address,
                    **changed,
                )
            after = await _require(tx, caller)
        self._wake_retention()
        return after

    async def delete(self, caller: Principal, name: str, address: str | None) -> None:
        """Delete a workspace with everything in it. Its telemetry is removed in the background."""
        async with self._catalog.write() as tx:
            workspace = await _require(tx, caller)
            if name != workspace.name:
                raise Invalid.field("name", f"repeat the name of the workspace: {workspace.name}")
            if len(await stored.find_memberships(tx, caller.user_id)) == 1:
                raise Invalid("this is your last workspace; create another one first")
            await stored.delete_workspace(tx, caller.workspace_id, utc_now())
            await audit.record(
                tx,
                "workspace.deleted",
                actor=caller.user_id,
                subject=caller.workspace_id,
                address=address,
                name=workspace.name,
            )
        self._access.invalidate_workspace(caller.workspace_id)
        self._wake_retention()


async def add_owned_workspace(tx: Transaction, user_id: str, name: str, now: datetime) -> str:
    """Add a workspace with one owner; return its id."""
    workspace_id = new_id("wsp")
    await stored.add_workspace(tx, workspace_id, name, now)
    await stored.add_member(tx, workspace_id, user_id, WorkspaceRole.OWNER, now)
    return workspace_id


def first_workspace_name(person: str) -> str:
    """Return the name of the workspace that a new account gets."""
    return f"{person[:_MAX_OWN_NAME]}'s workspace"


async def _require(tx: Transaction, caller: Principal) -> Workspace:
    workspace = await stored.find_workspace(tx, caller.workspace_id, caller.user_id)
    if workspace is None:
        raise NotFound("workspace not found")
    return workspace
