"""Custom prices: set, changed and removed, and repricing of earlier spans."""

import asyncio
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from support.polling import until
from support.service import Person, Service, assert_error
from support.spans import llm_call

PRICE = {"inputPerMillion": 2.0, "outputPerMillion": 10.0}
RATES = {"cachedInputPerMillion": 0.5, "cacheWritePerMillion": 3.0, "reasoningPerMillion": 20.0}
TOKENS = {"input": 10_000, "cached": 4000, "cache_write": 1000, "output": 2000, "reasoning": 500}
MILLION = {"input": 1_000_000}
LISTED, HAIKU = "gpt-4o", "claude-3-haiku-20240307"


def call(model: str, tokens: dict[str, int], **fields: Any) -> dict[str, Any]:
    return llm_call(model, "acme", tokens, **fields)


async def send(person: Person, *spans: dict[str, Any]) -> None:
    await person.data("POST", "/spans", json={"spans": spans})


async def put(person: Person, model: str, **rates: Any) -> dict[str, Any]:
    body = {"model": model, **PRICE, **rates}
    price: dict[str, Any] = await person.data("PUT", "/models/prices", json=body)
    return price


async def traces(person: Person, model: str) -> list[dict[str, Any]]:
    """Return the traces of a model, newest first."""
    filters = json.dumps([{"field": "model", "value": model}])
    found: list[dict[str, Any]] = await person.data(
        "GET", "/spans/traces", params={"filters": filters}
    )
    return found


async def costs(person: Person, model: str) -> list[float]:
    """Return the costs of the traces of a model, newest first, checked against their spans."""
    found = await traces(person, model)
    for trace in found:
        whole = await person.data("GET", f"/spans/traces/{trace['traceId']}")
        assert trace["cost"] == pytest.approx(sum(s["cost"] for s in whole["spans"]))
    return [trace["cost"] for trace in found]


async def until_costs(person: Person, model: str, expected: list[float]) -> None:
    async def match() -> bool:
        # Asked first, because reading traces takes longer.
        tasks = await person.data("GET", "/models/repricing")
        if any(task["state"] != "done" for task in tasks):
            return False
        found = [trace["cost"] for trace in await traces(person, model)]
        return found == pytest.approx(expected)

    await until(match, 30)
    assert await costs(person, model) == pytest.approx(expected)


async def until_repriced(person: Person, *models: str) -> None:
    """Wait until earlier spans have the latest prices of models."""

    async def are_done() -> bool:
        tasks = await person.data("GET", "/models/repricing")
        return set(models) <= {task["model"] for task in tasks if task["state"] == "done"}

    await until(are_done, 30)


@dataclass
class Repriced:
    """A person whose spans were stored before the prices of their models were set."""

    person: Person
    agent: dict[str, Any]
    resent: dict[str, Any]
    list_cost: float


@pytest.fixture(scope="module")
async def repriced(shared_service: Service) -> Repriced:
    person, now = await shared_service.sign_up(), datetime.now(UTC)
    months = [now, now - timedelta(days=40), now - timedelta(days=80)]
    agent = {**call("repeated", TOKENS), "kind": "agent"}
    ids = {"trace_id": agent["traceId"], "parent": agent["spanId"]}
    resent = call("resent", MILLION)
    await send(
        person,
        *(call("monthly", {"input": 1000}, start=at) for at in months),
        agent,
        call("repeated", TOKENS, **ids),
        call("reported", {"input": 1000}, cost=7.5),
        call("changed", MILLION),
        resent,
        llm_call(LISTED, "openai", MILLION),
    )
    assert await costs(person, "monthly") == [0, 0, 0]
    (seen,) = [m for m in await person.data("GET", "/models") if m["model"] == "monthly"]
    assert (seen["priceSource"], seen["calls"], seen["inputPerMillion"]) == ("none", 3, None)
    (list_cost,) = await costs(person, LISTED)
    await asyncio.gather(
        *(put(person, model) for model in ("monthly", "repeated", "reported", "resent", LISTED))
    )
    for dollars in (1.0, 2.0, 3.0):
        await put(person, "changed", inputPerMillion=dollars)
    await until_repriced(person, "monthly", "repeated", "reported", "resent", "changed", LISTED)
    return Repriced(person, agent, resent, list_cost)


async def test_a_custom_price_applies_to_later_calls(person: Person) -> None:
    await put(person, "every rate", **RATES)
    await put(person, "two rates")
    await put(person, HAIKU)
    await send(
        person,
        call("every rate", TOKENS),
        call("two rates", TOKENS),
        llm_call(HAIKU, "anthropic", MILLION),
    )
    # 5,000 plain, 4,000 cached, 1,000 cache write, 1,500 output, 500 reasoning.
    expected = (5000 * 2 + 4000 * 0.5 + 1000 * 3 + 1500 * 10 + 500 * 20) / 1e6
    assert await costs(person, "every rate") == [pytest.approx(expected)]
    # Missing rates are derived from those of input and output.
    assert await costs(person, "two rates") == [pytest.approx((10_000 * 2 + 2000 * 10) / 1e6)]
    assert await costs(person, HAIKU) == [pytest.approx(2.0)]
    # Without the only custom price, the list price applies.
    await person.data("DELETE", "/models/prices", params={"model": HAIKU})
    await until_costs(person, HAIKU, [0.25])


