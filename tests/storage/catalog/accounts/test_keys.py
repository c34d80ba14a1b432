"""API keys, on both engines."""

from datetime import datetime, timedelta

import pytest

from spanwise.model.accounts import Account
from spanwise.model.api_model import new_id, utc_now
from spanwise.model.keys import ApiKey, KeyStatus, Scope
from spanwise.model.page import PageRequest
from spanwise.model.workspaces import WorkspaceRole
from spanwise.storage.catalog import Catalog, Transaction
from spanwise.storage.catalog.accounts import keys as stored
from spanwise.storage.catalog.accounts import users as stored_users
from spanwise.storage.catalog.accounts.workspaces import add_member, add_workspace, remove_member
from support.accounts import make_account

HOUR = timedelta(hours=1)
WORKSPACE = "wsp_team"


@pytest.fixture
async def owner(catalog: Catalog) -> Account:
    account = make_account()
    async with catalog.write() as tx:
        await stored_users.add_account(tx, account)
        await add_workspace(tx, WORKSPACE, "Team", utc_now())
        await add_member(tx, WORKSPACE, account.user.id, WorkspaceRole.OWNER, utc_now())
    return account


async def add_key(
    tx: Transaction, owner: Account, secret_hash: str, expires_at: datetime | None = None
) -> ApiKey:
    key = ApiKey(
        id=new_id("key"),
        name="a key",
        prefix="sw_abc",
        scopes=[Scope.INGEST, Scope.READ],
        status=KeyStatus.ACTIVE,
        created_at=utc_now(),
        expires_at=expires_at,
        last_used_at=None,
        rotated_at=None,
        workspace_id=WORKSPACE,
        created_by=owner.user.name,
    )
    await stored.add_key(tx, owner.user.id, key, secret_hash)
    return key


@pytest.mark.both_engines
async def test_a_key_is_stored_unchanged(catalog: Catalog, owner: Account) -> None:
    async with catalog.write() as tx:
        key = await add_key(tx, owner, "hash", utc_now() + HOUR)
    async with catalog.read() as tx:
        assert await stored.find_key(tx, WORKSPACE, key.id) == key


async def test_a_key_of_another_workspace_is_not_found(catalog: Catalog, owner: Account) -> None:
    async with catalog.write() as tx:
        key = await add_key(tx, owner, "hash")
        assert await stored.find_key(tx, "wsp_other", key.id) is None
        assert (await stored.list_keys(tx, "wsp_other", PageRequest())).total == 0
        assert not await stored.delete_key(tx, "wsp_other", key.id)
        await stored.revoke_key(tx, "wsp_other", key.id, utc_now())
        rotate = {"prefix": "x", "secret_hash": "x", "now": utc_now(), "old_valid_until": None}
        await stored.rotate_key(tx, "wsp_other", key.id, **rotate)  # type: ignore[arg-type]
        assert await stored.find_key(tx, WORKSPACE, key.id) == key


async def test_keys_are_listed_newest_first_a_page_at_a_time(
    catalog: Catalog, owner: Account
) -> None:
    async with catalog.write() as tx:
        keys = [await add_key(tx, owner, f"hash{number}") for number in range(3)]
        page = await stored.list_keys(tx, WORKSPACE, PageRequest(2, 1))
    newest_first = sorted((key.id for key in keys), reverse=True)
    assert page.total == 3
    assert [key.id for key in page.items] == newest_first[1:]


async def test_a_secret_is_valid_until_its_key_expires(catalog: Catalog, owner: Account) -> None:
    expires_at = utc_now() + HOUR
    async with catalog.write() as tx:
        key = await add_key(tx, owner, "hash", expires_at)
        grant = await stored.find_grant(tx, "hash")
        assert await stored.find_grant(tx, "another") is None
    assert grant is not None
    assert (grant.key_id, grant.user_id, grant.workspace_id) == (
        key.id,
        owner.user.id,
        WORKSPACE,
    )
    assert grant.scopes == {Scope.INGEST, Scope.READ}
    assert grant.valid_until == expires_at


