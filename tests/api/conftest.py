"""What the tests of the API have in common."""

from collections.abc import Iterator

import pytest
from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher

from spanwise.services.accounts import passwords


@pytest.fixture(autouse=True, scope="session")
def _cheap_hashes() -> Iterator[None]:
    """Argon2 as always, at a cost that lets a test have many people; its unit tests pay in full."""
    cheap = PasswordHash((Argon2Hasher(time_cost=1, memory_cost=64, parallelism=1),))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "_hasher", cheap)
        patch.setattr(passwords, "DUMMY_HASH", cheap.hash("nobody's"))
        yield
