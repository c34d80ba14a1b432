"""Normalizes the message formats of all SDKs into one.

An input or output becomes a list of messages with a role and parts, as `Message` in `spans.py`
describes, or None when it is not a conversation. The API, and so the dashboard, understands no
other format.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from spanwise.model.telemetry.conversation.message_parts import (
    Json,
    call_part,
    data_part,
    read_json,
    reasoning_part,
    result_part,
    text_part,
    to_part,
)

# Kinds of spans whose input and output may be a conversation; a tool has arguments.
CONVERSATION_KINDS = frozenset(("llm", "agent", "chain", "other"))

_ROLES = {
    **dict.fromkeys(("human", "humanmessage", "humanmessagechunk"), "user"),
    **dict.fromkeys(("ai", "aimessage", "aimessagechunk", "model", "tool-call"), "assistant"),
    **dict.fromkeys(("developer", "systemmessage"), "system"),
    **dict.fromkeys(("function", "toolmessage", "tool-response", "functionmessage"), "tool"),
}
_KNOWN_ROLES = {"user", "assistant", "system", "tool", *_ROLES}
# Members of an object that hold its messages; the first that does wins.
_WRAPPERS = (
    *("messages", "input_messages", "output_messages", "choices", "contents", "candidates"),
    *("generations", "items", "output", "input", "update", "prompt"),
)
_SYSTEM = ("system", "system_instruction", "systemInstruction", "instructions")
# An object with one of these and an `input` or a `prompt` is a request, not just arguments.
_REQUEST = {"model", "instructions", "system", "tools"}
# An object with a `text` and one of these is an answer of Mastra.
_ANSWER = {"toolCalls", "files"}
_VERCEL_CALLS = "ai.response.toolCalls"


def normalize_messages(
    content: Any,  # noqa: ANN401 -- any JSON value
    role: str,
    attributes: Mapping[str, Any] | None = None,
) -> list[Json] | None:
    """Return the messages of an input or output; `role` is that of a message without one."""
    try:
        messages = _parse(content, role)
    except RecursionError:
        return None
    if not messages:
        return None
    calls = _to_calls((attributes or {}).get(_VERCEL_CALLS)) if role == "assistant" else []
    if calls and not any(p["type"] == "toolCall" for m in messages for p in m["parts"]):
        # The AI SDK sends the calls beside the text.
        messages[-1]["parts"] += calls
    return _name_results(messages)


def _parse(content: Any, role: str) -> list[Json] | None:  # noqa: ANN401 -- any JSON value
    value = _unquote(read_json(content))
    if isinstance(value, str):
        return [_message(role, [text_part(value)])] if value else None
    if isinstance(value, list):
        return _parse_list(value, role)
    return _parse_object(value, role) if isinstance(value, dict) else None


def _unquote(value: Any) -> Any:  # noqa: ANN401 -- any JSON value
    """Remove the quotes of text that was sent as JSON."""
    if not isinstance(value, str) or value[:1] != '"':
        return value
    parsed = read_json(f"[{value}]")
    return parsed[0] if isinstance(parsed, list) and len(parsed) == 1 else value


def _parse_list(items: Sequence[Any], role: str) -> list[Json] | None:
    messages: list[Json] = []
    for item in items:
        found = _parse_item(read_json(item), role)
        if found is None:
            return None
        messages += found
    # Parts without a message of their own, such as the items of OpenAI's responses, form one.
    return [
        merged
        for is_loose, group in groupby(messages, lambda m: (m.pop("loose", False), m["role"]))
        for merged in (_merge(group) if is_loose[0] else group)
    ]


def _merge(messages: Iterable[Json]) -> list[Json]:
    merged = list(messages)
    return [_message(merged[0]["role"], [part for m in merged for part in m["parts"]])]


def _parse_item(item: Any, role: str) -> list[Json] | None:  # noqa: ANN401 -- any JSON value
    if isinstance(item, list):
        return _parse_pair(item) or _parse_list(item, role)
    if isinstance(item, dict) and (message := _parse_message(item, role)) is not None:
        return [message]
    part = to_part(item)
    if part is None and isinstance(item, dict) and item.keys() >= {"toolName", "toolCallId"}:
        part = call_part(item)
    if part is not None:
        return [{**_message(_role_of_part(part, role), [part]), "loose": True}]
    return _parse_object(item, role) if isinstance(item, dict) else None


def _parse_pair(item: Sequence[Any]) -> list[Json] | None:
    """Parse LangChain's short form, `["user", "Hi"]`."""
    match item:
        case [str(role), str(text)] if role in _KNOWN_ROLES:
            return [_message(_ROLES.get(role, role), [text_part(text)])]
    return None


def _role_of_part(part: Json, role: str) -> str:
    own = {"toolResult": "tool", "toolCall": "assistant", "reasoning": "assistant"}
    return own.get(part["type"], role)


