"""Accounts as storage sees them."""

from spanwise.model.accounts import Account, AdminUser, Role
from spanwise.model.api_model import new_id, utc_now


def make_account(
    email: str = "ann@example.com", role: Role = Role.MEMBER, *, disabled: bool = False
) -> Account:
    user = AdminUser(
        id=new_id("usr"),
        email=email,
        name="Ann",
        role=role,
        email_verified=False,
        created_at=utc_now(),
        last_login_at=None,
        disabled=disabled,
        default_workspace_id=None,
    )
    return Account(user, password_hash="$hash", token_version=1)
