"""The latest page under load is read from the busy period only, and is still exact."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from support.service import Person, Service
from support.spans import Body, new_span, send

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
TRACES = 100


@pytest.fixture(scope="module")
async def ada(shared_service: Service) -> Person:
    return await shared_service.sign_up()


@pytest.fixture(scope="module")
async def spans(shared_service: Service, ada: Person) -> list[Body]:
    """Send a hundred traces, a second apart; every tenth has another agent. Latest first.

    The latest of all is deleted, and the second one has failed since.
    """
    deleted, *roots = [
        new_span(NOON - timedelta(seconds=n), agentName="rare" if n % 10 == 9 else "often")
        for n in range(-1, TRACES)
    ]
    await send(ada, deleted, *roots)
    await ada.data("GET", "/spans/traces", params={"limit": 1})
    await ada.data("DELETE", f"/spans/traces/{deleted['traceId']}")
    roots[1] = {**roots[1], "status": "error"}
    await send(ada, roots[1])
    await shared_service.services.ingest.pipeline.wait_until_visible()
    return roots


async def ids(person: Person, **parameters: Any) -> list[str]:
    found = await person.data("GET", "/spans/traces", params={"limit": 4, **parameters})
    return [trace["traceId"] for trace in found]


def of(spans: list[Body], agent: str | None = None) -> list[str]:
    return [span["traceId"] for span in spans if agent in (None, span["agentName"])]


async def test_the_latest_come_first(ada: Person, spans: list[Body]) -> None:
    assert await ids(ada) == of(spans)[:4]
    assert await ids(ada, agentId="often") == of(spans, "often")[:4]
    assert await ids(ada, agentId="rare") == of(spans, "rare")[:4]
    assert await ids(ada, skip=4) == of(spans)[4:8]
    succeeded = [spans[0], *spans[2:]]
    assert await ids(ada, status="success") == of(succeeded)[:4]


async def test_earlier_and_partial_pages_are_exact(ada: Person, spans: list[Body]) -> None:
    until = spans[10]["startTime"]
    assert await ids(ada, endDate=until) == of(spans)[11:15]
    since = spans[1]["startTime"]
    assert await ids(ada, startDate=since) == of(spans)[:2]
