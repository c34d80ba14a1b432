"""The clients with golden exports, and what their expectations have of each property.

`docs/clients.md` is generated from this module. A property that is not shown has to be missing in
the export: `test_clients.py` checks it.
"""

import math
import re
from dataclasses import dataclass
from functools import cached_property

from golden.recorded_clients import FOLDER, TOKENS, Export, Json, price

ROOT = FOLDER.parents[1]
SHOWN, NOT_SENT, NOT_RECORDED = "✓", "not sent", ""
SIDES = ("input", "output")
_CACHE = {"cachedTokens", "cacheWriteTokens"}
_FAILS = re.compile(r"\[rate limit\]|FAILING")


@dataclass(frozen=True)
class Client:
    """A client, how it is instrumented, and its golden exports."""

    name: str
    language: str
    instrumentation: str
    cases: tuple[str, ...]
    # Of exports that have no recording beside them.
    versions: str = ""

    @cached_property
    def goldens(self) -> list[Export]:
        return [Export(case) for case in self.cases]

    @property
    def packages(self) -> str:
        """The recorded packages and their versions."""
        found: dict[str, str] = {}
        for golden in self.goldens:
            found |= golden.recording.get("packages", {})
        is_sdk = self.name == "OpenTelemetry SDK"
        shown = [f"{name} {number}" for name, number in found.items() if _is_sdk(name) == is_sdk]
        given = [self.versions] if self.versions else []
        if not given and not shown:
            given = sorted({g.expected["sdk"] for g in self.goldens if "sdk" in g.expected})
        return ", ".join([*given, *shown])


def _is_sdk(package: str) -> bool:
    return package.startswith(("opentelemetry-sdk", "opentelemetry-exp", "@opentelemetry/"))


PROPERTIES = (
    *("agent", "kinds", "tree", "model", "provider", "input tokens", "output tokens"),
    *("cached tokens", "cache writes", "reasoning tokens", "cost", "messages", "session"),
    *("user", "error"),
)


def describe_client(client: Client) -> dict[str, str]:
    """Return what the expectations of a client have of each property."""
    goldens = [golden for golden in client.goldens if golden.spans]
    spans = [span for golden in goldens for span in golden.spans]
    calls = [span for golden in goldens for span in golden.calls]
    cells = {
        "agent": _shown(any(golden.names_an_agent for golden in goldens)),
        "kinds": ", ".join(sorted({span["kind"] for span in spans} - {"other"})),
        "tree": _shown(any(span.get("parentSpanId") for span in spans)),
        "model": _shown(any(call.get("model") for call in calls)),
        "provider": _shown(any(call.get("provider") for call in calls)),
        "cost": _cost(goldens),
        "messages": _shown(any(_has_text(span) for span in calls)),
        "session": _of_trace(goldens, "sessionId"),
        "user": _of_trace(goldens, "userId"),
        "error": _error(goldens, spans),
    }
    names = PROPERTIES[5:10]
    cells |= {name: _tokens(calls, key) for name, key in zip(names, TOKENS, strict=True)}
    return {name: cells[name] for name in PROPERTIES}


def _shown(is_shown: bool) -> str:
    return SHOWN if is_shown else NOT_SENT


def _of_trace(goldens: list[Export], field: str) -> str:
    if any(trace.get(field) for golden in goldens for trace in golden.traces):
        return SHOWN
    # Older programs set neither a session nor a user.
    return NOT_SENT if any(golden.recording for golden in goldens) else NOT_RECORDED


def _tokens(calls: list[Json], name: str) -> str:
    omitted = any(name in call.get("omittedBySdk", []) for call in calls)
    if any(call[name] for call in calls):
        return f"{SHOWN} in part" if omitted else SHOWN
    return NOT_SENT if omitted else NOT_RECORDED


def _cost(goldens: list[Export]) -> str:
    calls = [(golden, call) for golden in goldens for call in golden.calls]
    if not any(call["cost"] for _, call in calls):
        return NOT_SENT if calls else NOT_RECORDED
    lacks_cache = any(
        _CACHE & set(call.get("omittedBySdk", [])) and not _is_true_cost(golden, call)
        for golden, call in calls
    )
    return "as if nothing were cached" if lacks_cache else SHOWN


