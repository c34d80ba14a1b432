"""Usage without a price: tokens and models in `costs`, by total, bucket and model."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from support.service import Person, Service
from support.spans import llm_call, span

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)


def days_ago(case: int) -> datetime:
    """Return the time of one case: each has days of its own."""
    return NOW - timedelta(days=10 * case)


def _both_kinds(at: datetime) -> list[dict[str, Any]]:
    root = span(kind="agent", start=at)
    calls = [
        llm_call("in-house", "acme", {"input": 100, "output": 20}, start=at),
        llm_call("in-house", "acme", {"input": 900, "output": 80}, start=at, cost=0.25),
    ]
    ids = {"traceId": root["traceId"], "parentSpanId": root["spanId"]}
    return [root, *(call | ids for call in calls)]


def _reported_twice(at: datetime, **outer: Any) -> list[dict[str, Any]]:
    above = llm_call("in-house", "acme", {"input": 100, "output": 20}, start=at, **outer)
    inner = llm_call("in-house", "acme", {"input": 100, "output": 20}, start=at)
    return [above, inner | {"traceId": above["traceId"], "parentSpanId": above["spanId"]}]


def _with_and_without_audio(at: datetime) -> list[dict[str, Any]]:
    call = llm_call("gpt-4o", "openai", {"input": 1000, "output": 100}, start=at)
    call["attributes"] |= {"gen_ai.usage.audio.input_tokens": 400}
    return [call, llm_call("gpt-4o", "openai", {"input": 600, "output": 100}, start=at)]


def _with_unknown_cost(at: datetime) -> dict[str, Any]:
    """A call whose instrumentation writes 0 when it does not know the cost."""
    call = llm_call("gpt-4o", "openai", {"input": 1000, "output": 100}, start=at)
    call["attributes"] |= {"gen_ai.usage.cost": 0}
    return call


@pytest.fixture(scope="module")
async def person(shared_service: Service) -> Person:
    sender = await shared_service.sign_up()
    spans = [
        llm_call("in-house-1", "acme", {"input": 100, "output": 20}, start=NOW),
        llm_call("in-house-2", "acme", {"input": 7, "output": 1}, start=NOW - timedelta(days=1)),
        llm_call("gpt-4o", "openai", {"input": 1000, "output": 1000}, start=NOW),
        llm_call("in-house-1", "acme", {"input": 5}, start=NOW, cost=0.5),
        *_both_kinds(days_ago(1)),
        *_reported_twice(days_ago(2)),
        *_reported_twice(days_ago(3), cost=0.5),
        span(kind="llm", start=days_ago(4), inputTokens=30, outputTokens=3),
        *_with_and_without_audio(days_ago(5)),
        llm_call("gpt-4o", "openai", {"input": 1000, "output": 100}, start=days_ago(6), cost=0),
        llm_call("in-house", "acme", {"input": 1000}, start=days_ago(6), cost=0),
        _with_unknown_cost(days_ago(7)),
    ]
    await sender.data("POST", "/spans", json={"spans": spans})
    return sender


def period_of(case: int) -> dict[str, str]:
    days = (days_ago(case) - timedelta(days=2), days_ago(case) + timedelta(days=1))
    start, end = (f"{day:%Y-%m-%d}" for day in days)
    return {"startDate": start, "endDate": end}


async def costs_of(person: Person, case: int) -> dict[str, Any]:
    costs: dict[str, Any] = await person.data("GET", "/analytics/costs", params=period_of(case))
    return costs


async def test_tokens_without_a_price_are_counted_by_bucket_and_model(person: Person) -> None:
    costs = await costs_of(person, 0)
    assert costs["unpricedTokens"] == 128
    assert costs["unpricedTokensByModel"] == {"in-house-1": 120, "in-house-2": 8}
    assert costs["unpricedModels"] == ["in-house-1", "in-house-2"]
    assert {p["date"]: p["unpricedTokens"] for p in costs["trend"] if p["unpricedTokens"]} == {
        "2026-10-31": 8,
        "2026-11-01": 120,
    }
    metrics = await person.data("GET", "/analytics/metrics", params=period_of(0))
    assert metrics["unpricedTokens"] == 128


async def test_a_model_with_calls_of_both_kinds_counts_only_those_without_a_price(
    person: Person,
) -> None:
    costs = await costs_of(person, 1)
    assert (costs["unpricedTokens"], costs["totalCost"]) == (120, 0.25)


async def test_a_call_that_two_spans_report_counts_once(person: Person) -> None:
    assert (await costs_of(person, 2))["unpricedTokens"] == 120


async def test_an_uncounted_span_does_not_make_its_model_unpriced(person: Person) -> None:
    costs = await costs_of(person, 3)
    assert (costs["unpricedTokens"], costs["unpricedModels"]) == (0, [])


async def test_a_call_without_a_model_counts_as_unknown(person: Person) -> None:
    costs = await costs_of(person, 4)
    assert costs["unpricedTokensByModel"] == {"unknown": 33}
    assert costs["unpricedModels"] == []


async def test_audio_without_a_rate_counts_as_unpriced_and_the_rest_has_its_price(
    person: Person,
) -> None:
    costs = await costs_of(person, 5)
    assert costs["unpricedTokens"] == 400
    assert costs["unpricedModels"] == ["gpt-4o"]
    listed = await person.data("GET", "/spans/traces", params=period_of(5))
    with_audio, text = [trace["cost"] for trace in listed]
    assert with_audio == pytest.approx(text)
    assert text > 0


async def test_a_reported_cost_of_0_is_a_cost_of_0(person: Person) -> None:
    costs = await costs_of(person, 6)
    assert (costs["totalCost"], costs["unpricedTokens"], costs["unpricedModels"]) == (0, 0, [])


async def test_a_cost_of_0_that_means_unknown_is_computed(person: Person) -> None:
    costs = await costs_of(person, 7)
    assert costs["totalCost"] == pytest.approx((1000 * 2.5 + 100 * 10) / 1e6)
