"""Fixtures for tests of the API."""

import pytest

from support.otlp import Exporter
from support.service import Person, Service


@pytest.fixture(autouse=True)
def _cheap(cheap_hashes: None) -> None:
    """Tests here also start services of their own."""


@pytest.fixture
async def person(service: Service) -> Person:
    return await service.sign_up()


@pytest.fixture
async def exporter(service: Service, person: Person) -> Exporter:
    """An exporter with a key in the workspace of `person`."""
    return Exporter(service.http, (await person.new_key(scopes=["ingest"]))["key"])
