"""Members: role changes, removal and leaving, and roles assigned by single sign-on."""

from spanwise.model.accounts import Principal
from spanwise.model.api_model import utc_now
from spanwise.model.errors import Forbidden, Invalid, NotFound
from spanwise.model.page import Listing, PageRequest
from spanwise.model.workspaces import Member, WorkspaceRole
from spanwise.services import audit
from spanwise.services.access import Access
from spanwise.storage.catalog import Catalog, Transaction
from spanwise.storage.catalog.accounts import invitations as stored_invitations
from spanwise.storage.catalog.accounts import workspaces as stored
from spanwise.storage.catalog.database import serialize_writers

_MEMBERS_LOCK = 7_205_761


class Members:
    def __init__(self, catalog: Catalog, access: Access) -> None:
        self._catalog = catalog
        self._access = access

    async def list(self, caller: Principal, page: PageRequest) -> Listing[Member]:
        async with self._catalog.read() as tx:
            return await stored.list_members(tx, caller.workspace_id, page)

    async def change_role(
        self, caller: Principal, user_id: str, role: WorkspaceRole, address: str | None
    ) -> Member:
        """Change a member's role. Only an owner makes owners, or changes one."""
        async with self._catalog.write() as tx:
            await serialize_writers(tx, _MEMBERS_LOCK)
            before = await _require(tx, caller.workspace_id, user_id)
            own_role = await _own_role(tx, caller)
            check_may_assign(own_role, role)
            check_may_assign(own_role, before.role)
            await stored.update_member(tx, caller.workspace_id, user_id, role)
            await withdraw_invitations(tx, caller.workspace_id, user_id, role, caller.user_id)
            await _require_owner(tx, caller.workspace_id)
            if before.role is not role:
                await audit.record(
                    tx,
                    "member.role_changed",
                    workspace=caller.workspace_id,
                    actor=caller.user_id,
                    subject=user_id,
                    address=address,
                    **{"from": before.role, "to": role},
                )
            after = await _require(tx, caller.workspace_id, user_id)
        self._access.invalidate_user(user_id)
        return after

    async def remove(self, caller: Principal, user_id: str, address: str | None) -> None:
        """Remove a member, or let the caller leave. Keys that the member made stay valid.

        Their open invitations do not: somebody who was removed could come back by one.
        """
        is_leaving = user_id == caller.user_id
        async with self._catalog.write() as tx:
            await serialize_writers(tx, _MEMBERS_LOCK)
            member = await _require(tx, caller.workspace_id, user_id)
            if not is_leaving:
                check_may_assign(await _own_role(tx, caller), member.role)
            await stored.remove_member(tx, caller.workspace_id, user_id)
            await withdraw_invitations(tx, caller.workspace_id, user_id, None, caller.user_id)
            await _require_owner(tx, caller.workspace_id)
            await audit.record(
                tx,
                "member.left" if is_leaving else "member.removed",
                workspace=caller.workspace_id,
                actor=caller.user_id,
                subject=user_id,
                address=address,
                email=member.email,
            )
        self._access.invalidate_user(user_id)


def check_may_assign(own: WorkspaceRole, role: WorkspaceRole) -> None:
    """Raise Forbidden unless a member with role `own` may give or take the other role."""
    if not own.includes(WorkspaceRole.ADMIN):
        raise Forbidden(f"this needs the role {WorkspaceRole.ADMIN}")
    if role is WorkspaceRole.OWNER and own is not WorkspaceRole.OWNER:
        raise Forbidden("only an owner may make, change or remove an owner")


def may_assign(own: WorkspaceRole, role: WorkspaceRole) -> bool:
    return own.includes(WorkspaceRole.ADMIN) and own.includes(role)


async def withdraw_invitations(
    tx: Transaction,
    workspace_id: str,
    user_id: str,
    role: WorkspaceRole | None,
    actor: str | None = None,
) -> None:
    """Withdraw the invitations that somebody with this role, or without one, may not make."""
    roles = [one for one in WorkspaceRole if role is None or not may_assign(role, one)]
    withdrawn = await stored_invitations.delete_invitations_by(tx, workspace_id, user_id, roles)
    for email in withdrawn:
        await audit.record(
            tx, "invitation.withdrawn", workspace=workspace_id, actor=actor, subject=email
        )


async def put_member(
    tx: Transaction, workspace_id: str, user_id: str, role: WorkspaceRole, address: str | None
) -> str | None:
    """Give a person the role that single sign-on says; return the problem if it cannot be."""
    await serialize_writers(tx, _MEMBERS_LOCK)
    if await stored.find_workspace_name(tx, workspace_id) is None:
        return "there is no such workspace"
    member = await stored.find_member(tx, workspace_id, user_id)
    if member is not None and member.role is role:
        return None
    details: dict[str, str] = {"role": role}
    if member is None:
        await stored.add_member(tx, workspace_id, user_id, role, utc_now())
    elif member.role is WorkspaceRole.OWNER and await stored.count_owners(tx, workspace_id) == 1:
        return "the workspace would be without an owner"
    else:
        await stored.update_member(tx, workspace_id, user_id, role)
        await withdraw_invitations(tx, workspace_id, user_id, role)
        details = {"from": member.role, "to": role}
    await audit.record(
        tx,
        "member.joined" if member is None else "member.role_changed",
        workspace=workspace_id,
        actor=user_id,
        subject=None if member is None else user_id,
        address=address,
        method="oidc",
        **details,
    )
    return None


async def _own_role(tx: Transaction, caller: Principal) -> WorkspaceRole:
    """Read the caller's role again: the one that was cached may have been taken away."""
    member = await stored.find_member(tx, caller.workspace_id, caller.user_id)
    if member is None:
        raise NotFound("workspace not found")
    return member.role


async def _require(tx: Transaction, workspace_id: str, user_id: str) -> Member:
    member = await stored.find_member(tx, workspace_id, user_id)
    if member is None:
        raise NotFound("member not found")
    return member


async def _require_owner(tx: Transaction, workspace_id: str) -> None:
    if await stored.count_owners(tx, workspace_id) == 0:
        raise Invalid("a workspace needs an active owner; make another member owner first")
