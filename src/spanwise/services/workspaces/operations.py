"""What the operator may do to any workspace from the command line."""

from collections.abc import Sequence

from spanwise.model.api_model import utc_now
from spanwise.model.errors import Invalid, NotFound
from spanwise.model.page import PageRequest
from spanwise.model.workspaces import Member, WorkspaceRole, WorkspaceSummary
from spanwise.services import audit
from spanwise.services.workspaces.members import withdraw_invitations
from spanwise.storage.catalog import Catalog, Transaction
from spanwise.storage.catalog.accounts import users as stored_users
from spanwise.storage.catalog.accounts import workspaces as stored

_ALL = PageRequest(10_000)


class WorkspaceOperations:
    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    async def list_workspaces(self) -> list[WorkspaceSummary]:
        async with self._catalog.read() as tx:
            return await stored.summarize_workspaces(tx)

    async def list_members(self, workspace_id: str) -> Sequence[Member]:
        async with self._catalog.read() as tx:
            await _require_workspace(tx, workspace_id)
            return (await stored.list_members(tx, workspace_id, _ALL)).items

    async def put_member(self, workspace_id: str, email: str, role: WorkspaceRole) -> None:
        """Add a member, or change the role of one."""
        async with self._catalog.write() as tx:
            await _require_workspace(tx, workspace_id)
            account = await stored_users.find_account_by_email(tx, email)
            if account is None:
                raise NotFound(f"there is no account {email}")
            user_id = account.user.id
            if workspace_id in account.memberships:
                await stored.update_member(tx, workspace_id, user_id, role)
                await withdraw_invitations(tx, workspace_id, user_id, role)
            else:
                await stored.add_member(tx, workspace_id, user_id, role, utc_now())
            await _finish(tx, "member.role_changed", workspace_id, user_id, to=role)

    async def remove_member(self, workspace_id: str, email: str) -> None:
        async with self._catalog.write() as tx:
            member = await stored.find_member_by_email(tx, workspace_id, email)
            if member is None:
                raise NotFound(f"{email} is not a member of {workspace_id}")
            await stored.remove_member(tx, workspace_id, member.user_id)
            await withdraw_invitations(tx, workspace_id, member.user_id, None)
            await _finish(tx, "member.removed", workspace_id, member.user_id, email=email)


async def _require_workspace(tx: Transaction, workspace_id: str) -> None:
    if await stored.find_workspace_name(tx, workspace_id) is None:
        raise NotFound(f"there is no workspace {workspace_id}; see `spanwise workspace list`")


async def _finish(
    tx: Transaction, action: str, workspace_id: str, user_id: str, **data: str
) -> None:
    if await stored.count_owners(tx, workspace_id) == 0:
        raise Invalid("a workspace needs an active owner")
    await audit.record(tx, action, workspace=workspace_id, subject=user_id, **data)
