"""Gives an account to the owner of its address, who signs in for the first time.

Whoever registered it never proved to own the address. They must not read what the owner stores from
now on: not with the password or a session, nor as another member, with a key, by an invitation, or
through a receiver of notifications.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from spanwise.model.accounts import Account
from spanwise.model.api_model import utc_now
from spanwise.model.page import PageRequest
from spanwise.model.workspaces import Member, WorkspaceRole
from spanwise.services import audit
from spanwise.services.accounts.passwords import NO_PASSWORD
from spanwise.services.notifications.mail import Mail
from spanwise.services.workspaces.members import withdraw_invitations
from spanwise.services.workspaces.workspaces import add_owned_workspace, first_workspace_name
from spanwise.storage.catalog import Transaction
from spanwise.storage.catalog import events as stored_events
from spanwise.storage.catalog.accounts import keys as stored_keys
from spanwise.storage.catalog.accounts import users as stored
from spanwise.storage.catalog.accounts import workspaces as stored_workspaces
from spanwise.storage.catalog.alerting.alert_settings import remove_receivers

METHOD = "oidc"
_ALL = PageRequest(100_000)


@dataclass(frozen=True)
class TakeOver:
    """The workspaces that changed hands, and what others lost in them."""

    workspaces: Sequence[str]
    losses: Sequence[str]


async def take_over(tx: Transaction, account: Account, address: str | None) -> TakeOver:
    """End all access of others to the account, and to the workspaces that it founded."""
    user, losses, founded = account.user, [], []
    changes = {"email_verified": True, "password_hash": NO_PASSWORD}
    await stored.update_user(tx, user.id, changes)
    await stored.invalidate_tokens(tx, user.id)
    await audit.record(tx, "password.removed", actor=user.id, address=address, method=METHOD)
    for workspace_id in account.memberships:
        members = (await stored_workspaces.list_members(tx, workspace_id, _ALL)).items
        name = await stored_workspaces.find_workspace_name(tx, workspace_id) or workspace_id
        if members[0].user_id == user.id:
            founded.append(workspace_id)
            gone = await _remove_others(tx, workspace_id, members[1:], user.id, address)
            losses += [f"{loss} of the workspace {name}" for loss in gone]
        else:
            await _remove(tx, workspace_id, user.id, user.email, user.id, address)
            losses.append(f"your membership in the workspace {name}")
    default = user.default_workspace_id
    if not founded:
        name = first_workspace_name(user.name)
        founded = [await add_owned_workspace(tx, user.id, name, utc_now())]
    if default not in founded:
        await stored.update_user(tx, user.id, {"default_workspace_id": founded[0]})
    return TakeOver([*account.memberships], losses)


async def _remove_others(
    tx: Transaction, workspace_id: str, others: Sequence[Member], owner: str, address: str | None
) -> list[str]:
    """Remove other members, keys, invitations and receivers; return what was removed."""
    now = utc_now()
    await stored_workspaces.update_member(tx, workspace_id, owner, WorkspaceRole.OWNER)
    for member in others:
        await _remove(tx, workspace_id, member.user_id, member.email, owner, address)
    await withdraw_invitations(tx, workspace_id, owner, None, owner)
    keys = await stored_keys.revoke_keys(tx, workspace_id, now)
    for key_id in keys:
        await audit.record(
            tx, "key.revoked", workspace=workspace_id, actor=owner, subject=key_id, address=address
        )
    webhooks = (await stored_events.list_webhooks(tx, workspace_id, _ALL)).items
    for webhook in webhooks:
        await stored_events.delete_webhook(tx, workspace_id, webhook.id, now)
    receivers = await remove_receivers(tx, workspace_id)
    counts = {"keys": len(keys), "webhooks": len(webhooks), "receivers of alerts": receivers}
    return [
        *(f"the member {member.email}" for member in others),
        *(f"{name} ({count})" for name, count in counts.items() if count),
    ]


async def _remove(
    tx: Transaction, workspace_id: str, user_id: str, email: str, actor: str, address: str | None
) -> None:
    await stored_workspaces.remove_member(tx, workspace_id, user_id)
    await withdraw_invitations(tx, workspace_id, user_id, None, actor)
    await audit.record(
        tx,
        "member.left" if user_id == actor else "member.removed",
        workspace=workspace_id,
        actor=actor,
        subject=user_id,
        address=address,
        email=email,
    )


def write_mail(email: str, losses: Sequence[str]) -> Mail:
    lost = "".join(f"- {loss}\n" for loss in losses) or "- nothing else\n"
    return Mail(
        to=email,
        subject="Others no longer have access to your Spanwise account",
        text=(
            "You signed in through your organization to an account that was registered with your "
            "address, but never confirmed by mail. Whoever registered it could have read what you "
            f"store, so its password and all sessions ended, and these were removed:\n\n{lost}\n"
            "Invite the people you work with again, and create new keys.\n"
        ),
    )
