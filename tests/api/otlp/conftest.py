"""An exporter with its own key, and the user who reads what it sent."""

import pytest

from support.otlp import Exporter
from support.service import Person, Service


@pytest.fixture
async def person(service: Service) -> Person:
    return await service.sign_up()


@pytest.fixture
async def exporter(service: Service, person: Person) -> Exporter:
    return Exporter(service.http, (await person.new_key(scopes=["ingest"]))["key"])
