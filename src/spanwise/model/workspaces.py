"""Workspaces, their members and roles, and invitations."""

from dataclasses import dataclass
from enum import StrEnum

from spanwise.model.api_model import ApiModel, UtcTime
from spanwise.model.masking import MaskingRules


class WorkspaceRole(StrEnum):
    """Each role may do everything that the roles before it may."""

    VIEWER = "viewer"
    EDITOR = "editor"
    ADMIN = "admin"
    OWNER = "owner"

    def includes(self, other: "WorkspaceRole") -> bool:
        roles = list(WorkspaceRole)
        return roles.index(self) >= roles.index(other)


class Workspace(ApiModel):
    """A workspace as one of its members sees it: `role` is the caller's."""

    id: str
    name: str
    created_at: UtcTime
    role: WorkspaceRole
    members: int
    require_key_expiry: bool
    retention_days: int | None
    content_retention_days: int | None
    masking: MaskingRules


@dataclass(frozen=True)
class WorkspaceSummary:
    """A workspace as the operator sees it; `owners` are e-mail addresses."""

    id: str
    name: str
    members: int
    owners: list[str]


@dataclass(frozen=True)
class WorkspaceRetention:
    """After how many days everything, and earlier only the contents, is removed."""

    workspace_id: str
    days: int | None
    content_days: int | None


class RetentionPreview(ApiModel):
    """What a retention would remove now: rows by kind, and spans that only lose their contents."""

    rows: dict[str, int]
    spans_without_contents: int


class Member(ApiModel):
    user_id: str
    email: str
    name: str
    role: WorkspaceRole
    joined_at: UtcTime
    last_login_at: UtcTime | None
    disabled: bool


class Invitation(ApiModel):
    id: str
    email: str
    role: WorkspaceRole
    invited_by: str | None
    created_at: UtcTime
    expires_at: UtcTime


class InvitationWithLink(Invitation):
    """Returned only on creation: the only response with the link."""

    link: str


class InvitationPreview(ApiModel):
    """What the person who holds the link sees before accepting it."""

    workspace_id: str
    workspace_name: str
    email: str
    role: WorkspaceRole
    invited_by: str | None
    expires_at: UtcTime
    has_account: bool
