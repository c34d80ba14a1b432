"""Decodes stored values: typed attributes, contents, events and times."""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import orjson
from google.protobuf.message import DecodeError
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValueList
from opentelemetry.proto.trace.v1.trace_pb2 import Span as OtlpSpan

from spanwise.model.telemetry.conventions import OWN_PREFIX
from spanwise.model.telemetry.json_values import parse_json

# Input and output bytes shown in a trace; the endpoint of a single span returns all of it.
MAX_SHOWN_BYTES = 64 * 1024
_OWN_PREFIX = OWN_PREFIX.encode()
# Prefix of JSON that replaces a value nested too deep for protobuf's decoder.
JSON_MARKER = "\x08"
# Longer values are cut when they are stored, so that they are no JSON.
_MAX_JSON_BYTES = 2**20
CUT_MARKER = "… [cut at 64 KiB; the span's own address has the whole]"


def in_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC)


def or_none(text: str) -> str | None:
    return text or None


def to_plain_value(value: AnyValue) -> Any:  # noqa: ANN401 -- any JSON value
    """Convert an OTLP value to a JSON value."""
    match value.WhichOneof("value"):
        case "array_value":
            return [to_plain_value(item) for item in value.array_value.values]
        case "kvlist_value":
            return {item.key: to_plain_value(item.value) for item in value.kvlist_value.values}
        case "bytes_value":
            return value.bytes_value.hex()
        case "string_value" if value.string_value.startswith(JSON_MARKER):
            return _read_json(value.string_value[1:])
        case None:
            return None
        case name:
            return getattr(value, name)


def _read_json(text: str | bytes) -> Any:  # noqa: ANN401 -- any JSON value
    if len(text) <= _MAX_JSON_BYTES:
        with suppress(orjson.JSONDecodeError):
            return orjson.loads(text)
    return text if isinstance(text, str) else text.decode("utf-8", "replace")


def read_attribute(raw: bytes) -> Any:  # noqa: ANN401, PLR0911 -- one line per type
    """Decode a stored attribute; its first byte is the type unless it is a string."""
    if not raw or not 2 <= raw[0] <= 8:  # noqa: PLR2004 -- the markers 2 to 8
        return raw.decode("utf-8", "replace")
    body = raw[1:]
    try:
        match raw[0]:
            case 2:
                return body in {b"1", b"true"}
            case 3:
                return int(body)
            case 4:
                return _finite(float(body))
            case 5:
                return [to_plain_value(item) for item in ArrayValue.FromString(body).values]
            case 6:
                pairs = KeyValueList.FromString(body).values
                return {item.key: to_plain_value(item.value) for item in pairs}
            case 7:
                return body.hex()
            case _:
                return _read_json(body)
    except (ValueError, DecodeError):
        return raw.decode("utf-8", "replace")


def _finite(number: float) -> float | str:
    return number if math.isfinite(number) else str(number)


class TextCache(dict[bytes, str]):
    """Decoded strings by their bytes: the spans of a trace repeat the same few."""

    def __missing__(self, raw: bytes) -> str:
        text = self[raw] = to_text(raw)
        return text


def read_attributes(stored: Mapping[bytes, bytes], texts: TextCache) -> dict[str, Any]:
    """Decode stored attributes, without those that ingest added."""
    return {
        texts[key]: read_attribute(raw)
        for key, raw in stored.items()
        if not key.startswith(_OWN_PREFIX)
    }


def read_content(stored: bytes) -> Any:  # noqa: ANN401 -- JSON or text
    """Decode an input or output: JSON when it parses, else text."""
    value = read_attribute(stored)
    if not isinstance(value, str):
        return value
    return parse_json(value) if value else None


def read_events(stored: Sequence[bytes]) -> list[dict[str, Any]]:
    """Decode stored events into the fields of `SpanEvent`."""
    events = []
    for raw in stored:
        event = OtlpSpan.Event.FromString(raw)
        nano = event.time_unix_nano
        events.append(
            {
                "name": event.name,
                "time": datetime.fromtimestamp(nano / 1e9, UTC) if nano else None,
                "attributes": {a.key: to_plain_value(a.value) for a in event.attributes},
            }
        )
    return events


def to_text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
