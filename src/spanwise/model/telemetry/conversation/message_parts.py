"""Normalizes the parts of a message: text, reasoning, tool calls and results, media."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from spanwise.model.telemetry.json_values import parse_json

Json = dict[str, Any]

# Levels of JSON in text that are parsed; it is encoded again inside of a response.
_MAX_INNER_DEPTH = 50
_CALL_TYPES = {"tool_call", "tool_use", "function_call", "server_tool_use", "mcp_call"}
_RESULT_TYPES = {
    *("tool_call_response", "tool_result", "function_call_output", "web_search_tool_result"),
    "server_tool_call_response",
}
_REASONING_TYPES = {"reasoning", "thinking", "redacted_thinking"}
_TEXT_TYPES = {"", "text", "input_text", "output_text", "summary_text", "refusal"}
_MEDIA_WORDS = ("image", "audio", "video", "file", "blob", "uri", "media", "document")
# Members that hold a part, by how Gemini, Bedrock and Genkit name them.
_CALL_MEMBERS = ("functionCall", "function_call", "toolUse", "toolRequest")
_RESULT_MEMBERS = ("functionResponse", "function_response", "toolResult", "toolResponse")
_MEDIA_MEMBERS = ("inlineData", "inline_data", "fileData", "file_data", "media", "image", "video")


def text_part(text: str) -> Json:
    return {"type": "text", "text": text}


def reasoning_part(text: str) -> Json:
    return {"type": "reasoning", "text": text}


def data_part(value: Any) -> Json:  # noqa: ANN401 -- any JSON value
    return {"type": "data", "value": value}


def read_json(value: Any) -> Any:  # noqa: ANN401 -- any JSON value
    """Parse JSON that was sent as text, such as the arguments of a call."""
    return parse_json(value, _MAX_INNER_DEPTH) if isinstance(value, str) else value


def call_part(call: Mapping[str, Any]) -> Json:
    """Normalize a tool call of any SDK."""
    inner = _member(call, ("function", "tool_call")) or {}
    values = {**call, **inner}
    return {
        "type": "toolCall",
        "id": _first_text(call, "call_id", "id", "toolCallId", "toolUseId", "ref")
        or _first_text(inner, "id"),
        "name": _first_text(values, "name", "toolName") or "tool",
        "arguments": read_json(_first(values, "arguments", "args", "input")),
    }


def result_part(result: Mapping[str, Any]) -> Json:
    """Normalize the result of a tool call."""
    names = ("tool_call_id", "tool_use_id", "toolCallId", "toolUseId", "call_id", "ref", "id")
    given = _first(result, "response", "result", "output", "content")
    return {
        "type": "toolResult",
        "id": _first_text(result, *names),
        "name": _first_text(result, "name", "toolName"),
        "result": _simplify(read_json(given)),
    }


def to_part(block: Any) -> Json | None:  # noqa: ANN401 -- any JSON value
    """Normalize a part; None when it is not known."""
    if isinstance(block, str):
        return text_part(block)
    if not isinstance(block, dict):
        return None
    kind = str(block.get("type") or "").replace("-", "_")
    if kind in _CALL_TYPES:
        return call_part(block)
    if kind in _RESULT_TYPES:
        return result_part(block)
    if kind in _REASONING_TYPES or _member(block, ("reasoningContent", "reasoning_content")):
        return reasoning_part(_reasoning_text(block))
    return _member_part(block) or _text_or_media(block, kind)


def _member_part(block: Json) -> Json | None:
    """Normalize a part whose type is the name of its member."""
    if call := _member(block, _CALL_MEMBERS):
        return call_part(call)
    if result := _member(block, _RESULT_MEMBERS):
        return result_part(result)
    if media := _member(block, _MEDIA_MEMBERS):
        return _media_part(next(n for n in _MEDIA_MEMBERS if n in block), {**block, **media})
    return None


def _text_or_media(block: Json, kind: str) -> Json | None:
    if kind not in _TEXT_TYPES and any(word in kind for word in _MEDIA_WORDS):
        return _media_part(kind, block)
    text = _first_text(block, "text", "content", "refusal")
    if text is None or kind not in _TEXT_TYPES:
        return None
    return reasoning_part(text) if block.get("thought") is True else text_part(text)


def _media_part(kind: str, block: Json) -> Json:
    """Describe media; its bytes are only in the raw value."""
    source = _member(block, ("source", "image_url", "input_audio", "file", "image")) or {}
    values = {**block, **(_member(source, ("image",)) or source)}
    url = _first_text(values, "url", "uri", "fileUri", "file_uri", "image_url", "image")
    media_type = _first_text(
        values, "mime_type", "mimeType", "mediaType", "media_type", "contentType", "modality"
    )
    if url is not None and url.startswith("data:"):
        media_type = media_type or url[5:].split(";")[0].split(",")[0]
        url = None
    return {
        "type": "media",
        "mediaType": media_type or kind.removesuffix("_url").removeprefix("input_"),
        "url": url,
        "size": len(orjson.dumps(block)),
    }


def _reasoning_text(block: Json) -> str:
    inner = _member(block, ("reasoningContent", "reasoning_content")) or block
    inner = _member(inner, ("reasoningText", "reasoning_text")) or inner
    for name in ("text", "content", "thinking", "summary", "reasoning"):
        value = inner.get(name)
        if isinstance(value, list):
            value = "\n".join(t for v in value if (t := _first_text(_as_object(v), "text")))
        if isinstance(value, str) and value:
            return value
    return ""


def _simplify(result: Any) -> Any:  # noqa: ANN401 -- any JSON value
    """Return the text or the value of a result that wraps it."""
    if isinstance(result, dict) and result.keys() == {"type", "value"}:
        return result["value"]
    if isinstance(result, list) and result:
        texts = [_first_text(_as_object(item), "text") for item in result]
        if all(text is not None for text in texts):
            return "\n".join(text for text in texts if text is not None)
    return result


def _as_object(value: Any) -> Json:  # noqa: ANN401 -- any JSON value
    return value if isinstance(value, dict) else {}


def _member(block: Mapping[str, Any], names: Sequence[str]) -> Json | None:
    return next((block[name] for name in names if isinstance(block.get(name), dict)), None)


def _first(values: Mapping[str, Any], *names: str) -> Any:  # noqa: ANN401 -- any JSON value
    return next((values[name] for name in names if values.get(name) is not None), None)


def _first_text(values: Mapping[str, Any], *names: str) -> str | None:
    return next((values[name] for name in names if isinstance(values.get(name), str)), None)
