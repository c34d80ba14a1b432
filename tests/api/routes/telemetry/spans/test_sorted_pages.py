"""Pages of traces by cost, duration and tokens, beside outdated and deleted rows."""

import random
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from spanwise.storage.telemetry.engine import ranking
from spanwise.storage.telemetry.engine.query import query_rows
from support.ids import new_trace_id
from support.service import Person, Service
from support.spans import Body, new_span, send

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
SORTS: dict[str, Callable[[Body], Any]] = {
    "cost": lambda span: span["cost"],
    "duration": lambda span: (
        datetime.fromisoformat(span["endTime"]) - datetime.fromisoformat(span["startTime"])
    ),
    "tokens": lambda span: span["inputTokens"],
    "startTime": lambda span: span["startTime"],
}


def run(dice: random.Random, number: int, trace_id: str) -> Body:
    return new_span(
        # Some start together, so that their ids decide.
        NOON - timedelta(minutes=number // 4),
        dice.choice((50, 100, 900)),
        traceId=trace_id,
        spanId=f"{number + 1:016x}",
        kind="llm",
        agentName=dice.choice("ab"),
        cost=dice.choice((0.1, 0.2, 0.3)),
        inputTokens=dice.choice((5, 9)),
    )


@pytest.fixture(scope="module")
def rounds() -> list[list[Body]]:
    """Four rounds of the same 20 traces: more outdated rows than a page of three has to spare."""
    dice = random.Random(11)
    ids = [new_trace_id() for _ in range(20)]
    return [[run(dice, number, trace_id) for number, trace_id in enumerate(ids)] for _ in range(4)]


@pytest.fixture(scope="module", autouse=True)
async def _outdated_rows(shared_service: Service) -> AsyncIterator[None]:
    """Keep outdated rows, which merges would remove at any time."""
    engine = shared_service.services.engine
    with engine.client() as client:
        client.command("SYSTEM STOP MERGES traces")
    yield
    with engine.client() as client:
        client.command("SYSTEM START MERGES traces")


def count_rows(service: Service, person: Person) -> int:
    with service.services.engine.client() as client:
        (found,) = query_rows(
            client,
            "SELECT count() AS rows FROM traces WHERE workspace = {workspace:String}",
            {"workspace": person.user["defaultWorkspaceId"]},
        )
    return int(found["rows"])


def reprice(service: Service, person: Person, costs: Mapping[str, float]) -> None:
    """Store other costs of traces, by id, with the same version."""
    with service.services.engine.client() as client:
        client.command(
            """INSERT INTO traces SELECT * REPLACE (
                {costs:Array(Float64)}[indexOf({ids:Array(String)}, lower(hex(trace_id)))] AS cost)
            FROM traces FINAL
            WHERE workspace = {workspace:String} AND lower(hex(trace_id)) IN {ids:Array(String)}""",
            parameters={
                "workspace": person.user["defaultWorkspaceId"],
                "ids": list(costs),
                "costs": list(costs.values()),
            },
        )


async def read_ids(person: Person, limit: int, **query: Any) -> list[str]:
    """Return the ids of all pages of a list."""
    found: list[str] = []
    while True:
        params = {**query, "limit": limit, "skip": len(found)}
        page = await person.data("GET", "/spans/traces", params=params)
        found += [trace["traceId"] for trace in page]
        if len(page) < limit:
            return found


@pytest.fixture(scope="module")
async def ada(shared_service: Service, rounds: list[list[Body]]) -> Person:
    """A person whose traces were sent in rounds, without three that were deleted."""
    person = await shared_service.sign_up()
    for spans in rounds:
        await send(person, *spans)
        # Stored one by one, so that each round leaves rows.
        await person.data("GET", "/spans/traces", params={"limit": 1})
    for span in rounds[-1][:3]:
        await person.data("DELETE", f"/spans/traces/{span['traceId']}")
    assert count_rows(shared_service, person) >= sum(map(len, rounds))
    return person


# Pages beyond the rows that are ranked deduplicate all traces.
@pytest.mark.parametrize("max_ranked", [1000, 5])
@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("sort", list(SORTS))
async def test_pages_hold_each_current_trace_in_order(
    ada: Person,
    rounds: list[list[Body]],
    sort: str,
    order: str,
    max_ranked: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ranking, "MAX_RANKED", max_ranked)
    for agent, limit in ((None, 50), (None, 3), ("a", 3)):
        current = [span for span in rounds[-1][3:] if agent in {None, span["agentName"]}]
        expected = sorted(
            current,
            key=lambda span: (SORTS[sort](span), span["startTime"], span["traceId"]),
            reverse=order == "desc",
        )
        query: dict[str, Any] = {"sort": sort, "order": order}
        if agent is not None:
            query["agentId"] = agent
        assert await read_ids(ada, limit, **query) == [span["traceId"] for span in expected]


@pytest.fixture
async def priced(shared_service: Service) -> tuple[Person, list[str]]:
    """A person with 20 traces, the costliest first."""
    person = await shared_service.sign_up()
    spans = [new_span(NOON, kind="llm", cost=100 - n) for n in range(20)]
    await send(person, *spans)
    await person.data("GET", "/spans/traces", params={"limit": 1})
    return person, [span["traceId"] for span in spans]


@pytest.mark.parametrize("limit", [3, 50])
async def test_repriced_traces_are_in_their_new_place(
    shared_service: Service, priced: tuple[Person, list[str]], limit: int
) -> None:
    person, ids = priced
    reprice(shared_service, person, {ids[0]: 1, ids[1]: 2, ids[-1]: 99.5})
    reprice(shared_service, person, {ids[0]: 3})
    expected = [ids[-1], *ids[2:-1], ids[0], ids[1]]
    assert await read_ids(person, limit, sort="cost") == expected
    assert await read_ids(person, limit, sort="cost", order="asc") == expected[::-1]


@pytest.mark.parametrize("limit", [3, 50])
async def test_a_trace_that_changes_during_the_reading_stays_in_the_list(
    shared_service: Service,
    priced: tuple[Person, list[str]],
    limit: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    person, ids = priced
    engine = shared_service.services.engine
    fetch = engine.fetch

    async def fetch_and_reprice(sql: str, parameters: Any, *, tag: str = "", **options: Any) -> Any:
        rows = await fetch(sql, parameters, tag=tag, **options)
        if tag == "find_ranked_keys":
            reprice(shared_service, person, {ids[0]: 1, ids[2]: 99.5})
        return rows

    monkeypatch.setattr(engine, "fetch", fetch_and_reprice)
    params = {"sort": "cost", "limit": limit}
    found = await person.data("GET", "/spans/traces", params=params)
    expected = [ids[2], ids[1], *ids[3:], ids[0]]
    assert [trace["traceId"] for trace in found] == expected[:limit]
    assert found[0]["cost"] == 99.5
