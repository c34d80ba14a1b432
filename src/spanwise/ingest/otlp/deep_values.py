"""Replaces values nested too deeply for the protobuf decoder by JSON text with a marker.

The decoder's limit of 100 nested messages is reached at 30 to 47 levels of a value, because each
level takes two or three messages. A body that fails is decoded again with messages in which arrays
and maps are bytes: the same on the wire, but without recursion. Values up to 64 levels then become
text, which `read_attribute` and `to_plain_value` convert back.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import orjson
from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.message import Message
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

from spanwise.ingest.rest_bodies import MAX_DEPTH
from spanwise.model.errors import Invalid
from spanwise.storage.telemetry.rows.decoding import JSON_MARKER

# Well below the decoder's limit, well above what instrumentations send.
STRUCTURE_DEPTH = 16
_NESTED = ("array_value", "kvlist_value")
_JSON_NESTED = ("arrayValue", "kvlistValue", *_NESTED)
_INTEGER = re.compile(r"-?[0-9]{1,19}")


def too_deep(message: type[Message]) -> Invalid:
    name = message.DESCRIPTOR.name
    return Invalid(
        f"the body is not a valid {name}: a value is nested deeper than {MAX_DEPTH} levels"
    )


def to_deep_text(value: Any) -> str:  # noqa: ANN401 -- any JSON
    """Return the marked JSON text of a value."""
    return JSON_MARKER + orjson.dumps(value).decode()


def flatten_deep_values(message: type[Message], body: bytes) -> bytes:
    """Return a body with deep values as JSON text. Raises DecodeError when it is malformed."""
    request: Any = _flat_class(message.DESCRIPTOR.full_name).FromString(body)
    for value in _any_values(request):
        nested = _nested_bytes(value)
        if nested is None:
            continue
        plain, depth = _read(*nested, level=1)
        if depth > MAX_DEPTH:
            raise too_deep(message)
        if depth > STRUCTURE_DEPTH:
            value.string_value = to_deep_text(plain)
    flat: bytes = request.SerializeToString()
    return flat


def _any_values(message: Message) -> Iterator[Any]:
    """Yield every AnyValue of a message. Nested values are bytes, so they are not visited."""
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        for item in value if field.is_repeated else (value,):
            if field.message_type.name == AnyValue.DESCRIPTOR.name:
                yield item
            else:
                yield from _any_values(item)


def _nested_bytes(value: Any) -> tuple[str, bytes] | None:  # noqa: ANN401 -- AnyValue
    name = value.WhichOneof("value")
    return (name, getattr(value, name)) if name in _NESTED else None


def _read(name: str, data: bytes, level: int) -> tuple[Any, int]:
    """Return an array or a map and its depth; beyond the limit only the depth."""
    if level > MAX_DEPTH:
        return None, level
    depth = level
    if name == "array_value":
        items = []
        for value in (
            _flat_class("opentelemetry.proto.common.v1.ArrayValue").FromString(data).values
        ):
            item, below = _read_value(value, level)
            items.append(item)
            depth = max(depth, below)
        return items, depth
    pairs = {}
    for pair in _flat_class("opentelemetry.proto.common.v1.KeyValueList").FromString(data).values:
        pairs[pair.key], below = _read_value(pair.value, level)
        depth = max(depth, below)
    return pairs, depth


def _read_value(value: Any, level: int) -> tuple[Any, int]:  # noqa: ANN401 -- AnyValue
    nested = _nested_bytes(value)
    if nested is not None:
        return _read(*nested, level=level + 1)
    name = value.WhichOneof("value")
    if name is None:
        return None, level
    leaf = getattr(value, name)
    return (leaf.hex() if isinstance(leaf, bytes) else leaf), level


@cache
def _flat_class(full_name: str) -> Any:  # noqa: ANN401 -- a class made at run time
    return message_factory.GetMessageClass(_flat_pool().FindMessageTypeByName(full_name))


@cache
def _flat_pool() -> descriptor_pool.DescriptorPool:
    """Return the OTLP messages, with the arrays and maps of AnyValue as bytes."""
    pool = descriptor_pool.DescriptorPool()
    done: set[str] = set()
    for kind in ("trace", "logs", "metrics"):
        name = f"opentelemetry/proto/collector/{kind}/v1/{kind}_service.proto"
        _copy_file(descriptor_pool.Default().FindFileByName(name), pool, done)
    return pool


def _copy_file(file: Any, pool: descriptor_pool.DescriptorPool, done: set[str]) -> None:  # noqa: ANN401
    if file.name in done:
        return
    done.add(file.name)
    for needed in file.dependencies:
        _copy_file(needed, pool, done)
    copied = FileDescriptorProto()
    file.CopyToProto(copied)
    for message in copied.message_type:
        if message.name == AnyValue.DESCRIPTOR.name:
            for field in message.field:
                if field.name in _NESTED:
                    field.type = FieldDescriptorProto.TYPE_BYTES
                    field.ClearField("type_name")
    pool.Add(copied)


# --- OTLP/JSON ----------------------------------------------------------------------------------


def flatten_deep_json(message: type[Message], document: Any) -> None:  # noqa: ANN401 -- any JSON
    """Replace deep values of an OTLP/JSON export by JSON text, in place."""
    left = [document]
    while left:
        node = left.pop()
        if isinstance(node, list):
            left += node
        elif isinstance(node, dict):
            for key, inner in node.items():
                if key in {"value", "body"} and isinstance(inner, dict):
                    plain, depth = _read_json(inner, 0)
                    if depth > MAX_DEPTH:
                        raise too_deep(message)
                    if depth > STRUCTURE_DEPTH:
                        node[key] = {"stringValue": to_deep_text(plain)}
                else:
                    left.append(inner)


def _read_json(value: Any, level: int) -> tuple[Any, int]:  # noqa: ANN401 -- a value in OTLP/JSON
    if level > MAX_DEPTH or not isinstance(value, dict):
        return None, level
    name, leaf = next(iter(value.items()), ("", None))
    if name in _JSON_NESTED and isinstance(leaf, dict):
        return _read_json_items(leaf.get("values"), level + 1, is_map=name.startswith("kv"))
    if name in {"intValue", "int_value"} and isinstance(leaf, str) and _INTEGER.fullmatch(leaf):
        return int(leaf), level
    return leaf, level


def _read_json_items(values: Any, level: int, *, is_map: bool) -> tuple[Any, int]:  # noqa: ANN401
    depth = level
    pairs: dict[str, Any] = {}
    items: list[Any] = []
    for value in values if isinstance(values, list) else ():
        inner = value.get("value") if is_map and isinstance(value, dict) else value
        item, below = _read_json(inner, level)
        depth = max(depth, below)
        if is_map and isinstance(value, dict):
            pairs[str(value.get("key", ""))] = item
        else:
            items.append(item)
    return (pairs if is_map else items), depth
