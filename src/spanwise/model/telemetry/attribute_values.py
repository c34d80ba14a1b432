"""Normalization of attribute values: span kinds, provider names, error types."""

from dataclasses import dataclass

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
        # Gemini CLI; it reports the usage of the call in a log record.
        "llm_call",
        # Mastra: all steps of an answer, each of which makes its own calls.
        "model_generation",
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
    # AG2 repeats the usage of a call in a span of its own, of the type `usage`.
    "other": ("other", "span", "event", "unknown", "prompt", "default", "usage"),
}

# OpenTelemetry provider name -> aliases.
PROVIDERS: dict[str, tuple[str, ...]] = {
    "anthropic": ("claude",),
    "aws.bedrock": ("aws", "bedrock", "amazon-bedrock", "aws_bedrock", "amazon_bedrock"),
    "azure.ai.openai": ("az.ai.openai", "azure", "azure_openai", "azure-openai"),
    "azure.ai.inference": ("az.ai.inference",),
    "cohere": ("cohere_chat",),
    "gcp.gemini": (
        *("gemini", "google", "google_genai", "google-genai", "google_generativeai"),
        *("google-generative-ai", "google.generative-ai"),
    ),
    "gcp.vertex_ai": ("vertex_ai", "vertexai", "google-vertex", "google.vertex", "google_vertexai"),
    "ibm.watsonx.ai": ("watsonx",),
    "mistral_ai": ("mistralai", "mistral"),
    "moonshot_ai": ("moonshot", "moonshotai"),
    "x_ai": ("xai", "x-ai"),
}

# Frameworks that name themselves where the provider belongs.
FRAMEWORKS = (
    *("strands-agents", "langchain", "langgraph", "llama_index", "llamaindex", "crewai"),
    *("haystack", "litellm", "autogen", "agno", "smolagents", "_other", "unknown"),
    "microsoft.agent_framework",
)

# Provider name -> how the names of its models begin, for spans that name no provider.
MODEL_PREFIXES: dict[str, tuple[str, ...]] = {
    "anthropic": ("claude",),
    "cohere": ("command-r", "command-a", "embed-english", "embed-multilingual", "rerank-"),
    "deepseek": ("deepseek-chat", "deepseek-reasoner"),
    "gcp.gemini": ("gemini",),
    "mistral_ai": ("mistral-", "ministral", "codestral", "magistral", "pixtral"),
    "openai": (
        *("gpt-3", "gpt-4", "gpt-5", "chatgpt", "o1", "o3", "o4", "codex-"),
        *("text-embedding-3", "text-embedding-ada", "omni-moderation"),
    ),
    "x_ai": ("grok",),
}

# Stripped from provider names: `openai.chat` and `openai.responses` are both openai.
PROVIDER_SUFFIX = r"\.(chat|responses?|completions?|embeddings?|messages|language-models?)$"

# Provider name -> host names of its API.
HOSTS: dict[str, tuple[str, ...]] = {
    "anthropic": ("api.anthropic.com",),
    "openai": ("api.openai.com",),
    "cohere": ("api.cohere.com", "api.cohere.ai"),
    "deepseek": ("api.deepseek.com",),
    "gcp.gemini": ("generativelanguage.googleapis.com",),
    "groq": ("api.groq.com",),
    "mistral_ai": ("api.mistral.ai",),
    "moonshot_ai": ("api.moonshot.ai", "api.moonshot.cn"),
    "perplexity": ("api.perplexity.ai",),
    "x_ai": ("api.x.ai",),
}


@dataclass(frozen=True)
class ErrorRule:
    """Assigns this type to errors whose name, status or message matches the pattern."""

    error_type: str
    pattern: str
    examples: tuple[str, ...]


# The first match wins; without a match the type is `other`.
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
