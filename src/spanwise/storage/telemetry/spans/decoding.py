"""Reads back what ingest wrote: values behind markers, raw messages, bytes that are ids."""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import orjson
from google.protobuf.message import DecodeError
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValueList
from opentelemetry.proto.trace.v1.trace_pb2 import Span as OtlpSpan

from spanwise.model.telemetry.conventions import OWN_PREFIX

# How much of a content a trace shows; the rest is at the address of the span itself.
MAX_SHOWN_BYTES = 64 * 1024
# Writers of JSON give up at some 250 levels, of which an answer has a few itself.
_MAX_DEPTH = 200
_OWN_PREFIX = OWN_PREFIX.encode()
# Before JSON that stands for a value nested too deep for protobuf's decoder.
JSON_MARKER = "\x08"
CUT_MARKER = "… [cut at 64 KiB; the span's own address has the whole]"


def in_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC)


def or_none(text: str) -> str | None:
    return text or None


def plain_any(value: AnyValue) -> Any:  # noqa: ANN401 -- any JSON value
    """Turn an OTLP value into what JSON would hold."""
    match value.WhichOneof("value"):
        case "array_value":
            return [plain_any(item) for item in value.array_value.values]
        case "kvlist_value":
            return {item.key: plain_any(item.value) for item in value.kvlist_value.values}
        case "bytes_value":
            return value.bytes_value.hex()
        case "string_value" if value.string_value.startswith(JSON_MARKER):
            return _read_json(value.string_value[1:])
        case None:
            return None
        case name:
            return getattr(value, name)


def _read_json(text: str | bytes) -> Any:  # noqa: ANN401 -- any JSON value
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text if isinstance(text, str) else text.decode("utf-8", "replace")


def read_attribute(raw: bytes) -> Any:  # noqa: ANN401, PLR0911 -- one line a type
    """Turn a stored attribute back into the value it was; a marker says which type it had."""
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
                return [plain_any(item) for item in ArrayValue.FromString(body).values]
            case 6:
                pairs = KeyValueList.FromString(body).values
                return {item.key: plain_any(item.value) for item in pairs}
            case 7:
                return body.hex()
            case _:
                return _read_json(body)
    except (ValueError, DecodeError):
        return raw.decode("utf-8", "replace")


def _finite(number: float) -> float | str:
    return number if math.isfinite(number) else str(number)


class Texts(dict[bytes, str]):
    """Texts by their bytes: much of what the spans of a trace say is the same few."""

    def __missing__(self, raw: bytes) -> str:
        text = self[raw] = to_text(raw)
        return text


def read_attributes(stored: Mapping[bytes, bytes], texts: Texts) -> dict[str, Any]:
    """Turn stored attributes back into what they were, without those that ingest added."""
    return {
        texts[key]: read_attribute(raw)
        for key, raw in stored.items()
        if not key.startswith(_OWN_PREFIX)
    }


def read_content(stored: bytes) -> Any:  # noqa: ANN401 -- JSON or text
    """Turn an input or output back into JSON where it is some, else leave it text."""
    value = read_attribute(stored)
    if not isinstance(value, str):
        return value
    if value[:1] in {"{", "["}:
        try:
            parsed = orjson.loads(value)
        except orjson.JSONDecodeError:
            return value
        return value if _is_too_deep(value, parsed) else parsed
    return value or None


def _is_too_deep(text: str, parsed: Any) -> bool:  # noqa: ANN401 -- any JSON value
    """Say whether JSON can be read but not written again."""
    if text.count("[") + text.count("{") <= _MAX_DEPTH:
        return False
    level = [parsed]
    for _ in range(_MAX_DEPTH):
        inner = (v.values() if isinstance(v, dict) else v for v in level)
        level = [v for values in inner for v in values if isinstance(v, dict | list)]
        if not level:
            return False
    return True


def read_events(stored: Sequence[bytes]) -> list[dict[str, Any]]:
    """Turn stored events back into what `SpanEvent` shows."""
    events = []
    for raw in stored:
        event = OtlpSpan.Event.FromString(raw)
        nano = event.time_unix_nano
        events.append(
            {
                "name": event.name,
                "time": datetime.fromtimestamp(nano / 1e9, UTC) if nano else None,
                "attributes": {a.key: plain_any(a.value) for a in event.attributes},
            }
        )
    return events


def to_text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
