"""Password rules, and the cost of verifying a password."""

import pytest
from pwdlib.exceptions import UnknownHashError
from pwdlib.hashers.argon2 import Argon2Hasher

from spanwise.model.errors import Invalid
from spanwise.services.accounts import passwords
from spanwise.services.accounts.passwords import (
    DUMMY_HASH,
    NO_PASSWORD,
    check_password,
    hash_password,
    verify_password,
)


@pytest.mark.parametrize("password", ["q7#kzp0w", "x" * 128, "пароль-из-слов", "       x"])
def test_uncommon_passwords_of_8_to_128_characters_are_accepted(password: str) -> None:
    check_password(password)


@pytest.mark.parametrize("password", ["", "a1b2c3d", "x" * 129])
def test_a_password_of_the_wrong_length_is_refused(password: str) -> None:
    with pytest.raises(Invalid, match="8 to 128 characters"):
        check_password(password)


@pytest.mark.parametrize("password", [" " * 8, "\t\n" * 8, "\u00a0\u2003\u3000" * 4, "\u200b" * 8])
def test_a_blank_password_is_refused(password: str) -> None:
    with pytest.raises(Invalid, match="must not be blank"):
        check_password(password)


@pytest.mark.parametrize("password", ["password", "PASSWORD", "12345678", "iloveyou", "Trustno1"])
def test_a_very_common_password_is_refused(password: str) -> None:
    with pytest.raises(Invalid, match="too common") as refused:
        check_password(password, "newPassword")
    assert refused.value.details[0].field == "newPassword"


async def test_a_hash_matches_only_its_password() -> None:
    stored = await hash_password("correct horse battery")
    assert stored.startswith("$argon2id$")
    assert await verify_password("correct horse battery", stored)
    assert not await verify_password("correct horse batterx", stored)


@pytest.mark.parametrize("stored", [None, NO_PASSWORD])
async def test_no_password_matches_an_unknown_account_or_one_without_password(
    stored: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Not even the password of the hash that is verified instead.
    dummy = await hash_password("correct horse battery")
    monkeypatch.setattr(passwords, "DUMMY_HASH", dummy)
    assert not await verify_password("correct horse battery", stored)


def test_the_dummy_hash_costs_as_much_as_new_hashes() -> None:
    assert not Argon2Hasher().check_needs_rehash(DUMMY_HASH)


@pytest.mark.parametrize("stored", [None, NO_PASSWORD])
async def test_an_account_without_a_hash_costs_the_work_of_one_with_a_hash(
    stored: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A text that is no hash fails only when it is verified.
    monkeypatch.setattr(passwords, "DUMMY_HASH", "not a hash")
    with pytest.raises(UnknownHashError):
        await verify_password("wrong horse battery", stored)
