"""Tokens and costs are read from each emitter as it means them."""

from typing import Any

import orjson
import pytest

from support.otlp import PROTOBUF, make_span, make_traces
from support.service import Person, Service

SONNET = "claude-sonnet-4-5"


async def show(service: Service, span_attributes: dict[str, Any], **how: str) -> dict[str, Any]:
    """Export one span and return how the API shows it."""
    person: Person = await service.sign_up()
    span = make_span(name=how.get("name", "a call"), **span_attributes)
    request = make_traces([span])
    request.resource_spans[0].scope_spans[0].scope.name = how.get("scope", "")
    response = await person.call(
        "POST",
        "/otlp/v1/traces",
        content=request.SerializeToString(),
        headers={"Content-Type": PROTOBUF},
    )
    assert response.status_code == 200, response.text
    trace = await person.data("GET", f"/spans/traces/{span.trace_id.hex()}")
    shown: dict[str, Any] = trace["spans"][0]
    return shown


OPENLIT = {
    "gen_ai.operation.name": "chat",
    "gen_ai.system": "anthropic",
    "gen_ai.request.model": SONNET,
    "gen_ai.usage.input_tokens": 5000,
    "gen_ai.usage.output_tokens": 150,
    "gen_ai.usage.cache_read.input_tokens": 1024,
    "gen_ai.usage.cache_creation.input_tokens": 512,
}
CLAUDE_CODE = {
    "gen_ai.system": "anthropic",
    "gen_ai.request.model": SONNET,
    "input_tokens": 5000,
    "output_tokens": 150,
    "cache_read_tokens": 1024,
    "cache_creation_tokens": 512,
}


@pytest.mark.parametrize(
    ("attributes", "name", "scope"),
    [
        (OPENLIT, "chat", "openlit.instrumentation.anthropic"),
        (CLAUDE_CODE, "claude_code.llm_request", "com.anthropic.claude_code.tracing"),
    ],
)
async def test_an_emitter_that_leaves_cached_tokens_out_gets_them_added(
    service: Service, attributes: dict[str, Any], name: str, scope: str
) -> None:
    span = await show(service, attributes, name=name, scope=scope)
    assert (span["inputTokens"], span["cachedTokens"]) == (6536, 1024)
    assert span["cost"] == pytest.approx(0.0194772)


async def test_other_emitters_include_cached_tokens(service: Service) -> None:
    span = await show(service, OPENLIT, scope="com.anthropic.sdk.python")
    assert span["inputTokens"] == 5000
    assert span["cost"] == pytest.approx(0.0148692)


LANGFUSE: dict[str, Any] = {
    "langfuse.observation.type": "generation",
    "langfuse.observation.model.name": "gpt-4o-mini",
}


async def test_langfuse_usage_of_the_responses_api_is_read(service: Service) -> None:
    usage = {
        "input_tokens": 1200,
        "input_tokens_details": {"cache_write_tokens": 0, "cached_tokens": 1024},
        "output_tokens": 150,
        "output_tokens_details": {"reasoning_tokens": 64},
    }
    details = {"langfuse.observation.usage_details": orjson.dumps(usage).decode()}
    span = await show(service, {**LANGFUSE, **details})
    assert (span["inputTokens"], span["outputTokens"]) == (1200, 150)
    assert (span["cachedTokens"], span["reasoningTokens"]) == (1024, 64)
    assert span["cost"] == pytest.approx(0.0001932)


@pytest.mark.parametrize(
    ("costs", "total"),
    [({"input": 0.25, "output": 0.5}, 0.75), ({"input": 0.25, "output": 0.5, "total": 2}, 2)],
)
async def test_langfuse_costs_without_a_total_are_added_up(
    service: Service, costs: dict[str, float], total: float
) -> None:
    details = {"langfuse.observation.cost_details": orjson.dumps(costs).decode()}
    assert (await show(service, {**LANGFUSE, **details}))["cost"] == pytest.approx(total)


async def test_the_cost_that_litellm_reports_is_used(service: Service) -> None:
    attributes = {"gen_ai.request.model": "gpt-4o-mini", "gen_ai.cost.total_cost": 0.125}
    assert (await show(service, attributes))["cost"] == pytest.approx(0.125)


async def test_an_embedding_model_without_a_provider_has_a_price(service: Service) -> None:
    attributes = {
        "openinference.span.kind": "EMBEDDING",
        "embedding.model_name": "text-embedding-3-small",
        "llm.token_count.prompt": 500,
    }
    span = await show(service, attributes)
    assert span["provider"] == "openai"
    assert span["cost"] == pytest.approx(0.00001)
