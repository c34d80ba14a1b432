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


BEFORE_CHANGE = datetime(2026, 6, 15, 23, 59, 59, tzinfo=UTC)
AFTER_CHANGE = datetime(2026, 6, 16, 0, 0, 0, tzinfo=UTC)
TOKENS = {"input": 1000, "output": 1000}


def _calls() -> dict[str, dict[str, Any]]:
    """Return all calls of this file, by name."""
    calls = {
        name: llm_call(model, provider, tokens, start=NOW)
        for name, provider, model, tokens in CALLS
    }
    for name, at in (("before", BEFORE_CHANGE), ("after", AFTER_CHANGE)):
        calls[name] = llm_call("mistral-medium-latest", "mistral", TOKENS, start=at)
    calls["reported"] = llm_call("gpt-4o", "openai", TOKENS, cost=1.25)
    calls["agent"] = span(
        new_trace_id(), kind="agent", model="gpt-4o", provider="openai", inputTokens=1000
    )
    calls["of agent"] = llm_call("gpt-4o", "openai", {"input": 1000}, start=NOW) | {
        "traceId": calls["agent"]["traceId"],
        "parentSpanId": calls["agent"]["spanId"],
    }
    return calls


Sent = tuple[Person, dict[str, dict[str, Any]]]


@pytest.fixture(scope="module")
async def sent(shared_service: Service) -> Sent:
    """A person, and the calls that were sent."""
    person, calls = await shared_service.sign_up(), _calls()
    await send(person, *calls.values())
    return person, calls


@pytest.mark.parametrize(
    ("name", "provider", "model", "tokens"), CALLS, ids=[name for name, *_ in CALLS]
)
async def test_a_call_has_its_list_price(
    sent: Sent, name: str, provider: str, model: str, tokens: dict[str, int]
) -> None:
    person, calls = sent
    expected = list_cost("google" if provider == "gcp.gemini" else provider, model, tokens)
    assert expected > 0
    assert await cost_of(person, calls[name]) == pytest.approx(expected, rel=1e-9)


async def test_a_changed_list_price_applies_from_its_date(sent: Sent) -> None:
    person, calls = sent
    before, after = [await cost_of(person, calls[name]) for name in ("before", "after")]
    assert before < after
    for cost, moment in ((before, BEFORE_CHANGE), (after, AFTER_CHANGE)):
        expected = list_cost("mistral", "mistral-medium-latest", TOKENS, moment)
        assert cost == pytest.approx(expected, rel=1e-9)


async def test_a_reported_cost_takes_precedence_over_the_computed_one(sent: Sent) -> None:
    person, calls = sent
    assert await cost_of(person, calls["reported"]) == 1.25


async def test_a_cost_counts_on_model_calls_only_and_once(sent: Sent) -> None:
    person, calls = sent
    trace = await person.data("GET", f"/spans/traces/{calls['agent']['traceId']}")
    assert trace["inputTokens"] == 1000
    assert trace["cost"] == pytest.approx(list_cost("openai", "gpt-4o", {"input": 1000}))
