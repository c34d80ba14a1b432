"""The convention table: which attributes of which instrumentations map to which span field.

The SQL that extracts fields, the JSON expansion in ingest and `docs/conventions.md` are all
generated from it. To support another attribute, add its name to one row.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class JsonMember:
    """A value inside a JSON attribute; the values in `plus` are added to it.

    The path `*` is the sum of all numbers in the document. Ingest copies the value to a separate
    attribute, which the SQL reads like any other source.
    """

    document: str
    path: str
    plus: tuple[str, ...] = ()
    # Whether a 0 is what the emitter writes when it does not know the value.
    zero_is_unknown: bool = False

    @property
    def attribute(self) -> str:
        return f"{OWN_PREFIX}{self.document}.{self.path}"


@dataclass(frozen=True)
class ConditionalAttribute:
    """An attribute that maps to the field only if another attribute has a given value."""

    source_attribute: str
    other: str
    value: str

    @property
    def attribute(self) -> str:
        return f"{OWN_PREFIX}{self.source_attribute}.{self.value}"


Source = str | JsonMember | ConditionalAttribute

# Prefix of attributes that ingest adds for this table; the API does not return them.
OWN_PREFIX = "spanwise."
# Id of a call that a coding agent may report both as a span and as a log record.
CALL_ID = f"{OWN_PREFIX}call.id"
# Marks a span that was derived from such a log record.
CALL_IS_DERIVED = f"{OWN_PREFIX}call.derived"
# Position of a message in its export, for log records of the same time.
RECORD_POSITION = f"{OWN_PREFIX}position"

# The address of the user, a source of the user id that masking removes.
USER_EMAIL = "user.email"


@dataclass(frozen=True)
class Field:
    """A span field and its sources; the first source with a value wins."""

    name: str
    meaning: str
    sources: tuple[Source, ...]

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attribute names to read, in order of precedence."""
        return tuple(s if isinstance(s, str) else s.attribute for s in self.sources)


