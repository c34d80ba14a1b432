"""Thousands of agent names sent in traces slow nothing down and are bounded."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from clickhouse_connect.driver.client import Client

from spanwise.model.telemetry.prices import PriceKey, PricePeriod
from spanwise.services import agents as directory
from spanwise.storage.catalog import agents as stored_agents
from spanwise.storage.telemetry.engine.query import Rows, query_rows
from spanwise.storage.telemetry.prices import price_dictionary as stored_prices
from spanwise.storage.telemetry.rollup import queries as stored_analytics
from spanwise.storage.telemetry.write import price_lookups
from support.polling import until
from support.service import Person, Service, assert_error, start_service
from support.spans import llm_call
from support.traces import make_span, send_trace, send_traces

MANY = directory.INLINE_AGENTS + 300
LIMIT = 5
# The price list has these models for any provider.
MODELS = ("gpt-4o", "gpt-4o-mini", "gpt-4.1", "gpt-4.1-mini")


@pytest.fixture
def _few_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_agents, "MAX_AGENTS", LIMIT)


async def names_of(person: Person) -> list[str]:
    return [agent["name"] for agent in await person.data("GET", "/agents", params={"limit": 100})]


async def limit_events(person: Person) -> list[dict[str, Any]]:
    params = {"type": "agents.limit_reached"}
    events: list[dict[str, Any]] = await person.data("GET", "/events", params=params)
    return events


async def test_reads_do_not_wait_for_many_new_agents(service: Service) -> None:
    ann, bob = await service.sign_up(), await service.sign_up()
    # No agent can be registered during another write to the catalog.
    async with service.services.catalog.write():
        await send_traces(ann, [make_span(f"agent {number}") for number in range(MANY)])
        async with asyncio.timeout(8):
            assert await bob.data("GET", "/spans/traces") == []
            traces = await ann.data("GET", "/spans/traces", params={"limit": 1})
    assert traces[0]["agentName"].startswith("agent ")

    async def are_registered() -> bool:
        answer = await ann.call("GET", "/agents", params={"limit": 1})
        return bool(answer.json()["pagination"]["total"] == MANY)

    await until(are_registered)
    created = await ann.call("GET", "/events", params={"type": "agent.created", "limit": 1})
    assert created.json()["pagination"]["total"] == MANY


async def test_the_journal_keeps_agents_that_are_not_registered_yet(tmp_path: Path) -> None:
    async with start_service(tmp_path) as service:
        ann = await service.sign_up()
        async with service.services.catalog.write():
            await send_traces(
                ann, [make_span(f"agent {number}") for number in range(directory.INLINE_AGENTS + 1)]
            )
            await service.services.ingest.pipeline.wait_until_visible()
            # After a crash, the next process replays the journal.
            assert any(path.stat().st_size for path in (tmp_path / "journal").iterdir())


@pytest.mark.usefixtures("_few_agents")
async def test_a_full_workspace_accepts_traces_but_creates_no_agents(service: Service) -> None:
    ann, bob = await service.sign_up(), await service.sign_up()
    await send_traces(ann, [make_span(f"agent {number}") for number in range(LIMIT + 3)])
    assert len(await names_of(ann)) == LIMIT
    traces = await ann.data("GET", "/spans/traces")
    assert {trace["agentName"] for trace in traces} == {f"agent {n}" for n in range(LIMIT + 3)}
    assert sum(trace["agentId"] is None for trace in traces) == 3
    found = await ann.data("GET", "/spans/traces", params={"agentId": f"agent {LIMIT + 2}"})
    assert len(found) == 1
    assert_error(await ann.call("POST", "/agents", json={"name": "one more"}), 400)
    await send_trace(bob, "agent 1")
    assert await names_of(bob) == ["agent 1"]
    assert await limit_events(bob) == []


@pytest.mark.usefixtures("_few_agents")
async def test_the_agent_limit_is_reported_once_and_known_agents_are_still_updated(
    tmp_path: Path,
) -> None:
    async with start_service(tmp_path) as service:
        ann = await service.sign_up()
        for batch in range(2):
            await send_traces(ann, [make_span(f"agent {batch} {number}") for number in range(6)])
            agent = (await names_of(ann))[0]
            # A change of an agent clears the cache of the process.
            await ann.data("PUT", f"/agents/{agent}", json={"tags": ["seen"]})
        assert len(await limit_events(ann)) == 1
        before = await ann.data("GET", f"/agents/{agent}")
    async with start_service(tmp_path) as service:
        again = await service.log_in(ann.email)
        await send_trace(again, "yet another")
        await send_trace(again, agent)
        after = await again.data("GET", f"/agents/{agent}")
        assert after["lastSeenAt"] > before["lastSeenAt"]
        [event] = await limit_events(again)
        assert event["data"] == {"limit": 10_000}
        assert len(await names_of(again)) == LIMIT


@pytest.mark.usefixtures("_few_agents")
async def test_a_deleted_agent_makes_room_for_another(service: Service) -> None:
    ann = await service.sign_up()
    await send_traces(ann, [make_span(f"agent {number}") for number in range(LIMIT + 1)])
    [agent, *_] = await names_of(ann)
    await ann.data("DELETE", f"/agents/{agent}")
    await send_trace(ann, "the new one")
    assert "the new one" in await names_of(ann)


@pytest.mark.own_service
async def test_models_beyond_a_few_get_their_list_price_in_the_background(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(price_lookups, "INLINE_LOOKUPS", 1)
    ann = await service.sign_up()
    calls = [llm_call(model, f"gateway of {ann.email}", {"input": 1_000_000}) for model in MODELS]
    await ann.data("POST", "/spans", json={"spans": calls})
    costs = await ann.data("GET", "/analytics/costs")
    assert len(costs["unpricedModels"]) == 3
    service.services.telemetry.prices._wake()

    async def are_priced() -> bool:
        costs = await ann.data("GET", "/analytics/costs")
        return costs["unpricedModels"] == [] and all(costs["byModel"].values())

    await until(are_priced)


@pytest.mark.own_service
async def test_a_workspace_adds_a_limited_number_of_prices_to_the_shared_list(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(price_lookups, "MAX_LOOKUPS", 2)
    ann, bob = await service.sign_up(), await service.sign_up()
    calls = [llm_call(model, f"gateway of {ann.email}", {"input": 1000}) for model in MODELS]
    await ann.data("POST", "/spans", json={"spans": calls})
    assert len((await ann.data("GET", "/analytics/costs"))["unpricedModels"]) == 2
    await bob.data(
        "POST", "/spans", json=llm_call("gpt-4o", f"gateway of {bob.email}", {"input": 1000})
    )
    assert (await bob.data("GET", "/analytics/costs"))["unpricedModels"] == []


async def test_prices_of_many_models_are_written_with_one_query(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries: list[str] = []

    def count(client: Client, sql: str, parameters: Mapping[str, Any]) -> Rows:
        queries.append(sql)
        return query_rows(client, sql, parameters)

    monkeypatch.setattr(stored_prices, "query_rows", count)
    prices: dict[PriceKey, list[PricePeriod]] = {
        PriceKey("", f"provider {number}", "a model"): [] for number in range(50)
    }
    with service.services.engine.client() as client:
        stored_prices.put_prices(client, prices, 1)
    assert len(queries) == 1


async def test_names_beyond_the_response_limit_are_grouped_as_other(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_analytics, "MAX_NAMES", 2)
    ann = await service.sign_up()
    spans: list[dict[str, Any]] = []
    for number in range(4):
        span = make_span(
            f"agent {number}", kind="tool", toolName=f"tool {number}", cost=1.0, model=f"m{number}"
        )
        llm = make_span(f"agent {number}", kind="llm", model=f"m{number}", cost=number + 1.0)
        # Later agents have larger totals.
        spans += [llm, *(make_span(f"agent {number}") for _ in range(number)), span]
    await send_traces(ann, spans)
    costs = await ann.data("GET", "/analytics/costs")
    assert costs["byModel"] == {"m3": 4.0, "m2": 3.0, "(other)": 3.0}
    assert costs["totalCost"] == sum(costs["byModel"].values())
    days = await ann.data("GET", "/analytics/traces/requests-over-time")
    busy = next(day for day in reversed(days) if day["total"])
    assert busy["byAgent"] == {"(other)": 5, "agent 3": 5, "agent 2": 4}
    assert busy["total"] == sum(busy["byAgent"].values())
    heatmap = (await ann.data("GET", "/analytics/traces/tool-usage"))["heatmap"]
    assert sum(calls for tools in heatmap.values() for calls in tools.values()) == 4
    assert len(heatmap) == 3
