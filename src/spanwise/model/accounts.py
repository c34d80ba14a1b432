"""Users, the authenticated caller, and the audit log."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, NamedTuple

from spanwise.model.api_model import ApiModel, UtcTime
from spanwise.model.keys import Scope
from spanwise.model.times import TimeRange
from spanwise.model.workspaces import WorkspaceRole


class Role(StrEnum):
    """Whether an account administers the installation; `WorkspaceRole` is per workspace."""

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
    default_workspace_id: str | None


class AdminUser(User):
    """A user as shown to administrators."""

    disabled: bool


@dataclass(frozen=True)
class Account:
    """A user with the data that sign-in needs; never sent to clients."""

    user: AdminUser
    password_hash: str
    token_version: int
    # By workspace, in the order of joining.
    memberships: Mapping[str, WorkspaceRole] = field(default_factory=dict)

    @property
    def default_workspace_id(self) -> str | None:
        """The chosen workspace, or the first one if the person is no longer a member of it."""
        chosen = self.user.default_workspace_id
        return chosen if chosen in self.memberships else next(iter(self.memberships), None)


class Sender(NamedTuple):
    """Who sent telemetry to which workspace: the `caller_id` of a `Principal`."""

    workspace: str
    caller: str


@dataclass(frozen=True)
class Principal:
    """The authenticated caller, a person or an API key, and the workspace that they work in.

    `role` is None for a person who is not a member of the workspace.
    """

    user_id: str
    workspace_id: str
    role: WorkspaceRole | None
    is_admin: bool = False
    key_id: str | None = None
    scopes: frozenset[Scope] = frozenset({Scope.FULL})
    memberships: Mapping[str, WorkspaceRole] = field(default_factory=dict, hash=False)

    @classmethod
    def of_account(cls, account: Account, workspace_id: str | None = None) -> "Principal":
        """The person in the named workspace, or else in their default one."""
        found = workspace_id or account.default_workspace_id or ""
        return cls(
            account.user.id,
            found,
            account.memberships.get(found),
            is_admin=account.user.role is Role.ADMIN,
            memberships=account.memberships,
        )

    def in_workspace(self, workspace_id: str) -> "Principal":
        return replace(self, workspace_id=workspace_id, role=self.memberships.get(workspace_id))

    def may_write(self, needed: WorkspaceRole) -> bool:
        """Return whether they may do what needs this role and, with a key, the scope `full`."""
        has_role = self.role is not None and self.role.includes(needed)
        return has_role and Scope.FULL in self.scopes

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


class SingleSignOnOption(ApiModel):
    name: str


class SignInOptions(ApiModel):
    """What the sign-in page offers."""

    has_accounts: bool
    open_registration: bool
    password_login: bool
    single_sign_on: SingleSignOnOption | None


class AuditEntry(ApiModel):
    """One security-relevant action: who did what to whom, from which address.

    Without a workspace it concerns the whole installation.
    """

    id: str
    workspace_id: str | None
    at: UtcTime
    action: str
    actor: str | None
    actor_name: str | None = None
    subject: str | None
    subject_name: str | None = None
    address: str | None
    data: dict[str, Any]


@dataclass(frozen=True)
class AuditFilter:
    """Which entries to list; None means any."""

    period: TimeRange
    workspace_id: str | None = None
    actor: str | None = None
    action: str | None = None
