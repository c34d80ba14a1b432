"""Custom prices: set, changed and removed, and repricing of earlier spans."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from support.polling import until
from support.service import Person, Service, assert_error
from support.spans import llm_call

MODEL = "acme/own-model"
PRICE = {"model": MODEL, "inputPerMillion": 2.0, "outputPerMillion": 10.0}
TOKENS = {"input": 10_000, "cached": 4000, "cache_write": 1000, "output": 2000, "reasoning": 500}


async def send(person: Person, *spans: dict[str, Any]) -> None:
    await person.data("POST", "/spans", json={"spans": spans})


async def repriced(person: Person, model: str = MODEL) -> None:
    """Wait until earlier spans have the latest price of a model."""

    async def is_done() -> bool:
        tasks = await person.data("GET", "/models/repricing")
        return any(task["model"] == model and task["state"] == "done" for task in tasks)

    await until(is_done, 30)


async def costs(person: Person) -> list[float]:
    """Return the costs of all traces, newest first, checked against their spans."""
    traces = await person.data("GET", "/spans/traces")
    for trace in traces:
        whole = await person.data("GET", f"/spans/traces/{trace['traceId']}")
        assert trace["cost"] == pytest.approx(sum(s["cost"] for s in whole["spans"]))
    return [trace["cost"] for trace in traces]


async def test_a_custom_price_applies_to_later_calls_at_every_rate(service: Service) -> None:
    person = await service.sign_up()
    rates = {
        "cachedInputPerMillion": 0.5,
        "cacheWritePerMillion": 3.0,
        "reasoningPerMillion": 20.0,
    }
    await person.data("PUT", "/models/prices", json={**PRICE, **rates})
    await send(person, llm_call(MODEL, "acme", TOKENS))
    # 5,000 plain, 4,000 cached, 1,000 cache write, 1,500 output, 500 reasoning.
    expected = (5000 * 2 + 4000 * 0.5 + 1000 * 3 + 1500 * 10 + 500 * 20) / 1e6
    assert await costs(person) == [pytest.approx(expected)]


async def test_missing_rates_are_derived_from_input_and_output(service: Service) -> None:
    person = await service.sign_up()
    await person.data("PUT", "/models/prices", json=PRICE)
    await send(person, llm_call(MODEL, "acme", TOKENS))
    assert await costs(person) == [pytest.approx((10_000 * 2 + 2000 * 10) / 1e6)]


async def test_a_custom_price_replaces_the_list_price_for_earlier_spans_too(
    service: Service,
) -> None:
    person = await service.sign_up()
    await send(person, llm_call("gpt-4o", "openai", {"input": 1_000_000}))
    (list_cost,) = await costs(person)
    assert list_cost > 0
    await person.data("PUT", "/models/prices", json={**PRICE, "model": "gpt-4o"})
    await repriced(person, "gpt-4o")
    assert await costs(person) == [pytest.approx(2.0)]
    await person.data("DELETE", "/models/prices", params={"model": "gpt-4o"})
    await until_costs(person, [list_cost])


async def until_costs(person: Person, expected: list[float]) -> None:
    async def match() -> bool:
        traces = await person.data("GET", "/spans/traces")
        return [trace["cost"] for trace in traces] == pytest.approx(expected)

    await until(match, 30)
    assert await costs(person) == pytest.approx(expected)


async def test_deleting_the_only_custom_price_restores_the_list_price(
    service: Service,
) -> None:
    person = await service.sign_up()
    model = {"model": "claude-3-haiku-20240307"}
    await person.data("PUT", "/models/prices", json={**PRICE, **model})
    await send(person, llm_call(model["model"], "anthropic", {"input": 1_000_000}))
    assert await costs(person) == [pytest.approx(2.0)]
    await person.data("DELETE", "/models/prices", params=model)
    await until_costs(person, [0.25])


async def test_an_unknown_model_costs_nothing_until_its_price_appears(service: Service) -> None:
    person = await service.sign_up()
    now = datetime.now(UTC)
    months = [now, now - timedelta(days=40), now - timedelta(days=80)]
    await send(person, *(llm_call(MODEL, "acme", {"input": 1000}, start=at) for at in months))
    assert await costs(person) == [0, 0, 0]
    (seen,) = await person.data("GET", "/models")
    assert (seen["model"], seen["priceSource"], seen["calls"]) == (MODEL, "none", 3)
    assert seen["inputPerMillion"] is None
    await person.data("PUT", "/models/prices", json=PRICE)
    await repriced(person)
    assert await costs(person) == [pytest.approx(0.002)] * 3
    (seen,) = await person.data("GET", "/models")
    assert (seen["priceSource"], seen["inputPerMillion"]) == ("own", 2.0)
    (price,) = await person.data("GET", "/models/prices")
    assert price["repricing"]["monthsTotal"] == price["repricing"]["monthsDone"] == 3


async def test_an_agent_that_repeats_the_usage_of_its_call_is_priced_like_it(
    service: Service,
) -> None:
    person = await service.sign_up()
    agent = {**llm_call(MODEL, "acme", TOKENS), "kind": "agent"}
    ids = {"trace_id": agent["traceId"], "parent": agent["spanId"]}
    # Stored before and after the model has a price.
    await send(person, agent, llm_call(MODEL, "acme", TOKENS, **ids))
    await service.services.pipeline.wait_until_visible()
    await person.data("PUT", "/models/prices", json=PRICE)
    await repriced(person)
    later = {**llm_call(MODEL, "acme", TOKENS), "kind": "agent"}
    await send(person, later)
    expected = pytest.approx((10_000 * 2 + 2000 * 10) / 1e6)
    trace = await person.data("GET", f"/spans/traces/{agent['traceId']}")
    assert [span["cost"] for span in trace["spans"]] == [expected, expected]
    assert trace["cost"] == expected
    trace = await person.data("GET", f"/spans/traces/{later['traceId']}")
    assert [span["cost"] for span in trace["spans"]] == [expected]
    assert trace["cost"] == 0


async def test_a_reported_cost_survives_repricing(service: Service) -> None:
    person = await service.sign_up()
    await send(person, llm_call(MODEL, "acme", {"input": 1000}, cost=7.5))
    await person.data("PUT", "/models/prices", json=PRICE)
    await repriced(person)
    assert await costs(person) == [7.5]


async def test_the_last_of_several_price_changes_applies(service: Service) -> None:
    person = await service.sign_up()
    await send(person, llm_call(MODEL, "acme", {"input": 1_000_000}))
    for dollars in (1.0, 2.0, 3.0):
        body = {**PRICE, "inputPerMillion": dollars}
        await person.data("PUT", "/models/prices", json=body)
    await until_costs(person, [3.0])
    await repriced(person)
    assert await costs(person) == [3.0]


async def test_a_span_resent_after_repricing_keeps_its_cost(service: Service) -> None:
    person = await service.sign_up()
    call = llm_call(MODEL, "acme", {"input": 1_000_000})
    await send(person, call)
    await person.data("PUT", "/models/prices", json=PRICE)
    await repriced(person)
    await send(person, call)
    assert await costs(person) == [2.0]


async def test_another_workspace_keeps_its_costs_and_sees_no_prices(service: Service) -> None:
    ann, bob = await service.sign_up(), await service.sign_up()
    for person in (ann, bob):
        await send(person, llm_call(MODEL, "acme", {"input": 1000}))
    await ann.data("PUT", "/models/prices", json=PRICE)
    await repriced(ann)
    await send(bob, llm_call(MODEL, "acme", {"input": 1000}))
    assert await costs(ann) == [pytest.approx(0.002)]
    assert await costs(bob) == [0, 0]
    assert await bob.data("GET", "/models/prices") == []
    assert await bob.data("GET", "/models/repricing") == []
    assert_error(await bob.call("DELETE", "/models/prices", params={"model": MODEL}), 404)
    assert [p["model"] for p in await ann.data("GET", "/models/prices")] == [MODEL]
    assert [m["priceSource"] for m in await bob.data("GET", "/models")] == ["none"]


async def test_omitted_rates_do_not_change(service: Service) -> None:
    person = await service.sign_up()
    await person.data("PUT", "/models/prices", json={**PRICE, "cachedInputPerMillion": 0.1})
    changed = await person.data(
        "PUT", "/models/prices", json={"model": MODEL, "outputPerMillion": 11}
    )
    assert (changed["inputPerMillion"], changed["outputPerMillion"]) == (2.0, 11.0)
    assert changed["cachedInputPerMillion"] == 0.1
    removed = {"model": MODEL, "cachedInputPerMillion": None}
    assert (await person.data("PUT", "/models/prices", json=removed))[
        "cachedInputPerMillion"
    ] is None


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"inputPerMillion": 1, "outputPerMillion": 1}, "model"),
        ({"model": "", "inputPerMillion": 1, "outputPerMillion": 1}, "model"),
        ({"model": "a\x00b", "inputPerMillion": 1, "outputPerMillion": 1}, "model"),
        ({"model": "m", "outputPerMillion": 1}, "inputPerMillion"),
        ({"model": "m", "inputPerMillion": None, "outputPerMillion": 1}, "inputPerMillion"),
        ({"model": "m", "inputPerMillion": -1, "outputPerMillion": 1}, "inputPerMillion"),
        ({"model": "m", "inputPerMillion": "1", "outputPerMillion": 1}, "inputPerMillion"),
        ({"model": "m", "inputPerMillion": True, "outputPerMillion": 1}, "inputPerMillion"),
    ],
)
async def test_an_invalid_price_is_refused_with_the_field(
    service: Service, body: dict[str, Any], field: str
) -> None:
    person = await service.sign_up()
    assert_error(await person.call("PUT", "/models/prices", json=body), 400, field)
    assert await person.data("GET", "/models/prices") == []


async def test_a_read_key_may_list_prices_but_not_set_them(service: Service) -> None:
    person = await service.sign_up()
    key = (await person.new_key(scopes=["read"]))["key"]
    assert (await service.call_with_key(key, "GET", "/models/prices")).status_code == 200
    answer = await service.call("PUT", "/models/prices", headers={"x-api-key": key}, json=PRICE)
    assert_error(answer, 403)


async def test_prices_are_paged_by_name(service: Service) -> None:
    person = await service.sign_up()
    for name in ("c", "a", "b"):
        await person.data("PUT", "/models/prices", json={**PRICE, "model": name})
    answer = await person.call("GET", "/models/prices?limit=2")
    assert [p["model"] for p in answer.json()["data"]] == ["a", "b"]
    assert answer.json()["pagination"] == {"total": 3, "limit": 2, "skip": 0, "hasMore": True}
