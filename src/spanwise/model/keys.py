"""API keys and their scopes."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from spanwise.model.api_model import ApiModel, UtcTime


class Scope(StrEnum):
    FULL = "full"
    INGEST = "ingest"
    READ = "read"


class KeyStatus(StrEnum):
    ACTIVE = "active"
    REVOKED = "revoked"
    EXPIRED = "expired"


class ApiKey(ApiModel):
    id: str
    name: str
    prefix: str
    scopes: list[Scope]
    status: KeyStatus
    created_at: UtcTime
    expires_at: UtcTime | None
    last_used_at: UtcTime | None
    rotated_at: UtcTime | None
    workspace_id: str
    created_by: str | None


class ApiKeyWithSecret(ApiKey):
    """Returned only by create and refresh: the only response with the secret."""

    key: str


@dataclass(frozen=True)
class KeyGrant:
    """The permissions that a valid secret grants, and until when."""

    key_id: str
    user_id: str
    workspace_id: str
    scopes: frozenset[Scope]
    valid_until: datetime | None


def status_at(now: datetime, revoked_at: datetime | None, expires_at: datetime | None) -> KeyStatus:
    """Return the status at a moment; a revoked key stays revoked after it expires."""
    if revoked_at is not None:
        return KeyStatus.REVOKED
    if expires_at is not None and expires_at <= now:
        return KeyStatus.EXPIRED
    return KeyStatus.ACTIVE
