"""An exporter with a key of its own, and the person who reads what it sent."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from support.otlp import Exporter
from support.service import Person, Service, start_service


# One service for all tests of a module: each test has a workspace of its own on it.
@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def service(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    async with start_service(tmp_path_factory.mktemp("service")) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def person(service: Service) -> Person:
    return await service.sign_up()


@pytest_asyncio.fixture(loop_scope="module")
async def exporter(service: Service, person: Person) -> Exporter:
    return Exporter(service.http, (await person.new_key(scopes=["ingest"]))["key"])
