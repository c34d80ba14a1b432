"""Agents, providers, sessions, users and errors are read from what each emitter sends."""

from collections.abc import Sequence
from typing import Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from support.ids import new_span_id, new_trace_id
from support.otlp import PROTOBUF, make_span, make_traces
from support.service import Service


async def show(
    service: Service, spans: Sequence[Span], scope: str = "", service_name: str = "shop"
) -> dict[str, Any]:
    """Export spans of one trace and return how the API shows it."""
    person = await service.sign_up()
    request = make_traces(spans, service_name)
    request.resource_spans[0].scope_spans[0].scope.name = scope
    response = await person.call(
        "POST",
        "/otlp/v1/traces",
        content=request.SerializeToString(),
        headers={"Content-Type": PROTOBUF},
    )
    assert response.status_code == 200, response.text
    trace: dict[str, Any] = await person.data("GET", f"/spans/traces/{spans[0].trace_id.hex()}")
    return trace


def root_and_call(root: dict[str, Any], call: dict[str, Any], name: str = "root") -> list[Span]:
    trace_id, root_id = bytes.fromhex(new_trace_id()), bytes.fromhex(new_span_id())
    return [
        make_span(trace_id, root_id, name=name, **root),
        make_span(trace_id, parent=root_id, name="call", **call),
    ]


OK, FAILED = Status.STATUS_CODE_OK, Status.STATUS_CODE_ERROR


async def test_a_langfuse_observation_at_level_error_failed(service: Service) -> None:
    span = make_span(
        langfuse__observation__level="ERROR",
        langfuse__observation__status_message="429 Too Many Requests",
    )
    trace = await show(service, [span])
    assert (trace["status"], trace["errorType"]) == ("error", "rate_limit")
    assert trace["spans"][0]["status"] == "error"


async def test_a_trace_whose_only_call_failed_is_an_error(service: Service) -> None:
    spans = root_and_call({}, {"gen_ai.request.model": "gpt-4o"})
    spans[1].status.code, spans[1].status.message = FAILED, "Rate limit reached"
    trace = await show(service, spans)
    assert (trace["status"], trace["errorType"]) == ("error", "rate_limit")


async def test_a_trace_with_a_successful_retry_is_no_error(service: Service) -> None:
    spans = root_and_call({}, {"gen_ai.request.model": "gpt-4o"})
    spans[1].status.code = FAILED
    retry = make_span(spans[0].trace_id, parent=spans[0].span_id, gen_ai__request__model="gpt-4o")
    assert (await show(service, [*spans, retry]))["status"] == "success"


async def test_a_root_that_says_ok_is_believed(service: Service) -> None:
    spans = root_and_call({}, {"gen_ai.request.model": "gpt-4o"})
    spans[0].status.code, spans[1].status.code = OK, FAILED
    assert (await show(service, spans))["status"] == "success"


async def test_a_langsmith_run_with_an_exception_failed(service: Service) -> None:
    span = make_span(langsmith__span__kind="llm")
    span.status.code = OK
    event = span.events.add(name="exception")
    event.attributes.add(key="exception.message").value.string_value = "429 Rate limit reached"
    trace = await show(service, [span], scope="langsmith")
    assert (trace["status"], trace["errorType"]) == ("error", "rate_limit")


AGENT: dict[str, Any] = {"openinference.span.kind": "AGENT"}


@pytest.mark.parametrize(
    ("name", "attributes", "agent"),
    [
        ("weather_agent.run", {}, "weather_agent"),
        (
            "Weather reporter._execute_core",
            {"graph.node.id": "Weather reporter"},
            "Weather reporter",
        ),
        ("Weather reporter._execute_core", {}, "Weather reporter"),
        ("invoke_agent weather", {}, "weather"),
        ("model", {"langsmith.metadata.lc_agent_name": "weather"}, "weather"),
    ],
)
async def test_the_agent_is_named_without_its_method(
    service: Service, name: str, attributes: dict[str, Any], agent: str
) -> None:
    trace = await show(service, [make_span(name=name, **AGENT, **attributes)])
    assert trace["agentName"] == trace["spans"][0]["agentName"] == agent


async def test_a_workflow_of_agents_takes_the_name_of_its_first_agent(service: Service) -> None:
    spans = root_and_call(AGENT, {**AGENT, "graph.node.id": "Triage"}, name="Agent workflow")
    assert (await show(service, spans))["agentName"] == "Triage"


async def test_a_service_without_a_name_takes_that_of_the_root(service: Service) -> None:
    spans = root_and_call({}, {"gen_ai.request.model": "gpt-4o"}, name="weather-agent")
    trace = await show(service, spans, service_name="unknown_service:node")
    assert {trace["agentName"], *(s["agentName"] for s in trace["spans"])} == {"weather-agent"}


@pytest.mark.parametrize(
    ("attributes", "provider", "model"),
    [
        ({"langfuse.observation.model.name": "gpt-4o-mini"}, "openai", "gpt-4o-mini"),
        ({"mlflow.llm.model": "claude-sonnet-4-5"}, "anthropic", "claude-sonnet-4-5"),
        (
            {"gen_ai.system": "strands-agents", "gen_ai.request.model": "gpt-4o-mini"},
            "openai",
            "gpt-4o-mini",
        ),
        ({"gen_ai.system": "strands-agents"}, None, None),
        (
            {"llm.provider": "openai", "llm.model_name": "openai/gpt-4o-mini"},
            "openai",
            "gpt-4o-mini",
        ),
        ({"llm.model_name": "gemini/gemini-2.5-flash"}, "gcp.gemini", "gemini-2.5-flash"),
        (
            {"llm.provider": "openrouter", "llm.model_name": "openai/gpt-4o-mini"},
            "openrouter",
            "openai/gpt-4o-mini",
        ),
        ({"llm.model_name": "meta-llama/Llama-3"}, None, "meta-llama/Llama-3"),
        ({"llm.model_name": "my-own-model"}, None, "my-own-model"),
    ],
)
async def test_the_provider_and_the_model_have_one_name_each(
    service: Service, attributes: dict[str, Any], provider: str | None, model: str | None
) -> None:
    span = (await show(service, [make_span(name="call", **attributes)]))["spans"][0]
    assert (span["provider"], span["model"]) == (provider, model)


@pytest.mark.parametrize(
    ("attributes", "session", "user"),
    [
        ({"llm.invocation_parameters": '{"model": "gpt-4o", "user": "u-7"}'}, None, "u-7"),
        ({"traceloop.association.properties.thread_id": "t-1"}, "t-1", None),
        ({"session.id": "[Scrubbed due to 'session']", "user.id": "u-7"}, None, "u-7"),
    ],
)
async def test_the_session_and_the_user_are_found(
    service: Service, attributes: dict[str, Any], session: str | None, user: str | None
) -> None:
    trace = await show(service, [make_span(**attributes)])
    assert (trace["sessionId"], trace["userId"]) == (session, user)