def _parse_object(value: Json, role: str) -> list[Json] | None:
    message = _parse_message(value, role)
    if message is not None:
        return [message]
    if isinstance(value.get("text"), str) and _ANSWER & value.keys():
        text = [text_part(value["text"])] if value["text"] else []
        return [_message(role, [*text, *_to_calls(value.get("toolCalls"))])]
    for name in _WRAPPERS:
        inner = read_json(value.get(name))
        if inner is None or (name in {"input", "prompt"} and not _is_request(value, inner)):
            continue
        if name == "generations" and isinstance(inner, list):
            inner = inner[0] if len(inner) == 1 else inner
        is_question = name in {"input", "prompt"}
        if isinstance(inner, str) and not is_question:
            continue
        if found := _parse(inner, "user" if is_question else role):
            # A response repeats the instructions of its request.
            return [*(_instructions(value) if role == "user" else ()), *found]
    return None


def _is_request(value: Json, inner: Any) -> bool:  # noqa: ANN401 -- any JSON value
    return isinstance(inner, list) or value.keys() <= {"prompt"} or bool(_REQUEST & value.keys())


def _instructions(value: Json) -> list[Json]:
    config = value.get("config")
    places = (value, config if isinstance(config, dict) else {})
    given = next((p[name] for p in places for name in _SYSTEM if p.get(name)), None)
    parts = _parse_body(given) if given is not None else []
    return [_message("system", parts)] if parts else []


def _parse_message(item: Json, role: str) -> Json | None:
    """Parse an object that is a message, or wraps one."""
    for name in ("message", "kwargs", "data"):
        inner = item.get(name)
        if isinstance(inner, dict) and (name != "data" or _role_of(item)):
            return _parse_message({"type": _type_of(item), **inner}, role)
    named = _role_of(item)
    content = item.get("content")
    if isinstance(content, dict) and isinstance(content.get("parts"), list):
        return _parse_message(content, role)
    if named is None and not isinstance(item.get("parts"), list):
        return None
    actual = named or role
    body = next((item[n] for n in ("parts", "content", "contents") if item.get(n)), None)
    parts = _parse_body(body, item if actual == "tool" else None)
    if actual == "tool" and isinstance(item.get("function"), list):
        # OpenInference's AutoGen instrumentation sends results as a list of JSON texts.
        parts += [result_part(r) for r in map(read_json, item["function"]) if isinstance(r, dict)]
    known = {part["id"] for part in parts if part["type"] == "toolCall"}
    calls = _to_calls(item.get("tool_calls") or item.get("toolCalls"))
    parts += [call for call in calls if call["id"] not in known or call["id"] is None]
    return _message(actual, [*_reasoning_of(item), *parts])


def _type_of(item: Json) -> Any:  # noqa: ANN401 -- any JSON value
    """Return the type of a message; LangChain.js serializes it as the path of its class."""
    path = item.get("id")
    return path[-1] if item.get("lc") and isinstance(path, list) and path else item.get("type")


def _role_of(item: Json) -> str | None:
    """Return the normalized role of a message, None if the object is none."""
    role = item.get("role")
    if isinstance(role, str) and role:
        return _ROLES.get(role.lower(), role)
    kind = item.get("type")
    is_message = "content" in item or isinstance(item.get("data"), dict)
    if isinstance(kind, str) and is_message and kind.lower() in _KNOWN_ROLES:
        return _ROLES.get(kind.lower(), kind.lower())
    return None


def _reasoning_of(item: Json) -> list[Json]:
    words = item.get("reasoning_content") or item.get("reasoning")
    return [reasoning_part(words)] if isinstance(words, str) else []


def _parse_body(body: Any, tool: Json | None = None) -> list[Json]:  # noqa: ANN401 -- any JSON
    """Parse the content of a message; `tool` is the message if it is a tool's result."""
    if body is None or body == "":
        return []
    value = read_json(body)
    blocks = value if isinstance(value, list) else [value]
    parts = [to_part(block) for block in blocks]
    if tool is not None and not any(p and p["type"] == "toolResult" for p in parts):
        is_result = isinstance(body, str) or "tool_call_id" in tool
        if is_result:
            return [result_part({**tool, "content": body})]
    if isinstance(body, str) and (not isinstance(value, list) or None in parts):
        # JSON as text is an answer in JSON, unless it is a list of parts.
        return [text_part(body)]
    if isinstance(value, dict) and isinstance(value.get("parts"), list):
        return _parse_body(value["parts"])
    return [part or data_part(block) for part, block in zip(parts, blocks, strict=True)]


def _to_calls(calls: Any) -> list[Json]:  # noqa: ANN401 -- any JSON value
    found = read_json(calls)
    return [call_part(c) for c in found if isinstance(c, dict)] if isinstance(found, list) else []


def _message(role: str, parts: list[Json]) -> Json:
    # Anthropic and others send results as the user.
    is_result = parts and all(part["type"] == "toolResult" for part in parts)
    return {"role": "tool" if is_result else role, "parts": parts}


def _name_results(messages: list[Json]) -> list[Json]:
    """Add the tool's name to results that have only the id of their call."""
    parts = [part for message in messages for part in message["parts"]]
    names = {part["id"]: part["name"] for part in parts if part["type"] == "toolCall"}
    for part in parts:
        if part["type"] == "toolResult" and part["name"] is None:
            part["name"] = names.get(part["id"])
    return messages
