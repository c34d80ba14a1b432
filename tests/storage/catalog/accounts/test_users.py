"""Users and one-time tokens, on both engines."""

from datetime import timedelta

import pytest

from spanwise.model.accounts import Role, TokenPurpose
from spanwise.model.api_model import utc_now
from spanwise.model.page import PageRequest
from spanwise.storage.catalog import Catalog
from spanwise.storage.catalog.accounts import users as stored
from support.accounts import make_account

LATER = timedelta(hours=1)
VERIFY, RESET = TokenPurpose.VERIFY_EMAIL, TokenPurpose.RESET_PASSWORD


@pytest.mark.both_engines
async def test_an_account_is_stored_unchanged(catalog: Catalog) -> None:
    account = make_account()
    async with catalog.write() as tx:
        assert await stored.add_account(tx, account)
    async with catalog.read() as tx:
        assert await stored.find_account(tx, account.user.id) == account
        assert await stored.find_account_by_email(tx, "ann@example.com") == account
        assert await stored.find_account(tx, "usr_nobody") is None
        assert await stored.find_account_by_email(tx, "bob@example.com") is None


@pytest.mark.both_engines
async def test_an_address_in_use_is_refused_and_the_transaction_continues(catalog: Catalog) -> None:
    async with catalog.write() as tx:
        assert await stored.add_account(tx, make_account())
        assert not await stored.add_account(tx, make_account())
        assert await stored.add_account(tx, make_account("bob@example.com"))
    async with catalog.read() as tx:
        assert await stored.count_users(tx) == 2


async def test_users_are_listed_a_page_at_a_time_in_order(catalog: Catalog) -> None:
    accounts = [make_account(f"person{number}@example.com") for number in range(5)]
    async with catalog.write() as tx:
        for account in accounts:
            await stored.add_account(tx, account)
    expected = sorted(account.user.id for account in accounts)
    async with catalog.read() as tx:
        first = await stored.list_users(tx, PageRequest(2, 0))
        last = await stored.list_users(tx, PageRequest(2, 4))
    assert (first.total, last.total) == (5, 5)
    assert [user.id for user in first.items] == expected[:2]
    assert [user.id for user in last.items] == expected[4:]


async def test_only_admins_who_can_sign_in_count(catalog: Catalog) -> None:
    async with catalog.write() as tx:
        await stored.add_account(tx, make_account("a@example.com", Role.ADMIN))
        await stored.add_account(tx, make_account("b@example.com", Role.ADMIN, disabled=True))
        await stored.add_account(tx, make_account("c@example.com", Role.MEMBER))
        assert await stored.count_active_admins(tx) == 1


async def test_an_update_changes_only_the_given_fields_of_one_user(catalog: Catalog) -> None:
    ann, bob = make_account(), make_account("bob@example.com")
    async with catalog.write() as tx:
        await stored.add_account(tx, ann)
        await stored.add_account(tx, bob)
        await stored.update_user(tx, ann.user.id, {"name": "Anna"})
        await stored.update_user(tx, ann.user.id, {})
        await stored.invalidate_tokens(tx, ann.user.id)
    async with catalog.read() as tx:
        changed = await stored.find_account(tx, ann.user.id)
        assert await stored.find_account(tx, bob.user.id) == bob
    assert changed is not None
    assert (changed.user.name, changed.user.email, changed.token_version) == (
        "Anna",
        "ann@example.com",
        2,
    )


@pytest.fixture
async def user_id(catalog: Catalog) -> str:
    account = make_account()
    async with catalog.write() as tx:
        await stored.add_account(tx, account)
    return account.user.id


@pytest.mark.both_engines
async def test_a_token_works_once(catalog: Catalog, user_id: str) -> None:
    now = utc_now()
    async with catalog.write() as tx:
        await stored.replace_token(tx, user_id, RESET, "hash", now + LATER)
    async with catalog.write() as tx:
        assert await stored.consume_token(tx, RESET, "hash", now) == user_id
    async with catalog.write() as tx:
        assert await stored.consume_token(tx, RESET, "hash", now) is None


async def test_a_token_works_for_its_purpose_and_until_it_expires(
    catalog: Catalog, user_id: str
) -> None:
    now = utc_now()
    async with catalog.write() as tx:
        await stored.replace_token(tx, user_id, RESET, "hash", now + LATER)
        assert await stored.consume_token(tx, VERIFY, "hash", now) is None
        assert await stored.consume_token(tx, RESET, "hash", now + LATER) is None
        moment_before = now + LATER - timedelta(microseconds=1)
        assert await stored.consume_token(tx, RESET, "hash", moment_before) == user_id


async def test_a_new_token_replaces_only_the_old_one_of_its_purpose(
    catalog: Catalog, user_id: str
) -> None:
    now = utc_now()
    async with catalog.write() as tx:
        await stored.replace_token(tx, user_id, VERIFY, "verify", now + LATER)
        await stored.replace_token(tx, user_id, RESET, "old", now + LATER)
        await stored.replace_token(tx, user_id, RESET, "new", now + LATER)
        assert await stored.consume_token(tx, RESET, "old", now) is None
        assert await stored.consume_token(tx, RESET, "new", now) == user_id
        assert await stored.consume_token(tx, VERIFY, "verify", now) == user_id


async def test_an_installation_has_users_after_the_first_one(catalog: Catalog) -> None:
    async with catalog.write() as tx:
        assert not await stored.has_users(tx)
        await stored.add_account(tx, make_account())
        assert await stored.has_users(tx)
