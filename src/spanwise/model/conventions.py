"""The convention table: which attribute of which instrumentation means which field.

One declarative table. `storage.telemetry.extraction` makes the engine's SQL of it, and
`docs/conventions.md` is generated from it. A new convention is one name in one row.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Inside:
    """A number inside a usage document: the first name that is there, plus the others."""

    names: tuple[str, ...]
    plus: tuple[str, ...] = ()


Source = str | Inside


@dataclass(frozen=True)
class Field:
    """A field of a span and where it comes from: the first source with a value wins."""

    name: str
    meaning: str
    sources: tuple[Source, ...]


# Attributes that hold JSON with usage in it. A span has one of them at most.
USAGE_DOCUMENTS = (
    "langfuse.observation.usage_details",
    "mlflow.chat.tokenUsage",
    "langsmith.metadata.usage_metadata",
    "lk.llm_metrics",
)
COST_DOCUMENTS = ("langfuse.observation.cost_details", "mlflow.llm.cost")

FIELDS = (
    Field(
        "kind",
        "What the span does; see the table of kinds.",
        (
            "spanwise.kind",
            "langfuse.observation.type",
            "openinference.span.kind",
            "gen_ai.operation.name",
            "mlflow.spanType",
            "traceloop.span.kind",
            "langsmith.span.kind",
            "lmnr.span.type",
            "genkit:metadata:subtype",
            "genkit:type",
            "ai.operationId",
            "operation.name",
            "llm.request.type",
            "weave.span.kind",
        ),
    ),
    Field(
        "agent_name",
        "The agent. A span without one takes that of its nearest ancestor, a trace that of its "
        "root, else of its first agent span, else the workflow, else `service.name`.",
        (
            "spanwise.agent.name",
            "gen_ai.agent.name",
            "agent.name",
            "agent_name",
            "ai.telemetry.functionId",
            "lk.agent_name",
            "graph.node.name",
        ),
    ),
    Field(
        "workflow_name",
        "The workflow; names the agent where nothing else does.",
        ("gen_ai.workflow.name", "traceloop.workflow.name"),
    ),
    Field(
        "entity_name",
        "Traceloop's name of the span: the agent or the tool, by kind.",
        ("traceloop.entity.name",),
    ),
    Field(
        "model",
        "The model that answered; the price is this one's.",
        (
            "spanwise.model",
            "langfuse.observation.model.name",
            "gen_ai.response.model",
            "ai.response.model",
            "ai.model.id",
            "gen_ai.request.model",
            "llm.response.model_name",
            "llm.request.model_name",
            "llm.model_name",
            "embedding.model_name",
            "reranker.model_name",
            "mlflow.llm.model",
            "model_name",
            "model",
        ),
    ),
    Field(
        "provider",
        "Who serves the model, under the name that OpenTelemetry gives it.",
        (
            "spanwise.provider",
            "gen_ai.provider.name",
            "gen_ai.system",
            "llm.provider",
            "llm.system",
            "ai.model.provider",
            "aisdk.model.provider",
            "mlflow.llm.provider",
        ),
    ),
    Field(
        "input_tokens",
        "Tokens sent, cached ones included.",
        (
            # The parts of Langfuse's usage exclude each other; ours include them.
            Inside(
                ("input", "prompt_tokens", "input_tokens"),
                plus=(
                    "input_cached_tokens",
                    "cache_read_input_tokens",
                    "cache_creation_input_tokens",
                ),
            ),
            "gen_ai.usage.input_tokens",
            "gen_ai.usage.prompt_tokens",
            "llm.token_count.prompt",
            "ai.usage.inputTokens",
            "ai.usage.promptTokens",
            "ai.usage.tokens",
            "input_tokens",
        ),
    ),
    Field(
        "output_tokens",
        "Tokens received, reasoning included.",
        (
            Inside(
                ("output", "completion_tokens", "output_tokens"),
                plus=("output_reasoning_tokens",),
            ),
            "gen_ai.usage.output_tokens",
            "gen_ai.usage.completion_tokens",
            "llm.token_count.completion",
            "ai.usage.outputTokens",
            "ai.usage.completionTokens",
            "output_tokens",
        ),
    ),
    Field(
        "cached_tokens",
        "Tokens read from the provider's cache.",
        (
            Inside(
                (
                    "cache_read_input_tokens",
                    "input_cached_tokens",
                    "prompt_cached_tokens",
                    "prompt_tokens_details.cached_tokens",
                    "input_token_details.cache_read",
                )
            ),
            "gen_ai.usage.cache_read.input_tokens",
            "gen_ai.usage.cache_read_input_tokens",
            "gen_ai.usage.cache_read_tokens",
            "gen_ai.usage.details.cache_read_tokens",
            "gen_ai.usage.details.cache_read_input_tokens",
            "gen_ai.usage.input_tokens_details.cached_tokens",
            "gen_ai.usage.prompt_tokens_details.cached_tokens",
            "gen_ai.usage.input_cached_tokens",
            "llm.token_count.prompt_details.cache_read",
            "llm.token_count.prompt_details.cache_input",
            "ai.usage.cachedInputTokens",
            "ai.usage.inputTokenDetails.cacheReadTokens",
            "cache_read_tokens",
        ),
    ),
    Field(
        "cache_write_tokens",
        "Tokens written to the provider's cache.",
        (
            Inside(("cache_creation_input_tokens", "input_token_details.cache_creation")),
            "gen_ai.usage.cache_creation.input_tokens",
            "gen_ai.usage.cache_write.input_tokens",
            "gen_ai.usage.cache_creation_input_tokens",
            "gen_ai.usage.cache_write_tokens",
            "gen_ai.usage.details.cache_write_tokens",
            "gen_ai.usage.details.cache_creation_input_tokens",
            "ai.usage.inputTokenDetails.cacheWriteTokens",
            "llm.token_count.prompt_details.cache_write",
            "cache_creation_tokens",
        ),
    ),
    Field(
        "reasoning_tokens",
        "Tokens the model thought with; part of the output.",
        (
            Inside(
                (
                    "output_reasoning_tokens",
                    "completion_tokens_details.reasoning_tokens",
                    "output_token_details.reasoning",
                )
            ),
            "gen_ai.usage.reasoning.output_tokens",
            "gen_ai.usage.reasoning_tokens",
            "llm.usage.reasoning_tokens",
            "llm.token_count.completion_details.reasoning",
            "ai.usage.reasoningTokens",
            "ai.usage.outputTokenDetails.reasoningTokens",
            "gen_ai.usage.details.reasoning_tokens",
        ),
    ),
    Field(
        "given_cost",
        "Cost in US dollars as the application reports it; beats the computed one.",
        (
            "spanwise.cost",
            Inside(("total", "total_cost")),
            "gen_ai.usage.cost",
            "llm.cost.total",
            "operation.cost",
            "cost_usd",
        ),
    ),
    Field(
        "session_id",
        "The conversation.",
        (
            "spanwise.session.id",
            "langfuse.session.id",
            "session.id",
            "gen_ai.conversation.id",
            "langsmith.metadata.thread_id",
            "langsmith.metadata.session_id",
            "langsmith.metadata.conversation_id",
            "traceloop.association.properties.session_id",
            "lmnr.association.properties.session_id",
            "ai.telemetry.metadata.sessionId",
            "ai.settings.context.sessionId",
            "mlflow.trace.session",
            "wandb.thread_id",
            "gcp.vertex.agent.session_id",
            "thread_id",
            "conversation.id",
        ),
    ),
    Field(
        "user_id",
        "The person using the application.",
        (
            "spanwise.user.id",
            "langfuse.user.id",
            "user.id",
            "enduser.id",
            "langsmith.metadata.user_id",
            "traceloop.association.properties.user_id",
            "lmnr.association.properties.user_id",
            "ai.telemetry.metadata.userId",
            "ai.settings.context.userId",
            "mlflow.trace.user",
            "gen_ai.user",
            "llm.user",
        ),
    ),
    Field(
        "environment",
        "Where it runs; else the resource's `deployment.environment.name`.",
        ("spanwise.environment", "langfuse.environment"),
    ),
    Field(
        "tool_name",
        "The tool that was called; a tool span without one takes its own name.",
        (
            "spanwise.tool.name",
            "gen_ai.tool.name",
            "tool.name",
            "ai.toolCall.name",
            "lk.function_tool.name",
        ),
    ),
    Field(
        "experiment_id",
        "The experiment or feature flag that was decided.",
        ("spanwise.experiment.id", "feature_flag.key", "spanwise.flag.key"),
    ),
    Field(
        "variant",
        "What it was decided to.",
        (
            "spanwise.experiment.variant",
            "feature_flag.result.variant",
            "feature_flag.variant",
            "spanwise.flag.variant",
        ),
    ),
    Field(
        "error_name",
        "The name of the error, from which its type follows; see the table of error types.",
        ("spanwise.error.type", "error.type", "spanwise.exception.type", "exception.type"),
    ),
    Field(
        "http_status",
        "An HTTP status, where no error is named.",
        ("http.response.status_code", "http.status_code"),
    ),
    Field(
        "error_message",
        "What went wrong, where the span's status has no message.",
        ("langfuse.observation.status_message", "spanwise.exception.message", "exception.message"),
    ),
    Field(
        "trace_name",
        "The name of the trace; else the root span's name.",
        ("langfuse.trace.name", "langsmith.trace.name", "traceloop.association.properties.name"),
    ),
    Field(
        "input",
        "What went in.",
        (
            "spanwise.input",
            "langfuse.observation.input",
            "ai.prompt.messages",
            "ai.prompt",
            "ai.toolCall.args",
            "ai.value",
            "ai.values",
            "spanwise.event.input",
            "gen_ai.input.messages",
            "gen_ai.tool.call.arguments",
            "gen_ai.retrieval.query.text",
            "gen_ai.memory.query.text",
            "pydantic_ai.all_messages",
            "all_messages_events",
            "gcp.vertex.agent.llm_request",
            "gcp.vertex.agent.tool_call_args",
            "lk.input_text",
            "lk.user_transcript",
            "lk.chat_ctx",
            "lk.function_tool.arguments",
            "mlflow.spanInputs",
            "traceloop.entity.input",
            "lmnr.span.input",
            "genkit:input",
            "input.value",
            "gen_ai.prompt",
            "tool_arguments",
            "user_prompt",
        ),
    ),
    Field(
        "output",
        "What came out.",
        (
            "spanwise.output",
            "langfuse.observation.output",
            "ai.response.text",
            "ai.result.text",
            "ai.toolCall.result",
            "ai.response.object",
            "ai.response.toolCalls",
            "spanwise.event.output",
            "gen_ai.output.messages",
            "gen_ai.tool.call.result",
            "gen_ai.retrieval.documents",
            "gen_ai.memory.records",
            "final_result",
            "gcp.vertex.agent.llm_response",
            "gcp.vertex.agent.tool_response",
            "lk.response.text",
            "lk.function_tool.output",
            "mlflow.spanOutputs",
            "traceloop.entity.output",
            "lmnr.span.output",
            "genkit:output",
            "output.value",
            "gen_ai.completion",
            "tool_response",
        ),
    ),
)

# Contents that come in pieces, one attribute each: kept together, and put in order when read.
INDEXED_INPUT = ("llm.input_messages.", "gen_ai.prompt.")
INDEXED_OUTPUT = ("llm.output_messages.", "gen_ai.completion.")

KINDS: dict[str, tuple[str, ...]] = {
    "llm": (
        "llm",
        "chat",
        "generate_content",
        "text_completion",
        "completion",
        "generate",
        "response",
        "generation",
        "chat_model",
        "model",
        "ai.generatetext.dogenerate",
        "ai.streamtext.dostream",
        "ai.generateobject.dogenerate",
        "ai.streamobject.dostream",
    ),
    "embedding": (
        "embedding",
        "embeddings",
        "ai.embed.doembed",
        "ai.embedmany.doembed",
        "embedder",
    ),
    "agent": ("agent", "invoke_agent", "create_agent", "agent_step", "plan"),
    "chain": (
        "chain",
        "workflow",
        "task",
        "invoke_workflow",
        "execute_task",
        "flow",
        "ai.generatetext",
        "ai.streamtext",
        "ai.generateobject",
        "ai.streamobject",
        "ai.embed",
        "ai.embedmany",
    ),
    "tool": ("tool", "execute_tool", "function", "ai.toolcall"),
    "retrieval": ("retrieval", "retriever", "search_memory", "vector_db_retrieve"),
    "rerank": ("rerank", "reranker"),
    "guardrail": ("guardrail",),
    "evaluator": ("evaluator",),
    "memory": (
        "memory",
        "create_memory",
        "update_memory",
        "upsert_memory",
        "delete_memory",
        "create_memory_store",
        "delete_memory_store",
    ),
    "other": ("other", "span", "event", "unknown", "prompt", "default"),
}

PROVIDERS: dict[str, tuple[str, ...]] = {
    "anthropic": ("anthropic",),
    "aws.bedrock": ("aws", "bedrock", "amazon-bedrock", "aws_bedrock"),
    "azure.ai.openai": ("az.ai.openai", "azure", "azure_openai", "azure-openai"),
    "azure.ai.inference": ("az.ai.inference",),
    "cohere": ("cohere",),
    "deepseek": ("deepseek",),
    "gcp.gemini": ("gemini", "google", "google-generative-ai", "google.generative-ai"),
    "gcp.vertex_ai": ("vertex_ai", "vertexai", "google-vertex", "google.vertex"),
    "groq": ("groq",),
    "mistral_ai": ("mistralai", "mistral"),
    "openai": ("openai",),
    "perplexity": ("perplexity",),
    "x_ai": ("xai", "x-ai"),
}

# Usage and cost count on these kinds only: agent and workflow spans often carry the sum again.
USAGE_KINDS = ("llm", "embedding", "rerank")


@dataclass(frozen=True)
class ErrorRule:
    """An error whose name, status or message matches the pattern is of this type."""

    error_type: str
    pattern: str
    examples: tuple[str, ...]


# The first rule that matches decides; an error that none matches is `other`.
ERROR_RULES = (
    ErrorRule(
        "rate_limit",
        r"rate.?limit|too.?many.?requests|quota|resource.?exhausted|throttl|overloaded|\b429\b",
        ("RateLimitError", "429", "ThrottlingException", "RESOURCE_EXHAUSTED"),
    ),
    ErrorRule(
        "timeout",
        r"time.?d?.?out|deadline|\b408\b|\b504\b",
        ("APITimeoutError", "TimeoutError", "504", "DEADLINE_EXCEEDED"),
    ),
    ErrorRule(
        "validation",
        r"valid|value.?error|type.?error|key.?error|bad.?request|unprocessable|schema|pars|decode"
        r"|\b400\b|\b422\b",
        ("ValidationError", "BadRequestError", "ValueError", "422"),
    ),
    ErrorRule(
        "api_error",
        r"api|http|connect|network|socket|server|service|unavailable|authenticat|permission"
        r"|forbidden|unauthori|not.?found|status|\b4\d\d\b|\b5\d\d\b",
        ("APIConnectionError", "InternalServerError", "503", "AuthenticationError"),
    ),
)