def _is_true_cost(golden: Export, call: Json) -> bool:
    true = price(call["model"], golden.find_fitting(call))
    return true is not None and math.isclose(call["cost"], true, rel_tol=1e-6)


def _has_text(span: Json) -> bool:
    return any(span.get(f"{side}{kind}") for side in SIDES for kind in ("Messages", "Contains"))


def _error(goldens: list[Export], spans: list[Json]) -> str:
    if any(span["status"] == "error" for span in spans):
        return SHOWN
    programs = [ROOT / g.recording["program"] for g in goldens if g.recording]
    return NOT_SENT if any(_FAILS.search(p.read_text()) for p in programs) else NOT_RECORDED


CLIENTS = (
    Client(
        "OpenTelemetry SDK",
        "Python",
        "its own",
        ("otel-plain/python-protobuf", "snippets/opentelemetry-python"),
    ),
    Client(
        "OpenAI",
        "Python",
        "OpenTelemetry (openai-v2)",
        (
            *("otel-genai/old-names", "otel-genai/old-names-content"),
            *("otel-genai/old-names-errors", "otel-genai/new-names-span-content"),
            *("otel-genai/new-names-event-content", "otel-genai/new-names-errors"),
        ),
        "opentelemetry-instrumentation-openai-v2 2.4b0, openai 2.54.0",
    ),
    Client(
        "OpenAI",
        "Python",
        "OpenTelemetry (genai-openai)",
        (
            *("otel-genai/genai-openai-chat", "otel-genai/genai-openai-responses"),
            "otel-genai/genai-openai-errors",
        ),
        "opentelemetry-instrumentation-genai-openai 1.3b0, openai 3.49.0",
    ),
    Client(
        "OpenAI",
        "Python",
        "OpenInference",
        ("openinference/openai", "snippets/openai-python"),
    ),
    Client("OpenAI", "Python", "Logfire", ("recorded/logfire",)),
    Client("OpenAI", "Python", "OpenLIT", ("recorded/openlit",)),
    Client(
        "OpenAI and Anthropic",
        "Python",
        "Traceloop",
        (
            *("traceloop/openai-workflow", "traceloop/openai-errors"),
            *("traceloop/anthropic-workflow", "traceloop/anthropic-twice-instrumented"),
        ),
        "traceloop-sdk 0.62.4, openai 3.49.0, anthropic 2.8.0",
    ),
    Client(
        "OpenAI",
        "Python",
        "Langfuse",
        ("langfuse/observe", "clients/langfuse"),
        "langfuse 5.0.4",
    ),
    Client("OpenAI", "Python", "LangSmith", ("langsmith/traceable",), "langsmith 0.14.17"),
    Client("OpenAI", "Python", "Laminar", ("laminar/observe",), "lmnr 0.8.2"),
    Client(
        "OpenAI",
        "Python",
        "MLflow",
        ("mlflow/trace-openai", "mlflow/trace-root-missing", "mlflow/genai-semconv"),
        "mlflow 3.17.2",
    ),
    Client("Anthropic", "Python", "its own", ("anthropic-sdk/messages",), "anthropic 2.8.0"),
    Client(
        "Anthropic",
        "Python",
        "OpenInference",
        ("clients/anthropic-openinference", "snippets/anthropic-python"),
    ),
    Client(
        "Google Gen AI",
        "Python",
        "OpenInference",
        ("recorded/genai", "snippets/google-genai-python"),
    ),
    Client(
        "Google ADK",
        "Python",
        "its own",
        ("google-adk/agent", "google-adk/agent-content"),
        "google-adk 2.13.0",
    ),
    Client("Amazon Bedrock (boto3)", "Python", "OpenInference", ("recorded/bedrock",)),
    Client("Mistral", "Python", "OpenInference", ("recorded/mistral",)),
    Client("Groq", "Python", "OpenInference", ("recorded/groq",)),
    Client("LiteLLM", "Python", "its own", ("recorded/litellm",)),
    Client(
        "LiteLLM",
        "Python",
        "OpenInference",
        ("clients/litellm-openinference", "snippets/litellm-python"),
    ),
    Client("Instructor", "Python", "OpenInference", ("recorded/instructor",)),
    Client(
        "LangChain",
        "Python",
        "OpenInference",
        (
            "openinference/langchain-agent",
            "clients/anthropic-langchain",
            "snippets/langchain-python",
        ),
    ),
    Client(
        "LangGraph",
        "Python",
        "OpenInference",
        ("recorded/langgraph", "snippets/langgraph-python"),
    ),
    Client(
        "LlamaIndex",
        "Python",
        "OpenInference",
        ("recorded/llamaindex", "snippets/llama-index-python"),
    ),
    Client(
        "OpenAI Agents",
        "Python",
        "OpenInference",
        ("openinference/openai-agents", "snippets/openai-agents-python"),
    ),
    Client(
        "Pydantic AI",
        "Python",
        "its own",
        (
            *("pydantic-ai/logfire-agent", "pydantic-ai/otel-agent-format-2"),
            *("clients/anthropic-pydantic-ai", "snippets/pydantic-ai-python"),
        ),
    ),
    Client(
        "CrewAI",
        "Python",
        "OpenInference",
        ("clients/crewai", "recorded/crewai", "snippets/crewai-python"),
    ),
    Client("AutoGen", "Python", "OpenInference", ("recorded/autogen",)),
    Client("AG2", "Python", "its own", ("recorded/ag2",)),
    Client("Agno", "Python", "OpenInference", ("recorded/agno",)),
    Client("DSPy", "Python", "OpenInference", ("recorded/dspy",)),
    Client("Haystack", "Python", "OpenInference", ("recorded/haystack",)),
    Client("Semantic Kernel", "Python", "its own", ("recorded/semantickernel",)),
    Client("Microsoft Agent Framework", "Python", "its own", ("recorded/agentframework",)),
    Client("smolagents", "Python", "OpenInference", ("clients/smolagents", "recorded/smolagents")),
    Client("Strands Agents", "Python", "its own", ("clients/strands", "recorded/strands")),
    Client(
        "LiveKit Agents", "Python", "its own", ("livekit/session",), "written by hand from its docs"
    ),
    Client(
        "OpenTelemetry SDK",
        "TypeScript",
        "its own",
        ("otel-plain/node-json", "otel-plain/node-protobuf", "snippets/opentelemetry-typescript"),
    ),
    Client("OpenAI", "TypeScript", "OpenTelemetry", ("clients/otel-js-openai",)),
    Client("OpenAI", "TypeScript", "OpenInference", ("snippets/openai-typescript",)),
    Client("OpenAI", "TypeScript", "Langfuse", ("recorded/nodelangfuse",)),
    Client("OpenAI", "TypeScript", "LangSmith", ("clients/langsmith-js",)),
    Client("OpenAI", "TypeScript", "Traceloop", ("recorded/nodetraceloop",)),
    Client("Anthropic", "TypeScript", "OpenInference", ("recorded/nodeanthropic",)),
    Client(
        "Vercel AI SDK 7",
        "TypeScript",
        "its own",
        (
            *("vercel/v7-genai", "vercel/v7-genai-extras", "vercel/v7-legacy"),
            "snippets/vercel-ai-typescript",
        ),
    ),
    Client(
        "Vercel AI SDK 5",
        "TypeScript",
        "its own",
        ("vercel/v5-experimental-telemetry", "clients/ai-sdk-5"),
        "ai 5.0.277",
    ),
    Client(
        "Vercel AI SDK 4",
        "TypeScript",
        "its own",
        ("vercel/v4-experimental-telemetry",),
        "ai 4.3.19",
    ),
    Client("LangChain.js", "TypeScript", "OpenInference", ("snippets/langchain-typescript",)),
    Client("OpenAI Agents", "TypeScript", "OpenInference", ("recorded/nodeagents",)),
    Client("Mastra", "TypeScript", "its own", ("snippets/mastra-typescript",)),
    Client("Genkit", "TypeScript", "its own", ("genkit/flow",), "genkit 1.42.0"),
    Client("Claude Code", "", "its own", ("claude-code/session", "clients/claude-code")),
    Client("Codex", "", "its own", ("codex/session", "clients/codex")),
    Client("Gemini CLI", "", "its own", ("clients/gemini-cli",)),
)
