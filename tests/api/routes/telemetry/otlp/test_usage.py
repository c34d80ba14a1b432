"""Tokens and costs are read from each emitter as it means them."""

from typing import Any

import orjson
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from support.otlp import Exporter, make_span, make_traces
from support.service import Person, Service

SONNET = "claude-sonnet-4-5"
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
LANGFUSE = {
    "langfuse.observation.type": "generation",
    "langfuse.observation.model.name": "gpt-4o-mini",
}
RESPONSES_API = {
    "input_tokens": 1200,
    "input_tokens_details": {"cache_write_tokens": 0, "cached_tokens": 1024},
    "output_tokens": 150,
    "output_tokens_details": {"reasoning_tokens": 64},
}


def langfuse(**details: Any) -> dict[str, Any]:
    sent = {
        f"langfuse.observation.{key}": orjson.dumps(value).decode()
        for key, value in details.items()
    }
    return {**LANGFUSE, **sent}


# The scope, the name of the span, its attributes, and how it is shown.
CASES: dict[str, tuple[str, str, dict[str, Any], dict[str, Any]]] = {
    "OpenLIT leaves cached tokens out": (
        "openlit.instrumentation.anthropic",
        "chat",
        OPENLIT,
        {"inputTokens": 6536, "cachedTokens": 1024, "cost": 0.0194772},
    ),
    "Claude Code leaves cached tokens out": (
        "com.anthropic.claude_code.tracing",
        "claude_code.llm_request",
        CLAUDE_CODE,
        {"inputTokens": 6536, "cachedTokens": 1024, "cost": 0.0194772},
    ),
    "other emitters include cached tokens": (
        "com.anthropic.sdk.python",
        "a call",
        OPENLIT,
        {"inputTokens": 5000, "cost": 0.0148692},
    ),
    "Langfuse usage of the responses API": (
        "",
        "a call",
        langfuse(usage_details=RESPONSES_API),
        {
            "inputTokens": 1200,
            "outputTokens": 150,
            "cachedTokens": 1024,
            "reasoningTokens": 64,
            "cost": 0.0001932,
        },
    ),
    "Langfuse costs without a total are added up": (
        "",
        "a call",
        langfuse(cost_details={"input": 0.25, "output": 0.5}),
        {"cost": 0.75},
    ),
    "Langfuse costs with a total": (
        "",
        "a call",
        langfuse(cost_details={"input": 0.25, "output": 0.5, "total": 2}),
        {"cost": 2},
    ),
    "the cost that LiteLLM reports": (
        "",
        "a call",
        {"gen_ai.request.model": "gpt-4o-mini", "gen_ai.cost.total_cost": 0.125},
        {"cost": 0.125},
    ),
    "an embedding model without a provider has a price": (
        "",
        "a call",
        {
            "openinference.span.kind": "EMBEDDING",
            "embedding.model_name": "text-embedding-3-small",
            "llm.token_count.prompt": 500,
        },
        {"provider": "openai", "cost": 0.00001},
    ),
}
# All are spans of one trace.
TRACE = make_span().trace_id


@pytest.fixture(scope="module")
async def shown(shared_service: Service) -> dict[str, dict[str, Any]]:
    """How the API shows the span of each case."""
    person: Person = await shared_service.sign_up()
    request = ExportTraceServiceRequest()
    ids = {}
    for case, (scope, name, attributes, _) in CASES.items():
        span = make_span(TRACE, name=name, **attributes)
        ids[span.span_id.hex()] = case
        one = make_traces([span])
        one.resource_spans[0].scope_spans[0].scope.name = scope
        request.MergeFrom(one)
    exporter = Exporter(shared_service.http, (await person.new_key(scopes=["ingest"]))["key"])
    assert (await exporter.post(request)).status_code == 200
    trace = await person.data("GET", f"/spans/traces/{TRACE.hex()}")
    return {ids[span["spanId"]]: span for span in trace["spans"]}


@pytest.mark.parametrize("case", CASES)
async def test_usage_is_read_as_the_emitter_means_it(
    shown: dict[str, dict[str, Any]], case: str
) -> None:
    expected = CASES[case][3]
    got = {field: shown[case][field] for field in expected}
    assert got == {
        field: pytest.approx(value) if isinstance(value, float) else value
        for field, value in expected.items()
    }
