"""The cost of a call at list prices, checked against the library of the price list."""

from datetime import UTC, datetime
from typing import Any

import pytest
from genai_prices import Usage, calc_price

from support.ids import new_trace_id
from support.service import Person, Service
from support.spans import llm_call, span

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)


def list_cost(provider: str, model: str, tokens: dict[str, int], at: datetime = NOW) -> float:
    """Compute the expected cost with the library of the price list."""
    names = {
        "input": "input_tokens",
        "cached": "cache_read_tokens",
        "cache_write": "cache_write_tokens",
        "output": "output_tokens",
        "reasoning": "output_reasoning_tokens",
    }
    usage = Usage(**{names[sort]: count for sort, count in tokens.items()})
    price = calc_price(usage, model, provider_id=provider, genai_request_timestamp=at)
    return float(price.total_price)


async def send(person: Person, *spans: dict[str, Any]) -> None:
    await person.data("POST", "/spans", json={"spans": spans})


async def cost_of(person: Person, sent: dict[str, Any]) -> float:
    """Return the cost of a span, and check that its trace has the same."""
    trace = await person.data("GET", f"/spans/traces/{sent['traceId']}")
    cost: float = trace["spans"][0]["cost"]
    assert trace["cost"] == pytest.approx(cost, abs=1e-15)
    return cost


CALLS = [
    ("plain", "openai", "gpt-4o", {"input": 1200, "output": 345}),
    ("cached", "openai", "gpt-4o", {"input": 5000, "cached": 4096, "output": 20}),
    (
        "cache write",
        "anthropic",
        "claude-sonnet-4-5",
        {"input": 30_000, "cached": 9000, "cache_write": 20_000, "output": 700},
    ),
    (
        "reasoning",
        "perplexity",
        "sonar-deep-research",
        {"input": 900, "output": 5000, "reasoning": 3000},
    ),
    ("below the tier", "google", "gemini-2.5-pro", {"input": 200_000, "output": 10}),
    ("above the tier", "google", "gemini-2.5-pro", {"input": 200_001, "output": 10}),
    (
        "cached above the tier",
        "anthropic",
        "claude-sonnet-4-5",
        {"input": 300_000, "cached": 250_000, "cache_write": 1000, "output": 999},
    ),
    ("under another provider's name", "gcp.gemini", "gemini-2.5-pro", {"input": 10, "output": 10}),
]


@pytest.mark.parametrize(
    ("provider", "model", "tokens"), [c[1:] for c in CALLS], ids=[c[0] for c in CALLS]
)
async def test_a_call_has_its_list_price(
    service: Service, provider: str, model: str, tokens: dict[str, int]
) -> None:
    person = await service.sign_up()
    call = llm_call(model, provider, tokens, start=NOW)
    await send(person, call)
    expected = list_cost("google" if provider == "gcp.gemini" else provider, model, tokens)
    assert expected > 0
    assert await cost_of(person, call) == pytest.approx(expected, rel=1e-9)


async def test_a_changed_list_price_applies_from_its_date(service: Service) -> None:
    person = await service.sign_up()
    tokens = {"input": 1000, "output": 1000}
    before = datetime(2026, 6, 15, 23, 59, 59, tzinfo=UTC)
    after = datetime(2026, 6, 16, 0, 0, 0, tzinfo=UTC)
    calls = {
        moment: llm_call("mistral-medium-latest", "mistral", tokens, start=moment)
        for moment in (before, after)
    }
    await send(person, *calls.values())
    costs = {moment: await cost_of(person, call) for moment, call in calls.items()}
    assert costs[before] < costs[after]
    for moment, cost in costs.items():
        expected = list_cost("mistral", "mistral-medium-latest", tokens, moment)
        assert cost == pytest.approx(expected, rel=1e-9)


async def test_a_reported_cost_takes_precedence_over_the_computed_one(service: Service) -> None:
    person = await service.sign_up()
    call = llm_call("gpt-4o", "openai", {"input": 1000, "output": 1000}, cost=1.25)
    await send(person, call)
    assert await cost_of(person, call) == 1.25


async def test_a_cost_counts_on_model_calls_only_and_once(service: Service) -> None:
    person = await service.sign_up()
    trace_id = new_trace_id()
    root = span(trace_id, kind="agent", model="gpt-4o", provider="openai", inputTokens=1000)
    call = llm_call("gpt-4o", "openai", {"input": 1000}, start=NOW)
    call |= {"traceId": trace_id, "parentSpanId": root["spanId"]}
    await send(person, root, call)
    trace = await person.data("GET", f"/spans/traces/{trace_id}")
    assert trace["inputTokens"] == 1000
    assert trace["cost"] == pytest.approx(list_cost("openai", "gpt-4o", {"input": 1000}))
