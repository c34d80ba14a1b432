"""Extracts values that the engine cannot find by attribute name, and adds them as attributes.

These are members of JSON attributes, attributes whose meaning depends on another one, and messages
that are spread over many attributes. Few instrumentations send them, so only scopes that contain
one of their names are searched. The convention table lists the added attributes as sources.
"""

from collections.abc import Callable, Mapping
from typing import Any

import orjson
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from spanwise.ingest.counts import TooMany, check_json
from spanwise.ingest.rest_bodies import MAX_DEPTH
from spanwise.model.telemetry.conventions import (
    FIELDS,
    OWN_PREFIX,
    SPLIT_CONTENT_PREFIXES,
    ConditionalAttribute,
    JsonMember,
)

# Of JSON within a value: more would stop all threads while it is parsed.
_MAX_DOCUMENT_VALUES = 100_000
# Instrumentations without embedded values: their bytes need not be searched.
_PLAIN_SCOPES = (
    "opentelemetry.instrumentation.genai",
    "opentelemetry.instrumentation.openai_v2",
    "opentelemetry.util.genai",
    "pydantic-ai",
    "gen_ai",
)

_SOURCES = [source for field in FIELDS for source in field.sources]
_MEMBERS: dict[str, list[JsonMember]] = {}
for _source in _SOURCES:
    if isinstance(_source, JsonMember):
        _MEMBERS.setdefault(_source.document, []).append(_source)
_CONDITIONAL = [source for source in _SOURCES if isinstance(source, ConditionalAttribute)]
# The attributes with the same content, of higher and of lower precedence.
_WHOLE = {}
for _field in FIELDS:
    if _field.name in SPLIT_CONTENT_PREFIXES:
        _at = _field.attributes.index(f"{OWN_PREFIX}pieces.{_field.name}")
        _WHOLE[_field.name] = _field.attributes[:_at], _field.attributes[_at + 1 :]
_PREFIXES = tuple(prefix for prefixes in SPLIT_CONTENT_PREFIXES.values() for prefix in prefixes)
_MARKERS = tuple(
    name.encode()
    for name in (
        *_MEMBERS,
        *sorted({where.other for where in _CONDITIONAL}),
        *(f"{prefix}0." for prefix in _PREFIXES),
    )
)


def may_have_embedded_values(scope_name: str, has: Callable[[bytes], bool]) -> bool:
    """Return whether spans of a scope may have embedded values; `has` searches its bytes."""
    if scope_name.startswith(_PLAIN_SCOPES):
        return False
    return any(has(marker) for marker in _MARKERS)


def extract_embedded_values(span: Span) -> bool:
    """Add embedded values to a span as attributes; return whether the span was changed."""
    texts = {a.key: a.value.string_value for a in span.attributes}
    added: dict[str, str] = {}
    for document, members in _MEMBERS.items():
        if text := texts.get(document):
            added |= _read_members(text, members)
    for where in _CONDITIONAL:
        if texts.get(where.other) == where.value and texts.get(where.source_attribute):
            added[where.attribute] = texts[where.source_attribute]
    is_in_pieces = any(key.startswith(_PREFIXES) for key in texts)
    if is_in_pieces:
        added |= _join_pieces(span, texts)
    for key, text in added.items():
        span.attributes.append(KeyValue(key=key, value=AnyValue(string_value=text)))
    return is_in_pieces or bool(added)


def parse_document(text: str) -> Any:  # noqa: ANN401 -- any JSON
    """Parse JSON within a value; None when it is malformed or has too many values."""
    try:
        check_json(text.encode(), _MAX_DOCUMENT_VALUES)
        return orjson.loads(text)
    except (TooMany, orjson.JSONDecodeError):
        return None


def _read_members(text: str, members: list[JsonMember]) -> dict[str, str]:
    document = parse_document(text)
    found = {}
    for member in members:
        value = _lookup(document, member.path)
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            continue
        if not isinstance(value, str):
            parts = [_lookup(document, path) for path in member.plus]
            value = sum((p for p in parts if isinstance(p, int | float)), start=value)
        if value or not member.zero_is_unknown:
            found[member.attribute] = str(value)
    return found


def _lookup(document: Any, path: str) -> Any:  # noqa: ANN401 -- any JSON
    if path == "*":
        values = document.values() if isinstance(document, dict) else ()
        return sum(v for v in values if isinstance(v, int | float))
    for name in path.split("."):
        document = document.get(name) if isinstance(document, dict) else None
    return document


# --- messages spread over attributes ------------------------------------------------------------


def _join_pieces(span: Span, texts: Mapping[str, str]) -> dict[str, str]:
    """Remove message pieces from a span; return them joined, unless an attribute has them whole."""
    joined = {}
    repeated: set[str] = set()
    for field, prefixes in SPLIT_CONTENT_PREFIXES.items():
        better, worse = _WHOLE[field]
        if any(texts.get(name) for name in better):
            continue
        messages = _to_messages(texts, prefixes)
        # Some instrumentations split off only the roles.
        is_whole = any(isinstance(m, dict) and m.keys() - {"role"} for m in messages)
        if is_whole or (messages and not any(texts.get(name) for name in worse)):
            joined[f"{OWN_PREFIX}pieces.{field}"] = orjson.dumps(messages).decode()
            repeated.update(worse)
    kept = [a for a in span.attributes if not a.key.startswith(_PREFIXES) and a.key not in repeated]
    del span.attributes[:]
    span.attributes.extend(kept)
    return joined


def _to_messages(texts: Mapping[str, str], prefixes: tuple[str, ...]) -> Any:  # noqa: ANN401
    """Rebuild the list of messages from keys such as `llm.input_messages.0.message.role`."""
    tree: dict[str, Any] = {}
    for key, text in texts.items():
        prefix = next((p for p in prefixes if key.startswith(p)), None)
        if prefix is not None:
            # Every message, tool call and part is wrapped in an object with that name.
            path = key[len(prefix) :].split(".", MAX_DEPTH)
            names = [n for n in path if n not in _WRAPPERS]
            _put(tree, names, text)
    return _to_lists(tree)


_WRAPPERS = {"message", "tool_call", "message_content"}
# More digits are a name.
_MAX_INDEX_DIGITS = 9


def _put(tree: dict[str, Any], names: list[str], text: str) -> None:
    for name in names[:-1]:
        inner = tree.setdefault(name, {})
        if not isinstance(inner, dict):
            return
        tree = inner
    tree[names[-1] if names else ""] = text


def _to_lists(node: Any) -> Any:  # noqa: ANN401 -- any JSON
    if not isinstance(node, dict):
        return node
    if node and all(name.isdecimal() and len(name) <= _MAX_INDEX_DIGITS for name in node):
        return [_to_lists(node[name]) for name in sorted(node, key=int)]
    return {name: _to_lists(inner) for name, inner in node.items()}
