"""Invitations: a link that makes the person with one address a member, once, within seven days."""

from datetime import timedelta

from spanwise.model.accounts import Principal
from spanwise.model.api_model import new_id, utc_now
from spanwise.model.errors import Forbidden, Invalid, NotFound, RateLimited
from spanwise.model.page import Listing, PageRequest
from spanwise.model.workspaces import (
    Invitation,
    InvitationPreview,
    InvitationWithLink,
    Workspace,
    WorkspaceRole,
)
from spanwise.services import audit
from spanwise.services.access import Access
from spanwise.services.notifications.mail import Mail, Mailer
from spanwise.services.tokens import hash_secret, new_secret
from spanwise.services.workspaces.members import check_may_assign, may_assign
from spanwise.storage.catalog import Catalog, Transaction
from spanwise.storage.catalog.accounts import invitations as stored
from spanwise.storage.catalog.accounts import users as stored_users
from spanwise.storage.catalog.accounts import workspaces as stored_workspaces

LIFETIME = timedelta(days=7)
# Invitations are mails to addresses that the caller chooses.
MAX_OPEN = 100


class Invitations:
    def __init__(
        self, catalog: Catalog, access: Access, mailer: Mailer, public_address: str
    ) -> None:
        self._catalog = catalog
        self._access = access
        self._mailer = mailer
        self._public_address = public_address

    async def list(self, caller: Principal, page: PageRequest) -> Listing[Invitation]:
        async with self._catalog.read() as tx:
            return await stored.list_invitations(tx, caller.workspace_id, utc_now(), page)

    async def invite(
        self, caller: Principal, email: str, role: WorkspaceRole, address: str | None
    ) -> InvitationWithLink:
        """Mail a link to an address; a new invitation replaces an earlier one."""
        check_may_assign(caller.role or WorkspaceRole.VIEWER, role)
        now, secret = utc_now(), new_secret()
        async with self._catalog.write() as tx:
            if await stored_workspaces.find_member_by_email(tx, caller.workspace_id, email):
                raise Invalid.field("email", "is already a member of this workspace")
            if await stored.count_invitations(tx, caller.workspace_id) >= MAX_OPEN:
                raise RateLimited(f"a workspace has at most {MAX_OPEN} open invitations", 3600)
            name = await stored_workspaces.find_workspace_name(tx, caller.workspace_id)
            inviter = await stored_users.find_account(tx, caller.user_id)
            if name is None or inviter is None:
                raise NotFound("workspace not found")
            invitation = Invitation(
                id=new_id("inv"),
                email=email,
                role=role,
                invited_by=inviter.user.name,
                created_at=now,
                expires_at=now + LIFETIME,
            )
            await stored.replace_invitation(
                tx, caller.workspace_id, invitation, caller.user_id, hash_secret(secret)
            )
            await audit.record(
                tx,
                "member.invited",
                workspace=caller.workspace_id,
                actor=caller.user_id,
                subject=email,
                address=address,
                role=role,
            )
        link = f"{self._public_address}/invitation?token={secret}"
        self._mailer.send_in_background(
            Mail(
                to=email,
                subject=f"{inviter.user.name} invited you to {name}",
                text=(
                    f"{inviter.user.name} ({inviter.user.email}) invited you to the workspace "
                    f"“{name}” on Spanwise, as {role}.\n\n"
                    f"Accept within seven days:\n{link}\n"
                ),
                link=link,
            )
        )
        return InvitationWithLink(**invitation.model_dump(), link=link)

    async def withdraw(self, caller: Principal, invitation_id: str, address: str | None) -> None:
        async with self._catalog.write() as tx:
            email = await stored.delete_invitation(tx, caller.workspace_id, invitation_id)
            if email is None:
                raise NotFound("invitation not found")
            await audit.record(
                tx,
                "invitation.withdrawn",
                workspace=caller.workspace_id,
                actor=caller.user_id,
                subject=email,
                address=address,
            )

    async def preview(self, token: str) -> InvitationPreview:
        """Return who invited whom into what."""
        async with self._catalog.read() as tx:
            _, preview = await _require(tx, token)
        return preview

    async def accept(self, caller: Principal, token: str, address: str | None) -> Workspace:
        """Make the caller a member, if the invitation is for their address."""
        async with self._catalog.write() as tx:
            account = await stored_users.find_account(tx, caller.user_id)
            if account is None:
                raise NotFound("user not found")
            workspace_id = await accept_invitation(
                tx, token, caller.user_id, account.user.email, address
            )
            workspace = await stored_workspaces.find_workspace(tx, workspace_id, caller.user_id)
        self._access.invalidate_user(caller.user_id)
        if workspace is None:
            raise NotFound("workspace not found")
        return workspace


async def accept_invitation(
    tx: Transaction, token: str, user_id: str, email: str, address: str | None
) -> str:
    """Use up an invitation: add the person as a member and return the workspace."""
    invitation_id, invitation = await _require(tx, token)
    if invitation.email != email:
        raise Forbidden(f"this invitation is for {invitation.email}; sign in with that address")
    workspace_id = invitation.workspace_id
    if await stored.delete_invitation(tx, workspace_id, invitation_id) is None:
        raise _unknown_token()
    if await stored_workspaces.find_member(tx, workspace_id, user_id) is None:
        await stored_workspaces.add_member(tx, workspace_id, user_id, invitation.role, utc_now())
    await stored_users.update_user(tx, user_id, {"default_workspace_id": workspace_id})
    await audit.record(
        tx,
        "member.joined",
        workspace=workspace_id,
        actor=user_id,
        address=address,
        role=invitation.role,
    )
    return workspace_id


async def _require(tx: Transaction, token: str) -> tuple[str, InvitationPreview]:
    """Return the id and content of an invitation that its inviter could still make."""
    row = await stored.find_by_token(tx, hash_secret(token), utc_now())
    if row is None:
        raise _unknown_token()
    invitation_id, inviter_role, invitation = row
    if not may_assign(inviter_role, invitation.role):
        raise _unknown_token()
    return invitation_id, invitation


def _unknown_token() -> Invalid:
    return Invalid.field("token", "is unknown, already used or expired; ask for a new invitation")
