"""Usage without a price: tokens and models in `costs`, by total, bucket and model."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from support.ids import new_trace_id
from support.service import Person, Service
from support.spans import llm_call, span

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
PERIOD = {"startDate": "2026-10-30", "endDate": "2026-11-02"}


async def send(person: Person, *spans: dict[str, Any]) -> None:
    await person.data("POST", "/spans", json={"spans": spans})


async def costs_of(person: Person, **more: str) -> dict[str, Any]:
    costs: dict[str, Any] = await person.data("GET", "/analytics/costs", params=PERIOD | more)
    return costs


async def test_tokens_without_a_price_are_counted_by_bucket_and_model(service: Service) -> None:
    person = await service.sign_up()
    await send(
        person,
        llm_call("in-house-1", "acme", {"input": 100, "output": 20}, start=NOW),
        llm_call("in-house-2", "acme", {"input": 7, "output": 1}, start=NOW - timedelta(days=1)),
        llm_call("gpt-4o", "openai", {"input": 1000, "output": 1000}, start=NOW),
        llm_call("in-house-1", "acme", {"input": 5}, start=NOW, cost=0.5),
    )
    costs = await costs_of(person)
    assert costs["unpricedTokens"] == 128
    assert costs["unpricedTokensByModel"] == {"in-house-1": 120, "in-house-2": 8}
    assert costs["unpricedModels"] == ["in-house-1", "in-house-2"]
    assert {p["date"]: p["unpricedTokens"] for p in costs["trend"] if p["unpricedTokens"]} == {
        "2026-10-31": 8,
        "2026-11-01": 120,
    }
    metrics = await person.data("GET", "/analytics/metrics", params=PERIOD)
    assert metrics["unpricedTokens"] == 128


async def test_a_model_with_calls_of_both_kinds_counts_only_those_without_a_price(
    service: Service,
) -> None:
    person = await service.sign_up()
    trace_id = new_trace_id()
    root = span(trace_id, kind="agent", start=NOW)
    calls = [
        llm_call("in-house", "acme", {"input": 100, "output": 20}, start=NOW),
        llm_call("in-house", "acme", {"input": 900, "output": 80}, start=NOW, cost=0.25),
    ]
    calls = [call | {"traceId": trace_id, "parentSpanId": root["spanId"]} for call in calls]
    await send(person, root, *calls)
    costs = await costs_of(person)
    assert (costs["unpricedTokens"], costs["totalCost"]) == (120, 0.25)


async def test_a_call_that_two_spans_report_counts_once(service: Service) -> None:
    person = await service.sign_up()
    outer = llm_call("in-house", "acme", {"input": 100, "output": 20}, start=NOW)
    inner = llm_call("in-house", "acme", {"input": 100, "output": 20}, start=NOW)
    inner |= {"traceId": outer["traceId"], "parentSpanId": outer["spanId"]}
    await send(person, outer, inner)
    assert (await costs_of(person))["unpricedTokens"] == 120


async def test_an_uncounted_span_does_not_make_its_model_unpriced(service: Service) -> None:
    person = await service.sign_up()
    outer = llm_call("in-house", "acme", {"input": 100, "output": 20}, start=NOW, cost=0.5)
    inner = llm_call("in-house", "acme", {"input": 100, "output": 20}, start=NOW)
    inner |= {"traceId": outer["traceId"], "parentSpanId": outer["spanId"]}
    await send(person, outer, inner)
    costs = await costs_of(person)
    assert (costs["unpricedTokens"], costs["unpricedModels"]) == (0, [])


async def test_a_call_without_a_model_counts_as_unknown(service: Service) -> None:
    person = await service.sign_up()
    call = span(new_trace_id(), kind="llm", start=NOW, inputTokens=30, outputTokens=3)
    await send(person, call)
    costs = await costs_of(person)
    assert costs["unpricedTokensByModel"] == {"unknown": 33}
    assert costs["unpricedModels"] == []


async def test_audio_without_a_rate_counts_as_unpriced_and_the_rest_has_its_price(
    service: Service,
) -> None:
    person = await service.sign_up()
    call = llm_call("gpt-4o", "openai", {"input": 1000, "output": 100}, start=NOW)
    call["attributes"] |= {"gen_ai.usage.audio.input_tokens": 400}
    text = llm_call("gpt-4o", "openai", {"input": 600, "output": 100}, start=NOW)
    await send(person, call, text)
    costs = await costs_of(person)
    assert costs["unpricedTokens"] == 400
    assert costs["unpricedModels"] == ["gpt-4o"]
    detail = [
        (await person.data("GET", f"/spans/traces/{each['traceId']}"))["cost"]
        for each in (call, text)
    ]
    assert detail[0] == pytest.approx(detail[1])
    assert detail[0] > 0
