"""Fixtures for tests of the API."""

from collections.abc import Iterator

import pytest
from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher

from spanwise.services.accounts import passwords
from support.otlp import Exporter
from support.service import Person, Service

_CHEAP_HASHER = PasswordHash((Argon2Hasher(time_cost=1, memory_cost=64, parallelism=1),))
_CHEAP_DUMMY_HASH = _CHEAP_HASHER.hash("a password that nobody has")


@pytest.fixture(autouse=True)
def _cheap_hashes() -> Iterator[None]:
    """Lower the cost of Argon2, because many tests sign up several users."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "_hasher", _CHEAP_HASHER)
        patch.setattr(passwords, "DUMMY_HASH", _CHEAP_DUMMY_HASH)
        yield


@pytest.fixture
async def person(service: Service) -> Person:
    return await service.sign_up()


@pytest.fixture
async def exporter(service: Service, person: Person) -> Exporter:
    """An exporter with a key in the workspace of `person`."""
    return Exporter(service.http, (await person.new_key(scopes=["ingest"]))["key"])
