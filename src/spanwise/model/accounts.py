"""Users, who is calling, and what was recorded about it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from spanwise.model.keys import Scope
from spanwise.model.record import Noun, UtcTime


class Role(StrEnum):
    ADMIN = "admin"
    MEMBER = "member"


class User(Noun):
    id: str
    email: str
    name: str
    role: Role
    email_verified: bool
    created_at: UtcTime
    last_login_at: UtcTime | None


class AdminUser(User):
    """A user as an administrator sees them."""

    disabled: bool


@dataclass(frozen=True)
class Account:
    """A user with what only sign-in needs; never leaves the service."""

    user: AdminUser
    workspace_id: str
    password_hash: str
    token_version: int


@dataclass(frozen=True)
class Principal:
    """Who is calling: an account by token, or one of its API keys."""

    user_id: str
    workspace_id: str
    role: Role
    key_id: str | None = None
    scopes: frozenset[Scope] = frozenset({Scope.FULL})

    @property
    def caller_id(self) -> str:
        """The id that rate limits and the audit trail know the caller by."""
        return self.key_id or self.user_id


class TokenPurpose(StrEnum):
    VERIFY_EMAIL = "verify_email"
    RESET_PASSWORD = "reset_password"


class AuditEntry(Noun):
    """One security-relevant act: who did what to whom, from where."""

    id: str
    at: UtcTime
    action: str
    actor: str | None
    subject: str | None
    address: str | None
    data: dict[str, Any]
