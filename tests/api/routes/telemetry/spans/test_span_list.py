"""Lists of single spans: order, filters and pages, beside outdated and deleted rows."""

import json
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from spanwise.storage.telemetry.lists import pages
from support.ids import new_trace_id
from support.service import Person, Service, assert_error
from support.spans import Body, child_of, new_span, send

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
SORTS: dict[str, Callable[[Body], Any]] = {
    "startTime": lambda span: span["startTime"],
    "duration": lambda span: span["durationMs"],
    "cost": lambda span: span["cost"],
}


def make_trace(dice: random.Random, number: int, trace_id: str) -> list[Body]:
    """Return a root and three calls, of which one names its own agent."""
    root = {
        **new_span(NOON - timedelta(hours=7 * number), traceId=trace_id, kind="agent"),
        "spanId": f"{number + 1:015x}0",
        "agentName": dice.choice("ab"),
        "environment": "live",
        "cost": 0,
    }
    calls = [
        child_of(
            root,
            spanId=f"{number + 1:015x}{at}",
            kind=dice.choice(("llm", "tool")),
            cost=dice.randrange(8) / 8,
            **({"agentName": "helper"} if at == 1 else {}),
        )
        for at in (1, 2, 3)
    ]
    return [finish(dice, span) for span in (root, *calls)]


def finish(dice: random.Random, span: Body) -> Body:
    """Return a span with a random length, which differs each time it is sent."""
    del span["endTime"]
    return {**span, "durationMs": dice.choice((50, 100, 900))}


@pytest.fixture(scope="module")
def rounds() -> list[list[Body]]:
    """Four rounds of the same spans: more outdated rows than a page of three has to spare."""
    dice = random.Random(5)
    ids = [new_trace_id() for _ in range(12)]
    return [
        [span for number, trace_id in enumerate(ids) for span in make_trace(dice, number, trace_id)]
        for _ in range(4)
    ]


@pytest.fixture(scope="module")
async def ada(shared_service: Service, rounds: list[list[Body]]) -> Person:
    """A person whose spans were sent in rounds, without one trace that was deleted."""
    person = await shared_service.sign_up()
    for spans in rounds:
        await send(person, *spans)
        # Stored one by one, so that each round leaves rows.
        await person.data("GET", "/spans", params={"limit": 1})
    await person.data("DELETE", f"/spans/traces/{rounds[-1][0]['traceId']}")
    return person


def agent_of(span: Body, spans: list[Body]) -> str:
    root = next(
        one for one in spans if one["traceId"] == span["traceId"] and "parentSpanId" not in one
    )
    return str(span.get("agentName") or root["agentName"])


@pytest.mark.parametrize(
    ("sort", "order", "ranked"),
    [
        ("startTime", "desc", 1000),
        ("startTime", "asc", 0),
        ("duration", "desc", 0),
        ("duration", "asc", 1000),
        ("cost", "desc", 1000),
        ("cost", "asc", 0),
        *(
            pytest.param(*case, marks=pytest.mark.long)
            for case in (
                ("startTime", "desc", 0),
                ("startTime", "asc", 1000),
                ("duration", "desc", 1000),
                ("duration", "asc", 0),
                ("cost", "desc", 0),
                ("cost", "asc", 1000),
            )
        ),
    ],
)
async def test_pages_hold_each_current_span_in_order(
    ada: Person,
    rounds: list[list[Body]],
    sort: str,
    order: str,
    ranked: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pages, "MAX_RANKED", ranked)
    sent, deleted = rounds[-1], rounds[-1][0]["traceId"]

    def key(span: Body) -> Any:
        return SORTS[sort](span), span["startTime"], span["traceId"], span["spanId"]

    for agent, limit in ((None, 50), ("a", 50), ("helper", 3)):
        wanted = [s for s in sent if s["traceId"] != deleted]
        wanted = [s for s in wanted if agent in {None, agent_of(s, sent)}]
        expected = sorted(wanted, key=key, reverse=order == "desc")
        query: dict[str, Any] = {"sort": sort, "order": order, "limit": limit}
        if agent is not None:
            query["filters"] = json.dumps([{"field": "agent", "value": agent}])
        found = []
        for skip in range(0, len(expected), limit):
            found += await ada.data("GET", "/spans", params={**query, "skip": skip})
        assert [s["spanId"] for s in found] == [s["spanId"] for s in expected]
        assert [s["agentName"] for s in found] == [agent_of(s, sent) for s in expected]
        assert {s["environment"] for s in found} == {"live"}


