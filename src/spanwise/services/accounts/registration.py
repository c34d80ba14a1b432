"""Adds accounts: shared by registration with a password and by single sign-on."""

from dataclasses import dataclass, replace

from spanwise.model.accounts import Account, AdminUser, Role
from spanwise.model.api_model import new_id, utc_now
from spanwise.model.errors import Invalid
from spanwise.model.workspaces import WorkspaceRole
from spanwise.services.workspaces.workspaces import add_owned_workspace, first_workspace_name
from spanwise.storage.catalog import Transaction
from spanwise.storage.catalog.accounts import users as stored
from spanwise.storage.catalog.database import serialize_writers

# Also held by changes of accounts that must not leave the installation without an admin.
ACCOUNTS_LOCK = 7_205_760


@dataclass(frozen=True)
class NewAccount:
    email: str
    name: str
    password_hash: str
    is_verified: bool = False


async def lock_registration(tx: Transaction) -> bool:
    """Return whether there is no account yet.

    Without the lock, two concurrent registrations could both become the first account.
    """
    await serialize_writers(tx, ACCOUNTS_LOCK)
    return await stored.count_users(tx) == 0


async def add_account(tx: Transaction, new: NewAccount, *, is_first: bool) -> Account:
    """Add an account with its own workspace. The first one is admin."""
    account = Account(
        user=AdminUser(
            id=new_id("usr"),
            email=new.email,
            name=new.name,
            role=Role.ADMIN if is_first else Role.MEMBER,
            email_verified=new.is_verified,
            created_at=utc_now(),
            last_login_at=None,
            disabled=False,
            default_workspace_id=None,
        ),
        password_hash=new.password_hash,
        token_version=1,
    )
    if not await stored.add_account(tx, account):
        raise Invalid.field("email", "an account with this address already exists")
    user = account.user
    workspace_id = await add_owned_workspace(
        tx, user.id, first_workspace_name(user.name), user.created_at
    )
    default = {"default_workspace_id": workspace_id}
    await stored.update_user(tx, user.id, default)
    memberships = {workspace_id: WorkspaceRole.OWNER}
    return replace(account, user=user.model_copy(update=default), memberships=memberships)
