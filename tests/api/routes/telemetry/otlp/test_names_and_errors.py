"""Agents, providers, sessions, users and errors are read from what each emitter sends."""

from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from support.ids import new_span_id, new_trace_id
from support.otlp import Exporter, make_span, make_traces
from support.service import Service

OK, FAILED = Status.STATUS_CODE_OK, Status.STATUS_CODE_ERROR
AGENT: dict[str, Any] = {"openinference.span.kind": "AGENT"}
MODEL: dict[str, Any] = {"gen_ai.request.model": "gpt-4o"}


def one(**attributes: Any) -> list[Span]:
    return [make_span(**attributes)]


def root_and_call(root: dict[str, Any], call: dict[str, Any], name: str = "root") -> list[Span]:
    trace_id, root_id = bytes.fromhex(new_trace_id()), bytes.fromhex(new_span_id())
    return [
        make_span(trace_id, root_id, name=name, **root),
        make_span(trace_id, parent=root_id, name="call", **call),
    ]


def langfuse_error() -> list[Span]:
    level = {"level": "ERROR", "status_message": "429 Too Many Requests"}
    return one(**{f"langfuse.observation.{key}": text for key, text in level.items()})


def failed_call() -> list[Span]:
    spans = root_and_call({}, MODEL)
    spans[1].status.code, spans[1].status.message = FAILED, "Rate limit reached"
    return spans


def successful_retry() -> list[Span]:
    spans = root_and_call({}, MODEL)
    spans[1].status.code = FAILED
    return [*spans, make_span(spans[0].trace_id, parent=spans[0].span_id, **MODEL)]


def root_that_says_ok() -> list[Span]:
    spans = root_and_call({}, MODEL)
    spans[0].status.code, spans[1].status.code = OK, FAILED
    return spans


def langsmith_exception() -> list[Span]:
    span = make_span(langsmith__span__kind="llm")
    span.status.code = OK
    event = span.events.add(name="exception")
    event.attributes.add(key="exception.message").value.string_value = "429 Rate limit reached"
    return [span]


RATE_LIMITED = {"status": "error", "errorType": "rate_limit"}
WEATHER = "Weather reporter"


def agent(name: str, **attributes: Any) -> list[Span]:
    return [make_span(name=name, **AGENT, **attributes)]


# A trace with a span for each way to name the provider.
CALLS = bytes.fromhex(new_trace_id())


def call(**attributes: Any) -> list[Span]:
    return [make_span(CALLS, name="call", **attributes)]


# The spans of a trace, and what the trace and every span of it must show.
TRACES: dict[str, tuple[list[Span], dict[str, Any]]] = {
    "a Langfuse observation at level ERROR failed": (langfuse_error(), RATE_LIMITED),
    "a trace whose only call failed is an error": (failed_call(), RATE_LIMITED),
    "a trace with a successful retry is no error": (successful_retry(), {"status": "success"}),
    "a root that says OK is believed": (root_that_says_ok(), {"status": "success"}),
    "a LangSmith run with an exception failed": (langsmith_exception(), RATE_LIMITED),
    "a workflow takes the name of its first agent": (
        root_and_call(AGENT, {**AGENT, "graph.node.id": "Triage"}, name="Agent workflow"),
        {"agentName": "Triage"},
    ),
    "the user is in the parameters of the call": (
        one(**{"llm.invocation_parameters": '{"model": "gpt-4o", "user": "u-7"}'}),
        {"sessionId": None, "userId": "u-7"},
    ),
    "a thread is a session": (
        one(**{"traceloop.association.properties.thread_id": "t-1"}),
        {"sessionId": "t-1", "userId": None},
    ),
    "a scrubbed session is none": (
        one(**{"session.id": "[Scrubbed due to 'session']", "user.id": "u-7"}),
        {"sessionId": None, "userId": "u-7"},
    ),
}
SPANS: dict[str, tuple[list[Span], dict[str, Any]]] = {
    "a method of an agent": (agent("weather_agent.run"), {"agentName": "weather_agent"}),
    "a node with a name": (
        agent(f"{WEATHER}._execute_core", **{"graph.node.id": WEATHER}),
        {"agentName": WEATHER},
    ),
    "a method of a node": (agent(f"{WEATHER}._execute_core"), {"agentName": WEATHER}),
    "an invocation": (agent("invoke_agent weather"), {"agentName": "weather"}),
    "metadata of LangSmith": (
        agent("model", **{"langsmith.metadata.lc_agent_name": "weather"}),
        {"agentName": "weather"},
    ),
    "an observation at level ERROR": (langfuse_error(), {"status": "error"}),
    "a service without a name takes that of the root": (
        root_and_call({}, MODEL, name="weather-agent"),
        {"agentName": "weather-agent"},
    ),
    **{
        f"provider {number}": (call(**attributes), {"provider": provider, "model": model})
        for number, (attributes, provider, model) in enumerate(
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
            ]
        )
    },
}


@pytest.fixture(scope="module")
async def shown(shared_service: Service) -> dict[str, dict[str, Any]]:
    """How the API shows each trace; all were sent in one request."""
    person = await shared_service.sign_up()
    request = ExportTraceServiceRequest()
    for case, (spans, _) in {**TRACES, **SPANS}.items():
        is_nameless = case.startswith("a service without a name")
        one = make_traces(spans, "unknown_service:node" if is_nameless else "shop")
        scope = "langsmith" if case.startswith("a LangSmith run") else ""
        one.resource_spans[0].scope_spans[0].scope.name = scope
        request.MergeFrom(one)
    exporter = Exporter(shared_service.http, (await person.new_key(scopes=["ingest"]))["key"])
    assert (await exporter.post(request)).status_code == 200
    ids = {case: spans[0].trace_id.hex() for case, (spans, _) in {**TRACES, **SPANS}.items()}
    traces = {one: await person.data("GET", f"/spans/traces/{one}") for one in {*ids.values()}}
    return {case: traces[trace_id] for case, trace_id in ids.items()}


@pytest.mark.parametrize("case", TRACES)
async def test_the_status_the_names_and_the_ids_of_a_trace_are_found(
    shown: dict[str, dict[str, Any]], case: str
) -> None:
    expected = TRACES[case][1]
    assert {field: shown[case][field] for field in expected} == expected


@pytest.mark.parametrize("case", SPANS)
async def test_the_names_of_agents_providers_and_models_of_spans_are_found(
    shown: dict[str, dict[str, Any]], case: str
) -> None:
    spans, expected = SPANS[case]
    found = {span["spanId"]: span for span in shown[case]["spans"]}
    for sent in spans:
        span = found[sent.span_id.hex()]
        assert {field: span[field] for field in expected} == expected
    if "agentName" in expected:
        assert shown[case]["agentName"] == expected["agentName"]
