"""GenAI event conventions: messages, exceptions and flag evaluations of a span.

Instrumentations send them either as span events or as log records.
"""

from collections.abc import Mapping
from typing import Any

import orjson

INPUT_EVENTS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    "gen_ai.content.prompt": "user",
}
OUTPUT_EVENTS = {"gen_ai.choice": "assistant", "gen_ai.content.completion": "assistant"}
DETAILS_EVENT = "gen_ai.client.inference.operation.details"
EXCEPTION_EVENTS = {"exception", "gen_ai.client.operation.exception"}
FLAG_EVENTS = {"feature_flag", "feature_flag.evaluation"}
EVALUATION_EVENT = "gen_ai.evaluation.result"

# The output of a tool, as Claude Code sends it.
TOOL_OUTPUT_EVENT = "tool.output"
# Log records of coding agents with the text of a prompt or an answer -> its attribute.
PROMPT_EVENTS = dict.fromkeys(("user_prompt", "codex.user_prompt"), "prompt")
ANSWER_EVENTS = {"assistant_response": "response"}

_METADATA = {
    "gen_ai.system",
    "gen_ai.provider.name",
    "role",
    "event.name",
    "finish_reason",
    "index",
}


def to_message(role: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Build a chat message from an event, in any version of the convention."""
    inner = values.get("message")
    # A choice wraps its message; Strands sends the content itself there.
    source = {**values, **inner} if isinstance(inner, dict) else values
    content = (
        source.get("content")
        or source.get("gen_ai.prompt")
        or source.get("gen_ai.completion")
        or (inner if isinstance(inner, str) else None)
    )
    message = {"role": source.get("role") or role, "content": content}
    kept = {name: source[name] for name in ("tool_calls", "tool_call_id", "id") if source.get(name)}
    if content is None and "tool_calls" not in kept:
        message["content"] = {n: value for n, value in values.items() if n not in _METADATA}
        return message
    return message | kept


def with_instructions(messages: Any, attributes: Mapping[str, Any]) -> Any:  # noqa: ANN401 -- JSON
    """Prepend the system instructions, which are an attribute, or a parameter of the call."""
    parts = attributes.get("gen_ai.system_instructions") or _system_parameter(attributes)
    if not parts or not isinstance(messages, list) or _has_system(messages):
        return messages
    if isinstance(parts, str):
        try:
            parts = orjson.loads(parts)
        except orjson.JSONDecodeError:
            parts = [{"type": "text", "content": parts}]
    return [{"role": "system", "parts": parts if isinstance(parts, list) else [parts]}, *messages]


def _system_parameter(attributes: Mapping[str, Any]) -> Any:  # noqa: ANN401 -- any JSON value
    """Return the system prompt that OpenInference leaves among Anthropic's parameters."""
    parameters = attributes.get("llm.invocation_parameters")
    if not isinstance(parameters, str) or '"system"' not in parameters:
        return None
    try:
        loaded = orjson.loads(parameters)
    except orjson.JSONDecodeError:
        return None
    return loaded.get("system") if isinstance(loaded, dict) else None


def _has_system(messages: list[Any]) -> bool:
    return any(isinstance(m, dict) and m.get("role") == "system" for m in messages)


def read_flag(values: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the flag key and the variant of an evaluation event."""
    key = values.get("feature_flag.key")
    variant = values.get("feature_flag.result.variant") or values.get("feature_flag.variant")
    return (str(key), str(variant)) if key and variant else None
