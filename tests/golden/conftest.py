"""Fixtures for the recorded exports."""

import asyncio

import pytest

from golden.test_goldens import WITH_SPANS, golden_id, send
from support.service import Person, Service


@pytest.fixture(scope="session")
async def golden_senders(shared_service: Service) -> dict[str, Person]:
    """One user per export, by its id; sent at once, all exports are stored in a few batches."""
    people = {golden_id(golden): await shared_service.sign_up() for golden in WITH_SPANS}
    await asyncio.gather(*(send(people[golden_id(golden)], golden) for golden in WITH_SPANS))
    return people
