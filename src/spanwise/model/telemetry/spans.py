"""Spans, traces and sessions as the API returns them, the messages of a conversation, and the
values of filter menus.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field

from spanwise.model.api_model import ApiModel, UtcTime
from spanwise.model.telemetry.signals import Signal


class SpanKind(StrEnum):
    AGENT = "agent"
    LLM = "llm"
    TOOL = "tool"
    RETRIEVAL = "retrieval"
    EMBEDDING = "embedding"
    RERANK = "rerank"
    CHAIN = "chain"
    GUARDRAIL = "guardrail"
    EVALUATOR = "evaluator"
    MEMORY = "memory"
    OTHER = "other"


class SpanStatus(StrEnum):
    OK = "ok"
    ERROR = "error"
    UNSET = "unset"


class TraceStatus(StrEnum):
    SUCCESS = "success"
    ERROR = "error"


class ErrorType(StrEnum):
    RATE_LIMIT = "rate_limit"
    TIMEOUT = "timeout"
    API_ERROR = "api_error"
    VALIDATION = "validation"
    OTHER = "other"


class SpanEvent(ApiModel):
    name: str
    time: UtcTime | None
    attributes: dict[str, Any]


class TextPart(ApiModel):
    type: Literal["text"]
    text: str


class ReasoningPart(ApiModel):
    type: Literal["reasoning"]
    text: str


class ToolCallPart(ApiModel):
    type: Literal["toolCall"]
    id: str | None
    name: str
    arguments: Any


class ToolResultPart(ApiModel):
    """The result of the call with the same id."""

    type: Literal["toolResult"]
    id: str | None
    name: str | None
    result: Any


class MediaPart(ApiModel):
    """An image, audio or a file; content that was sent inline is only in the raw value."""

    type: Literal["media"]
    media_type: str
    url: str | None
    size: int


class DataPart(ApiModel):
    """A part in a format that is not known."""

    type: Literal["data"]
    value: Any


class Message(ApiModel):
    """One message of a conversation, in one form for all SDKs."""

    role: str
    parts: list[
        Annotated[
            TextPart | ReasoningPart | ToolCallPart | ToolResultPart | MediaPart | DataPart,
            Field(discriminator="type"),
        ]
    ]


class SpanMessages(ApiModel):
    """The input and output as messages; null when they are not a conversation."""

    input: list[Message] | None
    output: list[Message] | None


class _SpanSummary(ApiModel):
    trace_id: str
    span_id: str
    name: str
    kind: SpanKind
    start_time: UtcTime
    duration_ms: float
    status: SpanStatus
    status_message: str | None
    error_type: ErrorType | None
    agent_id: str | None
    agent_name: str | None
    provider: str | None
    model: str | None
    tool_name: str | None
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cache_write_tokens: int
    reasoning_tokens: int
    total_tokens: int
    cost: float
    # Only streamed model calls have it.
    time_to_first_token_ms: float | None
    session_id: str | None
    user_id: str | None
    environment: str | None


class ListedSpan(_SpanSummary):
    """A span in a list, without its content and with the first 300 characters of its message.

    Agent, environment, session and user are its own or those of its trace.
    """

    # The name of its exception.
    error_name: str | None


class Span(_SpanSummary):
    parent_span_id: str | None
    end_time: UtcTime
    # The span that reports the same call and counts in its place.
    counted_in: str | None
    experiment_id: str | None
    variant: str | None
    service_name: str | None
    input: Any
    output: Any
    messages: SpanMessages
    attributes: dict[str, Any]
    events: list[SpanEvent]


# The fields of `Span` under their JSON names. A trace may have tens of thousands of spans, and
# validating our own data would take half of the response time.
SpanFields = dict[str, Any]


class Trace(ApiModel):
    """The root span with aggregates over all spans of the trace."""

    trace_id: str
    name: str
    agent_id: str | None
    agent_name: str | None
    status: TraceStatus
    error_type: ErrorType | None
    # Of the first exception, if the trace failed and a span has one, such as `ContentFiltered`. A
    # list has it on request only.
    error_name: str | None
    start_time: UtcTime
    end_time: UtcTime
    duration_ms: float
    span_count: int
    error_count: int
    models: list[str]
    tools: list[str]
    input_tokens: int
    output_tokens: int
    total_tokens: int
    cost: float
    session_id: str | None
    user_id: str | None
    environment: str | None
    experiment_id: str | None
    variant: str | None
    input_preview: str
    output_preview: str


class Neighbours(ApiModel):
    """The ids of the traces before and after one in a list; null at its ends."""

    previous: str | None
    next: str | None


class SpanMatches(ApiModel):
    """The spans of a trace that contain all words of a search, in start order."""

    span_ids: list[str]


class TraceWithSpans(Trace):
    spans: list[Span]
    signals: list[Signal]
    log_count: int


@dataclass(frozen=True)
class WholeTrace:
    """A trace as read from the store, with unvalidated spans."""

    trace: Trace
    spans: list[SpanFields]
    signals: list[Signal]
    log_count: int


class AgentRef(ApiModel):
    id: str | None
    name: str


class TraceFilters(ApiModel):
    """Distinct values for the filter menus."""

    agents: list[AgentRef]
    models: list[str]
    providers: list[str]
    tools: list[str]
    kinds: list[str]
    statuses: list[str]
    error_types: list[str]
    environments: list[str]
    experiments: list[str]


class Session(ApiModel):
    """A conversation: all traces with the same session id."""

    session_id: str
    user_id: str | None
    agent_names: list[str]
    first_at: UtcTime
    last_at: UtcTime
    trace_count: int
    error_count: int
    total_tokens: int
    cost: float
    input_preview: str
    output_preview: str


class SessionWithTraces(Session):
    traces: list[Trace]
