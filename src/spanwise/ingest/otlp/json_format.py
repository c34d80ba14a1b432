"""Decodes OTLP/JSON into protobuf messages.

Messages and plain values are read here: protobuf's own parser takes ten times as long for each
attribute, and its errors repeat the value at every level. It reads what is left: enums by name,
floats as text, bytes in base64. Ids are hex in OTLP/JSON.
"""

import binascii
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple, TypeVar

import orjson
from google.protobuf import json_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from spanwise.ingest.counts import REQUESTS, Limits, check_json, check_json_export
from spanwise.ingest.otlp.deep_values import flatten_deep_json
from spanwise.ingest.otlp.limits import SPAN_ID_BYTES, TRACE_ID_BYTES
from spanwise.ingest.records.record import Kind
from spanwise.ingest.rest_bodies import MAX_DEPTH
from spanwise.model.errors import Invalid

M = TypeVar("M", bound=Message)

_IDS = {
    "trace_id": TRACE_ID_BYTES,
    "span_id": SPAN_ID_BYTES,
    "parent_span_id": SPAN_ID_BYTES,
}
# The types of JSON values that are set as they are.
_TYPES = {
    FieldDescriptor.CPPTYPE_STRING: str,
    FieldDescriptor.CPPTYPE_BOOL: bool,
    FieldDescriptor.CPPTYPE_DOUBLE: float,
}
# Integers may be text.
_INTEGERS = {
    FieldDescriptor.CPPTYPE_INT32: range(2**31),
    FieldDescriptor.CPPTYPE_UINT32: range(2**32),
    FieldDescriptor.CPPTYPE_INT64: range(2**63),
    FieldDescriptor.CPPTYPE_UINT64: range(2**64),
    FieldDescriptor.CPPTYPE_ENUM: range(2**31),
}
_INTEGER_DIGITS = 20
# As in protobuf's own parser.
_MAX_MESSAGES = 100
_MAX_REASON = 500


class _TooDeepError(Exception):
    pass


def decode_json(kind: Kind, body: bytes, limits: Limits) -> Any:  # noqa: ANN401 -- an OTLP request
    """Decode an export. Raises Invalid with the reason."""
    check_json(body, limits.values, "values")
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Invalid(f"the body is not valid JSON: {error}") from None
    if not isinstance(document, dict):
        raise Invalid("the body must be a JSON object")
    check_json_export(document, limits, MAX_DEPTH)
    message = REQUESTS[kind]
    try:
        try:
            return _parse(document, message)
        except _TooDeepError:
            flatten_deep_json(message, document)
            return _parse(document, message)
    except json_format.ParseError as error:
        reason = str(error)[:_MAX_REASON]
    except _TooDeepError:
        reason = "it is nested too deeply"
    raise Invalid(f"the body is not a valid {message.DESCRIPTOR.name}: {reason}")


def _parse(document: dict[str, Any], message: type[M]) -> M:
    made = message()
    _read(document, made, _fields_of(message.DESCRIPTOR), 1)
    return made


class _Field(NamedTuple):
    name: str
    # The type of values that are set as they are.
    type: type | None
    integers: range
    is_repeated: bool
    # The fields of its messages, by the names that they have in JSON.
    fields: "Mapping[str, _Field] | None"
    # The name of the group of which only one field may be set.
    oneof: str | None
    id_bytes: int


def _read(node: Any, message: Any, fields: Mapping[str, _Field], depth: int) -> None:  # noqa: ANN401
    """Set the fields of a message from a JSON object. Unknown fields are ignored."""
    if depth > _MAX_MESSAGES:
        raise _TooDeepError
    if not isinstance(node, dict):
        # Some encoders write an empty list for an empty object.
        if node in ([], ""):
            return
        raise json_format.ParseError(f"{message.DESCRIPTOR.name} must be an object")
    rest: dict[str, Any] = {}
    for key, value in node.items():
        field = fields.get(key)
        if field is None or value is None:
            continue
        if field.oneof is not None and message.WhichOneof(field.oneof) is not None:
            raise json_format.ParseError(f"{key} is one of several values, but only one is allowed")
        if field.fields is not None:
            _read_messages(key, value, message, field, depth)
        elif (plain := _to_plain(key, value, field)) is not None:
            setattr(message, field.name, plain)
        else:
            rest[key] = value
    if rest:
        json_format.ParseDict(rest, message, ignore_unknown_fields=True)


def _read_messages(key: str, value: Any, message: Any, field: _Field, depth: int) -> None:  # noqa: ANN401
    fields = field.fields or {}
    if not field.is_repeated:
        inner = getattr(message, field.name)
        inner.SetInParent()
        _read(value, inner, fields, depth + 1)
        return
    if not isinstance(value, list):
        raise json_format.ParseError(f"{key} must be a list")
    found = getattr(message, field.name)
    for item in value:
        _read(item, found.add(), fields, depth + 1)


def _to_plain(key: str, value: Any, field: _Field) -> Any:  # noqa: ANN401
    """Return the value to set, None for one that protobuf's parser is to read."""
    if type(value) is field.type:
        return value
    if field.id_bytes and isinstance(value, str):
        return _read_id(key, value, field.id_bytes)
    if field.integers and (type(value) is int or _is_number(value)):
        number = int(value)
        return number if number in field.integers else None
    return None


def _is_number(value: Any) -> bool:  # noqa: ANN401 -- any JSON
    return isinstance(value, str) and len(value) <= _INTEGER_DIGITS and value.isdecimal()


def _read_id(key: str, text: str, size: int) -> bytes:
    try:
        return binascii.unhexlify(text)
    except (binascii.Error, ValueError):
        raise Invalid.field(key, f"must be {2 * size} hex digits") from None


@cache
def _fields_of(message: Any) -> Mapping[str, _Field]:  # noqa: ANN401 -- a descriptor
    """Return the fields of a message by their names in JSON and in protobuf."""
    return _describe_fields(message, {})


def _describe_fields(
    message: Any,  # noqa: ANN401
    known: dict[str, Mapping[str, _Field]],
) -> Mapping[str, _Field]:
    if message.full_name in known:
        return known[message.full_name]
    fields: dict[str, _Field] = {}
    known[message.full_name] = fields
    for field in message.fields:
        is_message = field.message_type is not None
        is_single = not is_message and not field.is_repeated
        found = _Field(
            field.name,
            _TYPES.get(field.cpp_type) if is_single and not _is_bytes(field) else None,
            _INTEGERS.get(field.cpp_type, range(0)) if is_single else range(0),
            field.is_repeated,
            _describe_fields(field.message_type, known) if is_message else None,
            field.containing_oneof.name if field.containing_oneof else None,
            _IDS.get(field.name, 0),
        )
        # Some exporters write the names of the protobuf fields.
        fields[field.json_name] = fields[field.name] = found
    return fields


def _is_bytes(field: Any) -> bool:  # noqa: ANN401 -- a descriptor
    return bool(field.type == FieldDescriptor.TYPE_BYTES)
