"""API keys and their scopes."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from spanwise.model.record import Noun, UtcTime


class Scope(StrEnum):
    FULL = "full"
    INGEST = "ingest"
    READ = "read"


class KeyStatus(StrEnum):
    ACTIVE = "active"
    REVOKED = "revoked"
    EXPIRED = "expired"


class ApiKey(Noun):
    id: str
    name: str
    prefix: str
    scopes: list[Scope]
    status: KeyStatus
    created_at: UtcTime
    expires_at: UtcTime | None
    last_used_at: UtcTime | None
    rotated_at: UtcTime | None


class ApiKeyWithSecret(ApiKey):
    """The only record that holds the secret: the answer of create and of refresh."""

    key: str


@dataclass(frozen=True)
class KeyGrant:
    """What a presented secret opens, and until when."""

    key_id: str
    user_id: str
    workspace_id: str
    scopes: frozenset[Scope]
    valid_until: datetime | None


def status_at(now: datetime, revoked_at: datetime | None, expires_at: datetime | None) -> KeyStatus:
    """A key is revoked by hand, expires by time, and is active otherwise."""
    if revoked_at is not None:
        return KeyStatus.REVOKED
    if expires_at is not None and expires_at <= now:
        return KeyStatus.EXPIRED
    return KeyStatus.ACTIVE
