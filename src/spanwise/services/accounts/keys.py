"""API keys: create, rotate, revoke, delete. The secret is shown once and stored as a hash."""

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta

from spanwise.model.accounts import Principal
from spanwise.model.api_model import new_id, utc_now
from spanwise.model.errors import Invalid, NotFound
from spanwise.model.events import EventType
from spanwise.model.keys import ApiKey, ApiKeyWithSecret, KeyStatus, Scope
from spanwise.model.page import Listing, PageRequest
from spanwise.services.access import KEY_PREFIX, Access
from spanwise.services.audit import record_action
from spanwise.services.notifications.events import record_event
from spanwise.services.tokens import hash_secret
from spanwise.storage.catalog import Catalog, Transaction
from spanwise.storage.catalog.accounts import keys as stored
from spanwise.storage.catalog.accounts.workspaces import find_workspace

_SECRET_BYTES = 24
_PREFIX_CHARACTERS = 11


class Keys:
    def __init__(self, catalog: Catalog, access: Access) -> None:
        self._catalog = catalog
        self._access = access

    async def create(
        self,
        caller: Principal,
        name: str,
        scopes: Sequence[Scope],
        expires_at: datetime | None,
        address: str | None,
    ) -> ApiKeyWithSecret:
        now = utc_now()
        if expires_at is not None and expires_at <= now:
            raise Invalid.field("expiresAt", "must lie in the future")
        if expires_at is None and await self._requires_expiry(caller):
            raise Invalid.field("expiresAt", "is required in this workspace")
        secret = _new_key_secret()
        key = new_key(caller.workspace_id, name, scopes, expires_at, secret)
        async with self._catalog.write() as tx:
            await stored.add_key(tx, caller.user_id, key, hash_secret(secret))
            await record_action(
                tx, caller, "key.created", key.id, address, name=name, scopes=list(key.scopes)
            )
            key = await _require(tx, caller, key.id)
        return ApiKeyWithSecret(**key.model_dump(), key=secret)

    async def list(self, caller: Principal, page: PageRequest) -> Listing[ApiKey]:
        await self._access.write_key_uses()
        async with self._catalog.read() as tx:
            return await stored.list_keys(tx, caller.workspace_id, page)

    async def refresh(
        self, caller: Principal, key_id: str, grace_seconds: int, address: str | None
    ) -> ApiKeyWithSecret:
        """Replace the secret; the old one stays valid for the grace period, if any."""
        now = utc_now()
        secret = _new_key_secret()
        async with self._catalog.write() as tx:
            await _require_active(tx, caller, key_id)
            await stored.rotate_key(
                tx,
                caller.workspace_id,
                key_id,
                prefix=secret[:_PREFIX_CHARACTERS],
                secret_hash=hash_secret(secret),
                now=now,
                old_valid_until=now + timedelta(seconds=grace_seconds) if grace_seconds else None,
            )
            await record_action(
                tx, caller, "key.rotated", key_id, address, graceSeconds=grace_seconds
            )
            key = await _require(tx, caller, key_id)
            await _record_event(tx, caller, EventType.KEY_ROTATED, key)
        self._access.invalidate_key(key_id)
        return ApiKeyWithSecret(**key.model_dump(), key=secret)

    async def revoke(self, caller: Principal, key_id: str, address: str | None) -> ApiKey:
        async with self._catalog.write() as tx:
            await _require_active(tx, caller, key_id)
            await stored.revoke_key(tx, caller.workspace_id, key_id, utc_now())
            await record_action(tx, caller, "key.revoked", key_id, address)
            key = await _require(tx, caller, key_id)
            await _record_event(tx, caller, EventType.KEY_REVOKED, key)
        self._access.invalidate_key(key_id)
        return key

    async def delete(self, caller: Principal, key_id: str, address: str | None) -> None:
        async with self._catalog.write() as tx:
            key = await _require(tx, caller, key_id)
            await stored.delete_key(tx, caller.workspace_id, key_id)
            await record_action(tx, caller, "key.deleted", key_id, address, name=key.name)
        self._access.invalidate_key(key_id)

    async def _requires_expiry(self, caller: Principal) -> bool:
        async with self._catalog.read() as tx:
            workspace = await find_workspace(tx, caller.workspace_id, caller.user_id)
        return workspace is not None and workspace.require_key_expiry


def new_key(
    workspace_id: str,
    name: str,
    scopes: Sequence[Scope],
    expires_at: datetime | None,
    secret: str,
) -> ApiKey:
    return ApiKey(
        id=new_id("key"),
        name=name,
        prefix=secret[:_PREFIX_CHARACTERS],
        scopes=sorted(set(scopes)),
        status=KeyStatus.ACTIVE,
        created_at=utc_now(),
        expires_at=expires_at,
        last_used_at=None,
        rotated_at=None,
        workspace_id=workspace_id,
        created_by=None,
    )


def _new_key_secret() -> str:
    return KEY_PREFIX + secrets.token_hex(_SECRET_BYTES)


async def _record_event(tx: Transaction, caller: Principal, event: EventType, key: ApiKey) -> None:
    await record_event(
        tx,
        caller.workspace_id,
        event,
        actor=caller.caller_id,
        subject=key.id,
        name=key.name,
        prefix=key.prefix,
    )


async def _require(tx: Transaction, caller: Principal, key_id: str) -> ApiKey:
    key = await stored.find_key(tx, caller.workspace_id, key_id)
    if key is None:
        raise NotFound("API key not found")
    return key


async def _require_active(tx: Transaction, caller: Principal, key_id: str) -> None:
    key = await _require(tx, caller, key_id)
    if key.status is not KeyStatus.ACTIVE:
        raise Invalid(f"the key is {key.status}; only an active key can be changed")