# OpenLIT writes 0 for a model that is not in its price list.
ZERO_COST_IS_UNKNOWN = "gen_ai.usage.cost"
_LANGFUSE = "langfuse.observation.usage_details"
_LANGFUSE_COST = "langfuse.observation.cost_details"
_MLFLOW = "mlflow.chat.tokenUsage"
_MLFLOW_OUTPUT = "mlflow.spanOutputs"
_LANGSMITH = "langsmith.metadata.usage_metadata"
_LIVEKIT = "lk.llm_metrics"
_GENKIT = "genkit:output"
_GENKIT_KIND = "genkit:metadata:subtype"
_VERCEL = "ai.response.providerMetadata"
# Logfire's copy of the usage that the provider returned.
_LOGFIRE = "gen_ai.usage.raw"

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
            "ai.operationId",
            "operation.name",
            "llm.request.type",
            "weave.span.kind",
            "ag2.span.type",
        ),
    ),
    Field(
        "agent_name",
        "The agent. A span without one inherits it from its nearest ancestor. A trace takes it "
        "from its root, else its first agent span, else the workflow, else `service.name`, else "
        "the name of the root.",
        (
            "spanwise.agent.name",
            "gen_ai.agent.name",
            "agent.name",
            "agent_name",
            "ai.telemetry.functionId",
            "lk.agent_name",
            "langsmith.metadata.lc_agent_name",
            JsonMember("metadata", "lc_agent_name"),
            "graph.node.name",
        ),
    ),
    Field(
        "workflow_name",
        "The workflow; used as the agent name if there is no other.",
        ("gen_ai.workflow.name", "traceloop.workflow.name"),
    ),
    Field(
        "entity_name",
        "Traceloop's entity name: the agent or the tool, depending on the kind.",
        ("traceloop.entity.name",),
    ),
    Field(
        "node_name",
        "The node of a graph of agents: the agent, if the span is one.",
        ("graph.node.id",),
    ),
    Field(
        "model",
        "The model that answered; determines the price. A prefix that names the provider, as in "
        "`openai/gpt-4o`, is removed.",
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
            "langsmith.metadata.ls_model_name",
            "model_name",
            "model",
            ConditionalAttribute("genkit:name", _GENKIT_KIND, "model"),
            ConditionalAttribute("genkit:name", _GENKIT_KIND, "embedder"),
            JsonMember("llm.invocation_parameters", "model"),
            JsonMember("embedding.invocation_parameters", "model"),
        ),
    ),
    Field(
        "provider",
        "The provider of the model, by its OpenTelemetry name. Otherwise inferred from the host or "
        "the model name.",
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
        "response_id",
        "The provider's id of the response; a call that several spans report counts once.",
        ("gen_ai.response.id", "ai.response.id"),
    ),
    Field(
        "server",
        "The host that was called; determines the provider if no attribute names it.",
        ("server.address",),
    ),
    Field(
        "input_tokens",
        "Tokens sent, including cached tokens.",
        (
            "spanwise.input_tokens",
            # In Langfuse's usage the parts are disjoint; our input tokens include cached ones.
            JsonMember(
                _LANGFUSE,
                "input",
                plus=(
                    "input_cached_tokens",
                    "input_cache_read",
                    "input_cache_creation",
                    "cache_read_input_tokens",
                    "cache_creation_input_tokens",
                    "input_audio_tokens",
                ),
            ),
            JsonMember(_LANGFUSE, "prompt_tokens"),
            JsonMember(
                _LANGFUSE,
                "input_tokens",
                plus=("cache_read_input_tokens", "cache_creation_input_tokens"),
            ),
            "gen_ai.usage.input_tokens",
            "gen_ai.usage.prompt_tokens",
            "llm.token_count.prompt",
            "ai.usage.inputTokens",
            "ai.usage.promptTokens",
            "ai.usage.tokens",
            JsonMember(_MLFLOW, "input_tokens"),
            JsonMember(_LANGSMITH, "input_tokens"),
            JsonMember(_LIVEKIT, "prompt_tokens"),
            JsonMember(_GENKIT, "usage.inputTokens"),
            "input_tokens",
            "input_token_count",
        ),
    ),
    Field(
        "output_tokens",
        "Tokens received, including reasoning tokens.",
        (
            "spanwise.output_tokens",
            JsonMember(
                _LANGFUSE, "output", plus=("output_reasoning_tokens", "output_audio_tokens")
            ),
            JsonMember(_LANGFUSE, "completion_tokens"),
            JsonMember(_LANGFUSE, "output_tokens"),
            "gen_ai.usage.output_tokens",
            "gen_ai.usage.completion_tokens",
            "llm.token_count.completion",
            "ai.usage.outputTokens",
            "ai.usage.completionTokens",
            JsonMember(_MLFLOW, "output_tokens"),
            JsonMember(_LANGSMITH, "output_tokens"),
            JsonMember(_LIVEKIT, "completion_tokens"),
            JsonMember(_GENKIT, "usage.outputTokens"),
            "output_tokens",
            "output_token_count",
        ),
    ),
    Field(
        "cached_tokens",
        "Tokens read from the provider's cache.",
        (
            JsonMember(_LANGFUSE, "input_cached_tokens"),
            JsonMember(_LANGFUSE, "input_cache_read"),
            JsonMember(_LANGFUSE, "cache_read_input_tokens"),
            JsonMember(_LANGFUSE, "prompt_tokens_details.cached_tokens"),
            JsonMember(_LANGFUSE, "input_tokens_details.cached_tokens"),
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
            JsonMember(_VERCEL, "openai.cachedPromptTokens"),
            JsonMember(_VERCEL, "anthropic.cacheReadInputTokens"),
            JsonMember(_VERCEL, "bedrock.usage.cacheReadInputTokens"),
            JsonMember(_MLFLOW, "cache_read_input_tokens"),
            JsonMember(_LANGSMITH, "input_token_details.cache_read"),
            JsonMember(_LIVEKIT, "prompt_cached_tokens"),
            JsonMember(_GENKIT, "usage.cachedContentTokens"),
            JsonMember(_GENKIT, "raw.usage.prompt_tokens_details.cached_tokens"),
            JsonMember(_LOGFIRE, "prompt_tokens_details.cached_tokens"),
            JsonMember(_LOGFIRE, "input_tokens_details.cached_tokens"),
            JsonMember(_LOGFIRE, "cache_read_input_tokens"),
            "cache_read_tokens",
            "cached_token_count",
            "cached_content_token_count",
        ),
    ),
    Field(
        "cache_write_tokens",
        "Tokens written to the provider's cache.",
        (
            JsonMember(_LANGFUSE, "cache_creation_input_tokens"),
            JsonMember(_LANGFUSE, "input_cache_creation"),
            JsonMember(_LANGFUSE, "input_tokens_details.cache_write_tokens"),
            "gen_ai.usage.cache_creation.input_tokens",
            "gen_ai.usage.cache_write.input_tokens",
            "gen_ai.usage.cache_creation_input_tokens",
            "gen_ai.usage.cache_write_tokens",
            "gen_ai.usage.details.cache_write_tokens",
            "gen_ai.usage.details.cache_creation_input_tokens",
            "ai.usage.inputTokenDetails.cacheWriteTokens",
            "llm.token_count.prompt_details.cache_write",
            JsonMember(_VERCEL, "anthropic.cacheCreationInputTokens"),
            JsonMember(_VERCEL, "bedrock.usage.cacheWriteInputTokens"),
            JsonMember(_MLFLOW, "cache_creation_input_tokens"),
            JsonMember(_LANGSMITH, "input_token_details.cache_creation"),
            JsonMember(_LOGFIRE, "cache_creation_input_tokens"),
            "cache_creation_tokens",
            "cache_write_token_count",
        ),
    ),
    Field(
        "reasoning_tokens",
        "Reasoning tokens; part of the output tokens.",
        (
            JsonMember(_LANGFUSE, "output_reasoning_tokens"),
            JsonMember(_LANGFUSE, "completion_tokens_details.reasoning_tokens"),
            JsonMember(_LANGFUSE, "output_tokens_details.reasoning_tokens"),
            "gen_ai.usage.reasoning.output_tokens",
            "gen_ai.usage.reasoning_tokens",
            "gen_ai.usage.thinking_tokens",
            "llm.usage.reasoning_tokens",
            "llm.token_count.completion_details.reasoning",
            "ai.usage.reasoningTokens",
            "ai.usage.outputTokenDetails.reasoningTokens",
            "gen_ai.usage.details.reasoning_tokens",
            JsonMember(_VERCEL, "openai.reasoningTokens"),
            JsonMember(_LANGSMITH, "output_token_details.reasoning"),
            JsonMember(_GENKIT, "usage.thoughtsTokens"),
            JsonMember(_GENKIT, "raw.usage.completion_tokens_details.reasoning_tokens"),
            JsonMember(_MLFLOW_OUTPUT, "usage.completion_tokens_details.reasoning_tokens"),
            JsonMember(_MLFLOW_OUTPUT, "usage.output_tokens_details.reasoning_tokens"),
            JsonMember(_LOGFIRE, "completion_tokens_details.reasoning_tokens"),
            JsonMember(_LOGFIRE, "output_tokens_details.reasoning_tokens"),
            "reasoning_token_count",
            "thoughts_token_count",
        ),
    ),
    Field(
        "audio_input_tokens",
        "Audio tokens; part of the input tokens.",
        (
            "spanwise.audio_input_tokens",
            JsonMember(_LANGFUSE, "input_audio_tokens"),
            "gen_ai.usage.audio.input_tokens",
            "gen_ai.usage.details.input_audio_tokens",
            "llm.token_count.prompt_details.audio",
        ),
    ),
    Field(
        "audio_output_tokens",
        "Audio tokens; part of the output tokens.",
        (
            "spanwise.audio_output_tokens",
            JsonMember(_LANGFUSE, "output_audio_tokens"),
            "gen_ai.usage.audio.output_tokens",
            "gen_ai.usage.details.output_audio_tokens",
            "gen_ai.usage.details.audio_tokens",
            "llm.token_count.completion_details.audio",
        ),
    ),
    Field(
        "images",
        "Number of images, priced per image.",
        ("spanwise.images",),
    ),
    Field(
        "given_cost",
        "Cost in US dollars as reported by the application; overrides the computed cost.",
        (
            "spanwise.cost",
            JsonMember(_LANGFUSE_COST, "total", zero_is_unknown=True),
            JsonMember(_LANGFUSE_COST, "*", zero_is_unknown=True),
            ZERO_COST_IS_UNKNOWN,
            "gen_ai.cost.total_cost",
            "llm.cost.total",
            "operation.cost",
            JsonMember("mlflow.llm.cost", "total_cost"),
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
            "traceloop.association.properties.thread_id",
            "lmnr.association.properties.session_id",
            "ai.telemetry.metadata.sessionId",
            "ai.settings.context.sessionId",
            "mlflow.trace.session",
            "mastra.metadata.threadId",
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
            "mastra.metadata.userId",
            "gen_ai.user",
            "llm.user",
            JsonMember("llm.invocation_parameters", "user"),
            # Coding agents name the person by address; the ids of accounts are opaque.
            USER_EMAIL,
            "user.account_id",
            "user.account_uuid",
        ),
    ),
    Field(
        "environment",
        "The environment; else the resource's `deployment.environment.name`.",
        ("spanwise.environment", "langfuse.environment"),
    ),
    Field(
        "tool_name",
        "The tool that was called; a tool span without one uses its span name.",
        (
            "spanwise.tool.name",
            "gen_ai.tool.name",
            "tool.name",
            "ai.toolCall.name",
            "lk.function_tool.name",
            ConditionalAttribute("genkit:name", _GENKIT_KIND, "tool"),
            "tool_name",
        ),
    ),
    Field(
        "experiment_id",
        "The experiment or feature flag that was evaluated.",
        ("spanwise.experiment.id", "feature_flag.key", "spanwise.flag.key"),
    ),
    Field(
        "variant",
        "The variant that the evaluation returned.",
        (
            "spanwise.experiment.variant",
            "feature_flag.result.variant",
            "feature_flag.variant",
            "spanwise.flag.variant",
        ),
    ),
    Field(
        "internal",
        "Set by ingest on roots that are not traces, such as the start-up of Codex.",
        ("spanwise.internal",),
    ),
    Field(
        "level",
        "A span at level `ERROR` failed, whatever its status says.",
        ("langfuse.observation.level",),
    ),
    Field(
        "error_name",
        "The name of the error; determines its type, see the table of error types.",
        ("spanwise.error.type", "error.type", "spanwise.exception.type", "exception.type"),
    ),
    Field(
        "http_status",
        "The HTTP status, if no error is named.",
        ("http.response.status_code", "http.status_code"),
    ),
    Field(
        "error_message",
        "The error message, if the span's status has none.",
        ("langfuse.observation.status_message", "spanwise.exception.message", "exception.message"),
    ),
    Field(
        "trace_name",
        "The name of the trace; else the root span's name.",
        ("langfuse.trace.name",),
    ),
    Field(
        "input",
        "The input. `gen_ai.system_instructions` are put before the messages.",
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
            "mastra.agent_run.input",
            "mastra.model_generation.input",
            "mastra.model_step.input",
            "spanwise.pieces.input",
            "input.value",
            "gen_ai.prompt",
            "tool_arguments",
            "user_prompt",
        ),
    ),
    Field(
        "output",
        "The output.",
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
            "mastra.agent_run.output",
            "mastra.model_generation.output",
            "mastra.model_step.output",
            "spanwise.pieces.output",
            "output.value",
            "gen_ai.completion",
            "tool_response",
        ),
    ),
)

# Prefixes of content that is split over several attributes. Ingest joins them if no source of
# higher precedence has the content, and drops the sources of lower precedence, which repeat it:
# content is stored once.
SPLIT_CONTENT_PREFIXES = {
    "input": ("llm.input_messages.", "gen_ai.prompt."),
    "output": ("llm.output_messages.", "gen_ai.completion."),
}

# Emitters whose input tokens leave out cached ones, contrary to the conventions. The numbers do not
# show it: 5,000 tokens beside 1,536 cached ones may be either.
EXCLUSIVE_INPUT_SCOPES = ("openlit.instrumentation.anthropic",)
EXCLUSIVE_INPUT_SPANS = ("claude_code.llm_request",)

# Usage and cost count only on these kinds: agent and workflow spans often repeat the sum.
USAGE_KINDS = ("llm", "embedding", "rerank")
