"""Pages of traces by cost, duration and tokens, beside outdated and deleted rows."""

import random
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from spanwise.storage.telemetry.engine.query import query_rows
from spanwise.storage.telemetry.lists import pages
from support.ids import new_trace_id
from support.service import Person, Service
from support.spans import Body, new_span, send

# A month in which no other test has data.
NOON = datetime(2018, 5, 4, 12, tzinfo=UTC)


def duration_of(span: Body) -> timedelta:
    return datetime.fromisoformat(span["endTime"]) - datetime.fromisoformat(span["startTime"])


SORTS: dict[str, Callable[[Body], Any]] = {
    "cost": lambda span: span["cost"],
    "duration": duration_of,
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


def store_rounds(service: Service, person: Person, rounds: list[list[Body]]) -> None:
    """Store a row of each trace for each round, and delete the first three traces.

    The engine removes outdated rows only when it inserts rows, which is prevented, and when it
    merges parts: these rows are one part, alone in its month.
    """
    deleted = [{**span, "is_deleted": True} for span in rounds[-1][:3]]
    rows = [(version, span) for version, spans in enumerate([*rounds, deleted]) for span in spans]
    with service.services.engine.client() as client:
        client.command(
            """INSERT INTO traces (workspace, start, trace_id, version, is_deleted, name,
                agent_name, status, span_count, duration_ns, input_tokens, cost)
            SETTINGS optimize_on_insert = 0
            SELECT {workspace:String}, parseDateTime64BestEffort(start, 9, 'UTC'),
                toFixedString(unhex(id), 16), version, is_deleted, 'a span', agent, 'success', 1,
                toUInt64(milliseconds) * 1000000, tokens, cost
            FROM (SELECT 1)
            ARRAY JOIN {starts:Array(String)} AS start, {ids:Array(String)} AS id,
                {versions:Array(UInt64)} AS version, {deleted:Array(UInt8)} AS is_deleted,
                {agents:Array(String)} AS agent, {milliseconds:Array(UInt64)} AS milliseconds,
                {tokens:Array(UInt64)} AS tokens, {costs:Array(Float64)} AS cost""",
            parameters={
                "workspace": person.user["defaultWorkspaceId"],
                "starts": [span["startTime"] for _, span in rows],
                "ids": [span["traceId"] for _, span in rows],
                "versions": [version for version, _ in rows],
                "deleted": [int(span.get("is_deleted", False)) for _, span in rows],
                "agents": [span["agentName"] for _, span in rows],
                "milliseconds": [
                    duration_of(span) // timedelta(milliseconds=1) for _, span in rows
                ],
                "tokens": [span["inputTokens"] for _, span in rows],
                "costs": [span["cost"] for _, span in rows],
            },
        )


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
async def ada(shared_service: Service, rounds: list[list[Body]]) -> AsyncIterator[Person]:
    """A person with outdated rows beside those of the last round, of which three are deleted."""
    person = await shared_service.sign_up()
    store_rounds(shared_service, person, rounds)
    stored = sum(map(len, rounds)) + 3
    assert count_rows(shared_service, person) == stored
    yield person
    assert count_rows(shared_service, person) == stored


# Pages beyond the rows that are ranked deduplicate all traces.
RANKED, NOT_RANKED = 1000, 5


@pytest.mark.parametrize(
    ("sort", "order", "max_ranked"),
    [
        ("cost", "desc", RANKED),
        ("cost", "asc", NOT_RANKED),
        ("duration", "desc", NOT_RANKED),
        ("duration", "asc", RANKED),
        ("tokens", "desc", RANKED),
        ("tokens", "asc", NOT_RANKED),
        ("startTime", "desc", NOT_RANKED),
        ("startTime", "asc", RANKED),
        *(
            pytest.param(*case, marks=pytest.mark.long)
            for case in (
                ("cost", "desc", NOT_RANKED),
                ("cost", "asc", RANKED),
                ("duration", "desc", RANKED),
                ("duration", "asc", NOT_RANKED),
                ("tokens", "desc", NOT_RANKED),
                ("tokens", "asc", RANKED),
                ("startTime", "desc", RANKED),
                ("startTime", "asc", NOT_RANKED),
            )
        ),
    ],
)
async def test_pages_hold_each_current_trace_in_order(
    ada: Person,
    rounds: list[list[Body]],
    sort: str,
    order: str,
    max_ranked: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pages, "MAX_RANKED", max_ranked)
    for agent, limit in ((None, 50), (None, 4), ("a", 5)):
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
    # In another month than the outdated rows.
    start = NOON + timedelta(days=60)
    spans = [new_span(start, kind="llm", cost=100 - n) for n in range(20)]
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
