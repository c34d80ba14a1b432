"""Accounts as storage sees them, and cheap hashes of their passwords."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher

from spanwise.model.accounts import Account, AdminUser, Role
from spanwise.model.api_model import new_id, utc_now
from spanwise.services.accounts import passwords

_CHEAP_HASHER = PasswordHash((Argon2Hasher(time_cost=1, memory_cost=64, parallelism=1),))
_CHEAP_DUMMY_HASH = _CHEAP_HASHER.hash("a password that nobody has")


@contextmanager
def lower_hash_cost() -> Iterator[None]:
    """Lower the cost of Argon2: signing up would be the slowest part of most tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "_hasher", _CHEAP_HASHER)
        patch.setattr(passwords, "DUMMY_HASH", _CHEAP_DUMMY_HASH)
        yield


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
