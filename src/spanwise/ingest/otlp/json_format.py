"""Decodes OTLP/JSON into protobuf messages.

OTLP/JSON writes ids in hex where the JSON mapping of protobuf expects base64: they are converted.
"""

import base64
import binascii
from typing import Any, TypeVar

import orjson
from google.protobuf import json_format
from google.protobuf.message import Message

from spanwise.ingest.counts import REQUESTS, Limits, check_json, check_json_export
from spanwise.ingest.otlp.deep_values import flatten_deep_json
from spanwise.ingest.otlp.limits import SPAN_ID_BYTES, TRACE_ID_BYTES
from spanwise.ingest.records.record import Kind
from spanwise.ingest.rest_bodies import MAX_DEPTH
from spanwise.model.errors import Invalid

M = TypeVar("M", bound=Message)

_IDS = {"traceId": TRACE_ID_BYTES, "spanId": SPAN_ID_BYTES, "parentSpanId": SPAN_ID_BYTES}
# Some exporters write the names of the protobuf fields.
_IDS |= {"trace_id": TRACE_ID_BYTES, "span_id": SPAN_ID_BYTES, "parent_span_id": SPAN_ID_BYTES}
# These hold no ids; `deep_values` limits their depth.
_VALUES = {"attributes", "body"}


def decode_json(kind: Kind, body: bytes, limits: Limits) -> Any:  # noqa: ANN401 -- an OTLP request
    """Decode an export. Raises Invalid with the reason."""
    check_json(body, limits.values, "values")
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Invalid(f"the body is not valid JSON: {error}") from None
    if not isinstance(document, dict):
        raise Invalid("the body must be a JSON object")
    check_json_export(kind, document, limits)
    message = REQUESTS[kind]
    _convert_ids(document, 0)
    try:
        return _parse(document, message)
    except (json_format.ParseError, RecursionError):
        # A value may be nested too deeply for the parser.
        flatten_deep_json(message, document)
    try:
        return _parse(document, message)
    except (json_format.ParseError, RecursionError) as error:
        name = message.DESCRIPTOR.name
        raise Invalid(f"the body is not a valid {name}: {error}") from None


def _parse(document: dict[str, Any], message: type[M]) -> M:
    return json_format.ParseDict(document, message(), ignore_unknown_fields=True)


def _convert_ids(node: Any, depth: int) -> None:  # noqa: ANN401 -- any JSON
    """Convert the ids of spans, links, records and exemplars from hex to base64, in place."""
    if depth > MAX_DEPTH:
        raise Invalid(f"the body is nested deeper than {MAX_DEPTH} levels")
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
