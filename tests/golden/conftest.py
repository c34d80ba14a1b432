"""Fixtures for the recorded exports."""

from collections.abc import Awaitable, Callable

import pytest

from golden.test_goldens import WITH_SPANS, Golden, Traces, golden_id, read_traces, send_all
from support.service import Person, Service


@pytest.fixture(scope="session")
async def golden_senders(shared_service: Service) -> dict[str, Person]:
    """The user who sent an export, by its id; sent at once, all are stored in a few batches."""
    return await send_all(WITH_SPANS, [await shared_service.sign_up() for _ in range(2)])


@pytest.fixture(scope="session")
def read_golden(golden_senders: dict[str, Person]) -> Callable[[Golden], Awaitable[Traces]]:
    """A function that reads the traces of an export, once for all tests."""
    known: dict[str, Traces] = {}

    async def read(golden: Golden) -> Traces:
        key = golden_id(golden)
        if key not in known:
            known[key] = await read_traces(golden_senders[key], golden)
        return known[key]

    return read