async def test_an_unknown_model_costs_nothing_until_its_price_appears(repriced: Repriced) -> None:
    person = repriced.person
    assert await costs(person, "monthly") == [pytest.approx(0.002)] * 3
    (seen,) = [m for m in await person.data("GET", "/models") if m["model"] == "monthly"]
    assert (seen["priceSource"], seen["inputPerMillion"]) == ("own", 2.0)
    (price,) = [p for p in await person.data("GET", "/models/prices") if p["model"] == "monthly"]
    assert price["repricing"]["monthsTotal"] == price["repricing"]["monthsDone"] == 3


async def test_a_custom_price_replaces_the_list_price_for_earlier_spans_too(
    repriced: Repriced,
) -> None:
    assert repriced.list_cost > 0
    assert await costs(repriced.person, LISTED) == [pytest.approx(2.0)]


async def test_a_reported_cost_survives_repricing(repriced: Repriced) -> None:
    assert await costs(repriced.person, "reported") == [7.5]


async def test_the_last_of_several_price_changes_applies(repriced: Repriced) -> None:
    await until_costs(repriced.person, "changed", [3.0])
    await until_repriced(repriced.person, "changed")
    assert await costs(repriced.person, "changed") == [3.0]


async def test_spans_that_come_after_repricing_have_the_price_too(repriced: Repriced) -> None:
    """A span that is sent again, and an agent that repeats the usage of its call."""
    person = repriced.person
    later = {**call("repeated", TOKENS), "kind": "agent"}
    await send(person, repriced.resent, later)
    assert await costs(person, "resent") == [2.0]
    expected = pytest.approx((10_000 * 2 + 2000 * 10) / 1e6)
    trace = await person.data("GET", f"/spans/traces/{repriced.agent['traceId']}")
    assert [span["cost"] for span in trace["spans"]] == [expected, expected]
    assert trace["cost"] == expected
    trace = await person.data("GET", f"/spans/traces/{later['traceId']}")
    assert [span["cost"] for span in trace["spans"]] == [expected]
    assert trace["cost"] == 0


async def test_another_workspace_keeps_its_costs_and_sees_no_prices(
    service: Service, person: Person
) -> None:
    bob, model = await service.sign_up(), "acme/of-one"
    await asyncio.gather(*(send(each, call(model, {"input": 1000})) for each in (person, bob)))
    await service.services.ingest.pipeline.wait_until_visible()
    await put(person, model)
    await until_repriced(person, model)
    await send(bob, call(model, {"input": 1000}))
    assert await costs(person, model) == [pytest.approx(0.002)]
    assert await costs(bob, model) == [0, 0]
    assert await bob.data("GET", "/models/prices") == []
    assert await bob.data("GET", "/models/repricing") == []
    assert_error(await bob.call("DELETE", "/models/prices", params={"model": model}), 404)
    assert [p["model"] for p in await person.data("GET", "/models/prices")] == [model]
    assert [m["priceSource"] for m in await bob.data("GET", "/models")] == ["none"]


async def test_omitted_rates_do_not_change(person: Person) -> None:
    await put(person, "m", cachedInputPerMillion=0.1)
    body: dict[str, Any] = {"model": "m", "outputPerMillion": 11}
    changed = await person.data("PUT", "/models/prices", json=body)
    assert (changed["inputPerMillion"], changed["outputPerMillion"]) == (2.0, 11.0)
    assert changed["cachedInputPerMillion"] == 0.1
    body = {"model": "m", "cachedInputPerMillion": None}
    changed = await person.data("PUT", "/models/prices", json=body)
    assert changed["cachedInputPerMillion"] is None


async def test_an_invalid_price_is_refused_with_the_field(person: Person) -> None:
    tool = {"kind": "tool", "model": "t"}
    refused: list[tuple[dict[str, Any], str]] = [
        (PRICE, "model"),
        ({**PRICE, "model": ""}, "model"),
        ({**PRICE, "model": "a\x00b"}, "model"),
        ({"model": "m", "outputPerMillion": 1}, "inputPerMillion"),
        ({**PRICE, "model": "m", "inputPerMillion": None}, "inputPerMillion"),
        ({**PRICE, "model": "m", "inputPerMillion": -1}, "inputPerMillion"),
        ({**PRICE, "model": "m", "inputPerMillion": "1"}, "inputPerMillion"),
        ({**PRICE, "model": "m", "inputPerMillion": True}, "inputPerMillion"),
        (tool, "perCall"),
        ({**tool, "perCall": 1, "inputPerMillion": 1}, "inputPerMillion"),
        ({**PRICE, "model": "m", "perCall": -1}, "perCall"),
        ({**PRICE, "model": "m", "kind": "agent"}, "kind"),
        ({**PRICE, "model": "m", "effectiveFrom": "1969-01-01T00:00:00Z"}, "effectiveFrom"),
        ({**PRICE, "model": "m", "effectiveFrom": "soon"}, "effectiveFrom"),
    ]
    for body, field in refused:
        assert_error(await person.call("PUT", "/models/prices", json=body), 400, field)
    assert await person.data("GET", "/models/prices") == []


async def test_prices_are_paged_by_name(person: Person) -> None:
    for name in ("c", "a", "b"):
        await put(person, name)
    answer = await person.call("GET", "/models/prices?limit=2")
    assert [p["model"] for p in answer.json()["data"]] == ["a", "b"]
    assert answer.json()["pagination"] == {"total": 3, "limit": 2, "skip": 0, "hasMore": True}
