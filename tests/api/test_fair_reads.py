"""Downloads and searches of one workspace do not block another's reads."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from support.polling import until
from support.service import Person, Service
from support.traces import send_trace

DOWNLOADS = 16
LIST = "/analytics/traces/list"


class Gate:
    def __init__(self) -> None:
        self.opened = threading.Event()
        self.entered = 0


@pytest.fixture
def gate(service: Service, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    """Block Parquet reads and searches until the gate is opened."""
    found = Gate()
    with service.services.engine.client() as client:
        kind = type(client)
    query, query_arrow = kind.query, kind.query_arrow

    def wait() -> None:
        found.entered += 1
        assert found.opened.wait(30)

    def slow_arrow(*arguments: Any, **named: Any) -> Any:
        wait()
        return query_arrow(*arguments, **named)

    def slow_search(client: Any, sql: str, *arguments: Any, **named: Any) -> Any:
        if "hasAllTokens" in sql:
            wait()
        return query(client, sql, *arguments, **named)

    monkeypatch.setattr(kind, "query_arrow", slow_arrow)
    monkeypatch.setattr(kind, "query", slow_search)
    yield found
    found.opened.set()


@pytest.fixture(scope="module")
async def people(shared_service: Service) -> tuple[Person, Person]:
    """Two people with a trace each."""
    ann, bob = await shared_service.sign_up(), await shared_service.sign_up()
    await asyncio.gather(send_trace(ann, "planner"), send_trace(bob, "planner"))
    return ann, bob


async def reads_at_once(person: Person) -> None:
    async with asyncio.timeout(15):
        assert len(await person.data("GET", "/spans/traces")) == 1
        assert (await person.data("GET", "/analytics/metrics"))["totalTraces"] == 1


@pytest.mark.parametrize(
    ("path", "params"),
    [
        (LIST, {"format": "parquet"}),
        ("/spans/traces", {"search": "answer"}),
        ("/logs", {"search": "answer"}),
    ],
    ids=["downloads", "searches", "searches of logs"],
)
async def test_sixteen_reads_of_one_workspace_do_not_delay_another(
    people: tuple[Person, Person], gate: Gate, path: str, params: dict[str, str]
) -> None:
    ann, bob = people
    await reads_at_once(bob)
    theirs = [asyncio.create_task(ann.call("GET", path, params=params)) for _ in range(DOWNLOADS)]

    async def has_begun() -> bool:
        return gate.entered > 0

    await until(has_begun)
    await reads_at_once(bob)
    await reads_at_once(ann)
    async with asyncio.timeout(15):
        mine = await bob.call("GET", LIST, params={"format": "csv"})
    assert len(mine.text.splitlines()) == 2
    gate.opened.set()
    answers = await asyncio.gather(*theirs)
    assert {answer.status_code for answer in answers} == {200}