@pytest.mark.parametrize("limit", [3, 50])
async def test_a_span_that_changes_during_the_reading_stays_in_the_list(
    service: Service, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = await service.sign_up()
    spans = [new_span(NOON, kind="llm", cost=100 - n) for n in range(20)]
    await send(ada, *spans)
    ids = [span["spanId"] for span in spans]
    engine = service.services.engine
    fetch = engine.fetch

    async def fetch_and_reprice(sql: str, parameters: Any, *, tag: str = "", **options: Any) -> Any:
        rows = await fetch(sql, parameters, tag=tag, **options)
        if tag == "find_ranked_keys":
            with engine.client() as client:
                client.command(
                    """INSERT INTO spans SELECT * REPLACE (version + 1 AS version,
                        if(lower(hex(span_id)) = {first:String}, 1, 99.5) AS cost)
                    FROM spans FINAL
                    WHERE workspace = {workspace:String}
                        AND lower(hex(span_id)) IN ({first:String}, {third:String})""",
                    parameters={
                        "workspace": ada.user["defaultWorkspaceId"],
                        "first": ids[0],
                        "third": ids[2],
                    },
                )
        return rows

    monkeypatch.setattr(engine, "fetch", fetch_and_reprice)
    found = await ada.data("GET", "/spans", params={"sort": "cost", "limit": limit})
    expected = [ids[2], ids[1], *ids[3:], ids[0]]
    assert [span["spanId"] for span in found] == expected[:limit]
    assert found[0]["cost"] == 99.5


async def test_the_total_counts_each_span_once(ada: Person, rounds: list[list[Body]]) -> None:
    page = await ada.call("GET", "/spans", params={"limit": 2})
    spans = len(rounds[-1]) - 4
    assert page.json()["pagination"] == {"total": spans, "limit": 2, "skip": 0, "hasMore": True}


async def test_a_span_has_its_numbers_and_what_its_trace_says(service: Service) -> None:
    ada = await service.sign_up()
    root = new_span(NOON, 900, agentName="planner", userId="u1", sessionId="s1", status="ok")
    call = child_of(
        root,
        kind="llm",
        model="gpt-4o",
        provider="openai",
        inputTokens=100,
        outputTokens=20,
        cachedTokens=30,
        reasoningTokens=5,
        cost=0.25,
        status="error",
        statusMessage="x" * 400,
        errorType="timeout",
        attributes={
            "gen_ai.usage.cache_creation.input_tokens": 7,
            "gen_ai.server.time_to_first_token": 0.05,
            "exception.type": "httpx.ReadTimeout",
        },
    )
    await send(ada, root, call)
    [found, _] = await ada.data("GET", "/spans", params={"sort": "cost"})
    assert found["agentId"]
    assert {name: found[name] for name in found if name != "agentId"} == {
        "traceId": root["traceId"],
        "spanId": call["spanId"],
        "name": "a span",
        "kind": "llm",
        "startTime": "2026-05-04T12:00:00Z",
        "durationMs": 100.0,
        "status": "error",
        "statusMessage": "x" * 300,
        "errorType": "timeout",
        "errorName": "httpx.ReadTimeout",
        "agentName": "planner",
        "provider": "openai",
        "model": "gpt-4o",
        "toolName": None,
        "inputTokens": 100,
        "outputTokens": 20,
        "cachedTokens": 30,
        "cacheWriteTokens": 7,
        "reasoningTokens": 5,
        "totalTokens": 120,
        "cost": 0.25,
        "timeToFirstTokenMs": 50.0,
        "sessionId": "s1",
        "userId": "u1",
        "environment": None,
    }


async def test_dates_and_filters_are_those_of_the_span_itself(service: Service) -> None:
    ada = await service.sign_up()
    root = new_span(NOON, agentName="planner", attributes={"tenant": "acme"})
    late = child_of(root, kind="tool", toolName="search")
    late["startTime"] = "2026-05-05T00:00:00Z"
    late["endTime"] = "2026-05-05T00:00:02Z"
    await send(ada, root, late)

    async def find(*filters: Body, **params: str) -> list[str]:
        found = await ada.data(
            "GET", "/spans", params={**params, "filters": json.dumps(filters), "order": "asc"}
        )
        return [span["spanId"] for span in found]

    both = [root["spanId"], late["spanId"]]
    assert await find({"field": "agent", "value": "planner"}) == both
    assert await find(startDate="2026-05-05") == both[1:]
    assert await find(endDate="2026-05-04") == both[:1]
    assert await find({"field": "tool", "value": "search"}) == both[1:]
    assert await find({"field": "attribute:tenant", "value": "acme"}) == both[:1]
    assert await find({"field": "durationMs", "op": "gt", "value": 1000.0}) == both[1:]
    assert await find({"field": "agent", "op": "ne", "value": "planner"}) == []
    agent_id = (await ada.data("GET", "/agents"))[0]["id"]
    assert await find({"field": "agent", "value": agent_id}) == both


async def test_an_invalid_filter_is_rejected(service: Service) -> None:
    ada = await service.sign_up()
    answer = await ada.call("GET", "/spans", params={"filters": '[{"field": "nothing"}]'})
    assert_error(answer, 400, "filters.0.field")
