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

_METADATA = {"gen_ai.system", "gen_ai.provider.name", "role", "event.name"}


def to_message(role: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Build a chat message from an event, in any version of the convention."""
    inner = values.get("message")
    content = (
        values.get("content")
        or values.get("gen_ai.prompt")
        or values.get("gen_ai.completion")
        or (inner.get("content") if isinstance(inner, dict) else None)
    )
    if content is None:
        content = {name: value for name, value in values.items() if name not in _METADATA}
    return {"role": values.get("role") or role, "content": content}


def with_instructions(messages: Any, attributes: Mapping[str, Any]) -> Any:  # noqa: ANN401 -- JSON
    """Prepend the system instructions, which OpenTelemetry sends as a separate attribute."""
    parts = attributes.get("gen_ai.system_instructions")
    if not parts or not isinstance(messages, list) or _has_system(messages):
        return messages
    if isinstance(parts, str):
        try:
            parts = orjson.loads(parts)
        except orjson.JSONDecodeError:
            parts = [{"type": "text", "content": parts}]
    return [{"role": "system", "parts": parts if isinstance(parts, list) else [parts]}, *messages]


def _has_system(messages: list[Any]) -> bool:
    return any(isinstance(m, dict) and m.get("role") == "system" for m in messages)


def read_flag(values: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the flag key and the variant of an evaluation event."""
    key = values.get("feature_flag.key")
    variant = values.get("feature_flag.result.variant") or values.get("feature_flag.variant")
    return (str(key), str(variant)) if key and variant else None