async def test_rotation_without_grace_ends_the_old_secret(catalog: Catalog, owner: Account) -> None:
    async with catalog.write() as tx:
        key = await add_key(tx, owner, "old")
        await rotate(tx, owner, key, "new", None)
        assert await stored.find_grant(tx, "old") is None
        assert await stored.find_grant(tx, "new") is not None


@pytest.mark.both_engines
@pytest.mark.parametrize(("key_expires", "old_ends"), [(None, HOUR), (HOUR / 2, HOUR / 2)])
async def test_rotation_with_grace_ends_the_old_secret_later(
    catalog: Catalog, owner: Account, key_expires: timedelta | None, old_ends: timedelta
) -> None:
    now = utc_now()
    expires_at = None if key_expires is None else now + key_expires
    async with catalog.write() as tx:
        key = await add_key(tx, owner, "old", expires_at)
        await rotate(tx, owner, key, "new", now + HOUR)
        old, new = await stored.find_grant(tx, "old"), await stored.find_grant(tx, "new")
    assert old is not None
    assert new is not None
    assert old.valid_until == now + old_ends
    assert new.valid_until == expires_at


async def test_a_revoked_key_accepts_neither_secret(catalog: Catalog, owner: Account) -> None:
    async with catalog.write() as tx:
        key = await add_key(tx, owner, "old")
        await rotate(tx, owner, key, "new", utc_now() + HOUR)
        await stored.revoke_key(tx, WORKSPACE, key.id, utc_now())
        assert await stored.find_grant(tx, "old") is None
        assert await stored.find_grant(tx, "new") is None
        revoked = await stored.find_key(tx, WORKSPACE, key.id)
    assert revoked is not None
    assert revoked.status is KeyStatus.REVOKED


async def test_a_key_of_a_disabled_user_is_invalid(catalog: Catalog, owner: Account) -> None:
    async with catalog.write() as tx:
        await add_key(tx, owner, "hash")
        await stored_users.update_user(tx, owner.user.id, {"disabled": True})
        assert await stored.find_grant(tx, "hash") is None


async def test_a_key_outlives_its_maker_while_others_are_active(
    catalog: Catalog, owner: Account
) -> None:
    colleague = make_account("bob@example.com")
    async with catalog.write() as tx:
        await add_key(tx, owner, "hash")
        await stored_users.add_account(tx, colleague)
        await add_member(tx, WORKSPACE, colleague.user.id, WorkspaceRole.VIEWER, utc_now())
        await remove_member(tx, WORKSPACE, owner.user.id)
        await stored_users.update_user(tx, owner.user.id, {"disabled": True})
        assert await stored.find_grant(tx, "hash") is not None
        await remove_member(tx, WORKSPACE, colleague.user.id)
        assert await stored.find_grant(tx, "hash") is None


async def test_a_deleted_key_is_gone(catalog: Catalog, owner: Account) -> None:
    async with catalog.write() as tx:
        key = await add_key(tx, owner, "hash")
        assert await stored.delete_key(tx, WORKSPACE, key.id)
        assert not await stored.delete_key(tx, WORKSPACE, key.id)
        assert await stored.find_grant(tx, "hash") is None


async def test_the_last_use_never_goes_backwards(catalog: Catalog, owner: Account) -> None:
    now = utc_now()
    async with catalog.write() as tx:
        used, unused = await add_key(tx, owner, "one"), await add_key(tx, owner, "two")
        await stored.update_last_used(tx, {used.id: now, "key_deleted": now})
        await stored.update_last_used(tx, {used.id: now - HOUR})
        await stored.update_last_used(tx, {})
        found = await stored.list_keys(tx, WORKSPACE, PageRequest())
    assert {key.id: key.last_used_at for key in found.items} == {used.id: now, unused.id: None}


async def rotate(
    tx: Transaction, owner: Account, key: ApiKey, secret_hash: str, old_until: datetime | None
) -> None:
    await stored.rotate_key(
        tx,
        WORKSPACE,
        key.id,
        prefix="sw_new",
        secret_hash=secret_hash,
        now=utc_now(),
        old_valid_until=old_until,
    )
