"""API keys, looked up by the hash of their secret."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Row, Select, bindparam, delete, exists, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from spanwise.model.api_model import utc_now
from spanwise.model.keys import ApiKey, KeyGrant, Scope, status_at
from spanwise.model.page import Listing, PageRequest
from spanwise.storage.catalog.database import Transaction
from spanwise.storage.catalog.tables import UtcDateTime, api_keys, key_addresses, memberships, users


async def add_key(tx: Transaction, user_id: str, key: ApiKey, secret_hash: str) -> None:
    await tx.execute(
        insert(api_keys).values(
            **key.model_dump(by_alias=False, exclude={"status", "created_by"}),
            user_id=user_id,
            secret_hash=secret_hash,
        )
    )


async def list_keys(tx: Transaction, workspace_id: str, page: PageRequest) -> Listing[ApiKey]:
    in_workspace = api_keys.c.workspace_id == workspace_id
    total = await tx.execute(select(func.count()).select_from(api_keys).where(in_workspace))
    rows = await tx.execute(
        _select_keys()
        .where(in_workspace)
        .order_by(api_keys.c.id.desc())
        .limit(page.limit)
        .offset(page.skip)
    )
    return Listing([_to_key(row) for row in rows], total.scalar_one())


async def find_key(tx: Transaction, workspace_id: str, key_id: str) -> ApiKey | None:
    row = (
        await tx.execute(
            _select_keys().where(api_keys.c.workspace_id == workspace_id, api_keys.c.id == key_id)
        )
    ).one_or_none()
    return None if row is None else _to_key(row)


async def rotate_key(
    tx: Transaction,
    workspace_id: str,
    key_id: str,
    *,
    prefix: str,
    secret_hash: str,
    now: datetime,
    old_valid_until: datetime | None,
) -> None:
    """Replace the secret; the old one stays valid until a time, or not at all."""
    await tx.execute(
        update(api_keys)
        .where(api_keys.c.workspace_id == workspace_id, api_keys.c.id == key_id)
        .values(
            prefix=prefix,
            secret_hash=secret_hash,
            previous_hash=None if old_valid_until is None else api_keys.c.secret_hash,
            previous_valid_until=old_valid_until,
            rotated_at=now,
        )
    )


async def revoke_key(tx: Transaction, workspace_id: str, key_id: str, now: datetime) -> None:
    await tx.execute(
        update(api_keys)
        .where(api_keys.c.workspace_id == workspace_id, api_keys.c.id == key_id)
        .values(revoked_at=now, previous_hash=None, previous_valid_until=None)
    )


async def revoke_keys(tx: Transaction, workspace_id: str, now: datetime) -> list[str]:
    """Revoke all keys of a workspace; return their ids."""
    revoked = await tx.execute(
        update(api_keys)
        .where(api_keys.c.workspace_id == workspace_id, api_keys.c.revoked_at.is_(None))
        .values(revoked_at=now, previous_hash=None, previous_valid_until=None)
        .returning(api_keys.c.id)
    )
    return sorted(revoked.scalars())


async def delete_key(tx: Transaction, workspace_id: str, key_id: str) -> bool:
    deleted = await tx.execute(
        delete(api_keys).where(api_keys.c.workspace_id == workspace_id, api_keys.c.id == key_id)
    )
    return deleted.rowcount > 0


async def find_grant(tx: Transaction, secret_hash: str) -> KeyGrant | None:
    """Return the grant of a secret, or None when it is unknown or revoked.

    A key outlives the membership of its maker, but not that of the last active member.
    """
    active_member = (
        exists()
        .where(memberships.c.workspace_id == api_keys.c.workspace_id)
        .where(memberships.c.user_id == users.c.id, users.c.disabled.is_(False))
    )
    row = (
        await tx.execute(
            select(api_keys).where(
                or_(
                    api_keys.c.secret_hash == secret_hash,
                    api_keys.c.previous_hash == secret_hash,
                ),
                api_keys.c.revoked_at.is_(None),
                active_member,
            )
        )
    ).one_or_none()
    if row is None:
        return None
    ends = [row.expires_at, row.previous_valid_until if row.previous_hash == secret_hash else None]
    return KeyGrant(
        key_id=row.id,
        user_id=row.user_id,
        workspace_id=row.workspace_id,
        scopes=frozenset(Scope(scope) for scope in row.scopes),
        valid_until=min((end for end in ends if end is not None), default=None),
    )


async def update_last_used(tx: Transaction, uses: Mapping[str, datetime]) -> None:
    """Update when keys were last used; a later time is never overwritten."""
    if uses:
        used_at = bindparam("used_at", type_=UtcDateTime)
        earlier = or_(api_keys.c.last_used_at.is_(None), api_keys.c.last_used_at < used_at)
        await tx.execute(
            update(api_keys)
            .where(api_keys.c.id == bindparam("key_id"), earlier)
            .values(last_used_at=used_at),
            # The same order everywhere prevents deadlocks between replicas.
            [{"key_id": key_id, "used_at": at} for key_id, at in sorted(uses.items())],
        )


async def add_address(tx: Transaction, key_id: str, address: str, limit: int) -> bool:
    """Store an address from which a key was used.

    False when it is stored already, the key has too many, or the key was deleted.
    """
    known = select(key_addresses.c.address).where(key_addresses.c.key_id == key_id)
    addresses = set((await tx.execute(known)).scalars())
    if address in addresses or len(addresses) >= limit:
        return False
    row = {"key_id": key_id, "address": address, "first_used_at": utc_now()}
    try:
        async with tx.begin_nested():
            await tx.execute(insert(key_addresses).values(row))
    except IntegrityError:
        return False
    return True


def _select_keys() -> Select[Any]:
    joined = api_keys.outerjoin(users, users.c.id == api_keys.c.user_id)
    return select(api_keys, users.c.name.label("created_by")).select_from(joined)


def _to_key(row: Row[Any]) -> ApiKey:
    values = dict(row._mapping)
    values["status"] = status_at(utc_now(), values["revoked_at"], values["expires_at"])
    return ApiKey.model_validate({name: values[name] for name in ApiKey.model_fields})
