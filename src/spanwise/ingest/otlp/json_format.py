"""OTLP/JSON: read into the same messages that protobuf gives.

Unlike JSON of other protobuf messages it writes ids in hex, so they are converted first.
"""

import base64
import binascii
from typing import Any, TypeVar

import orjson
from google.protobuf import json_format
from google.protobuf.message import Message

from spanwise.ingest.otlp.deep_values import flatten_deep_json
from spanwise.model.errors import Invalid

M = TypeVar("M", bound=Message)

_IDS = {"traceId": 16, "spanId": 8, "parentSpanId": 8}
_MAX_DEPTH = 64
# What holds no ids, and may be nested on its own account.
_VALUES = {"attributes", "body"}


def decode_json(message: type[M], body: bytes) -> M:
    """Read a request; the error names what is wrong with it."""
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Invalid(f"the body is not valid JSON: {error}") from None
    if not isinstance(document, dict):
        raise Invalid("the body must be a JSON object")
    _convert_ids(document, 0)
    try:
        return _parse(document, message)
    except (json_format.ParseError, RecursionError):
        # Perhaps only because a value is nested too deep for the parser.
        flatten_deep_json(message, document)
    try:
        return _parse(document, message)
    except (json_format.ParseError, RecursionError) as error:
        name = message.DESCRIPTOR.name
        raise Invalid(f"the body is not a valid {name}: {error}") from None


def _parse(document: dict[str, Any], message: type[M]) -> M:
    return json_format.ParseDict(document, message(), ignore_unknown_fields=True)


def _convert_ids(node: Any, depth: int) -> None:  # noqa: ANN401 -- any JSON
    """Write hex ids as base64, in place. Ids stand only in spans, links, records and exemplars."""
    if depth > _MAX_DEPTH:
        raise Invalid(f"the body is nested deeper than {_MAX_DEPTH} levels")
    if isinstance(node, list):
        for item in node:
            _convert_ids(item, depth + 1)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key in _IDS and isinstance(value, str):
                node[key] = _hex_to_base64(key, value)
            elif key not in _VALUES and isinstance(value, dict | list):
                _convert_ids(value, depth + 1)


def _hex_to_base64(key: str, text: str) -> str:
    try:
        return base64.b64encode(binascii.unhexlify(text)).decode()
    except (binascii.Error, ValueError):
        raise Invalid.field(key, f"must be {2 * _IDS[key]} hex digits") from None
