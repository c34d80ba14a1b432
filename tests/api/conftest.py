"""Fixtures for tests of the API."""

from collections.abc import Iterator

import pytest
from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher

from spanwise.services.accounts import passwords
from support.otlp import Exporter
from support.service import Person, Service


@pytest.fixture(autouse=True, scope="session")
def _cheap_hashes() -> Iterator[None]:
    """Lower the cost of Argon2, because many tests sign up several users."""
    cheap = PasswordHash((Argon2Hasher(time_cost=1, memory_cost=64, parallelism=1),))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "_hasher", cheap)
        patch.setattr(passwords, "DUMMY_HASH", cheap.hash("nobody's"))
        yield


@pytest.fixture
async def person(service: Service) -> Person:
    return await service.sign_up()


@pytest.fixture
async def exporter(service: Service, person: Person) -> Exporter:
    """An exporter with a key in the workspace of `person`."""
    return Exporter(service.http, (await person.new_key(scopes=["ingest"]))["key"])
