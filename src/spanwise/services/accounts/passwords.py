"""Passwords: validation, hashing and verification (argon2id)."""

from functools import cache

import anyio
import anyio.to_thread
from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher

from spanwise.model.errors import Invalid

MIN_CHARACTERS = 8
MAX_CHARACTERS = 128

_hasher = PasswordHash((Argon2Hasher(),))
# Hash of a discarded random value, verified for unknown accounts so that they take as long as
# known ones. A test checks that its cost parameters match those of new hashes.
DUMMY_HASH = (
    "$argon2id$v=19$m=65536,t=3,p=4"
    "$S/hSggtpHhtRhgUsAm8j2A$abKH0aaiyURgJWRqNerZ43L+dDb7GAVkd+rr+JpVX9Y"
)
# Stored for an account that has no password, because it was made by single sign-on.
NO_PASSWORD = ""
# One hash takes 64 MiB and about 30 ms of CPU, so concurrency is limited.
_slots = anyio.CapacityLimiter(4)


def check_password(password: str, field: str = "password") -> None:
    """Reject a password that is too short, too long, blank, or very common."""
    if not MIN_CHARACTERS <= len(password) <= MAX_CHARACTERS:
        raise Invalid.field(field, f"must have {MIN_CHARACTERS} to {MAX_CHARACTERS} characters")
    if not any(character.isprintable() and not character.isspace() for character in password):
        raise Invalid.field(field, "must not be blank")
    if password.lower() in _common_passwords():
        raise Invalid.field(field, "this password is too common")


async def hash_password(password: str) -> str:
    return await anyio.to_thread.run_sync(_hasher.hash, password, limiter=_slots)


async def verify_password(password: str, password_hash: str | None) -> bool:
    """Return whether the password matches; takes as long for an unknown user or no password."""
    matches = await anyio.to_thread.run_sync(
        _hasher.verify, password, password_hash or DUMMY_HASH, limiter=_slots
    )
    return matches and bool(password_hash)


@cache
def _common_passwords() -> frozenset[str]:
    # Imported on first use: the word lists take 30 ms to load, and most processes never need them.
    from zxcvbn.frequency_lists import FREQUENCY_LISTS  # noqa: PLC0415

    return frozenset(word for word in FREQUENCY_LISTS["passwords"] if len(word) >= MIN_CHARACTERS)
