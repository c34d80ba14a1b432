"""Users and their one-time tokens."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from spanwise.model.accounts import Account, AdminUser, Role, TokenPurpose
from spanwise.model.page import Listing, PageRequest
from spanwise.storage.catalog.accounts.workspaces import find_memberships
from spanwise.storage.catalog.database import Transaction
from spanwise.storage.catalog.tables import one_time_tokens, users


async def count_users(tx: Transaction) -> int:
    return (await tx.execute(select(func.count()).select_from(users))).scalar_one()


async def has_users(tx: Transaction) -> bool:
    return (await tx.execute(select(users.c.id).limit(1))).first() is not None


async def add_account(tx: Transaction, account: Account) -> bool:
    """Add the account; False when the e-mail address is taken."""
    user = account.user
    row = {
        **user.model_dump(by_alias=False),
        "password_hash": account.password_hash,
        "token_version": account.token_version,
    }
    try:
        async with tx.begin_nested():
            await tx.execute(insert(users).values(row))
    except IntegrityError:
        return False
    return True


async def find_account(tx: Transaction, user_id: str) -> Account | None:
    return await _find_account(tx, users.c.id == user_id)


async def find_account_by_email(tx: Transaction, email: str) -> Account | None:
    return await _find_account(tx, users.c.email == email)


async def _find_account(tx: Transaction, condition: ColumnElement[bool]) -> Account | None:
    row = (await tx.execute(select(users).where(condition))).one_or_none()
    if row is None:
        return None
    memberships = await find_memberships(tx, row.id)
    return Account(_to_user(row), row.password_hash, row.token_version, memberships)


async def list_users(tx: Transaction, page: PageRequest) -> Listing[AdminUser]:
    rows = await tx.execute(select(users).order_by(users.c.id).limit(page.limit).offset(page.skip))
    return Listing([_to_user(row) for row in rows], await count_users(tx))


async def count_active_admins(tx: Transaction) -> int:
    query = select(func.count()).select_from(users)
    query = query.where(users.c.role == Role.ADMIN, users.c.disabled.is_(False))
    return (await tx.execute(query)).scalar_one()


async def update_user(tx: Transaction, user_id: str, changes: Mapping[str, Any]) -> None:
    if changes:
        await tx.execute(update(users).where(users.c.id == user_id).values(changes))


async def invalidate_tokens(tx: Transaction, user_id: str) -> None:
    """Invalidate all session tokens issued so far."""
    await tx.execute(
        update(users).where(users.c.id == user_id).values(token_version=users.c.token_version + 1)
    )


async def replace_token(
    tx: Transaction, user_id: str, purpose: TokenPurpose, token_hash: str, expires_at: datetime
) -> None:
    """Store a one-time token; earlier ones of the same purpose stop working."""
    await delete_tokens(tx, user_id, purpose)
    await tx.execute(
        insert(one_time_tokens).values(
            token_hash=token_hash, user_id=user_id, purpose=purpose, expires_at=expires_at
        )
    )


async def consume_token(
    tx: Transaction, purpose: TokenPurpose, token_hash: str, now: datetime
) -> str | None:
    """Consume a token and return its user; None when it is unknown, used or expired."""
    taken = await tx.execute(
        delete(one_time_tokens)
        .where(
            one_time_tokens.c.token_hash == token_hash,
            one_time_tokens.c.purpose == purpose,
            one_time_tokens.c.expires_at > now,
        )
        .returning(one_time_tokens.c.user_id)
    )
    return taken.scalar_one_or_none()


async def delete_tokens(tx: Transaction, user_id: str, purpose: TokenPurpose) -> None:
    await tx.execute(
        delete(one_time_tokens).where(
            one_time_tokens.c.user_id == user_id, one_time_tokens.c.purpose == purpose
        )
    )


def _to_user(row: Row[Any]) -> AdminUser:
    values = row._mapping
    return AdminUser.model_validate({name: values[name] for name in AdminUser.model_fields})
