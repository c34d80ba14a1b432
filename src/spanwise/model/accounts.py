"""Users, the authenticated caller, and the audit log."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from spanwise.model.api_model import ApiModel, UtcTime
from spanwise.model.keys import Scope


class Role(StrEnum):
    ADMIN = "admin"
    MEMBER = "member"


class User(ApiModel):
    id: str
    email: str
    name: str
    role: Role
    email_verified: bool
    created_at: UtcTime
    last_login_at: UtcTime | None


class AdminUser(User):
    """A user as shown to administrators."""

    disabled: bool


@dataclass(frozen=True)
class Account:
    """A user with the data that sign-in needs; never sent to clients."""

    user: AdminUser
    workspace_id: str
    password_hash: str
    token_version: int


class Sender(NamedTuple):
    """Who sent telemetry to which workspace: the `caller_id` of a `Principal`."""

    workspace: str
    caller: str


@dataclass(frozen=True)
class Principal:
    """The authenticated caller: a user by token, or one of their API keys."""

    user_id: str
    workspace_id: str
    role: Role
    key_id: str | None = None
    scopes: frozenset[Scope] = frozenset({Scope.FULL})

    @property
    def caller_id(self) -> str:
        """The id used by rate limits and events: the key if there is one, else the user."""
        return self.key_id or self.user_id

    @property
    def sender(self) -> Sender:
        return Sender(self.workspace_id, self.caller_id)


class TokenPurpose(StrEnum):
    VERIFY_EMAIL = "verify_email"
    RESET_PASSWORD = "reset_password"


class AuditEntry(ApiModel):
    """One security-relevant action: who did what to whom, from which address."""

    id: str
    at: UtcTime
    action: str
    actor: str | None
    subject: str | None
    address: str | None
    data: dict[str, Any]
