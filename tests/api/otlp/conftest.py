"""An exporter with its own key, and the user who reads what it sent."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from support.otlp import Exporter
from support.service import Person, Service, start_service


# One service per module; each test has its own workspace.
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
