"""Counts what a body consists of before it is decoded, and refuses one that has too much of it.

Two bytes can be a whole message or value: decoding one takes up to 200 bytes of memory, and reading
it some microseconds, so a small body could take gigabytes and minutes. Resources, scopes and items
are counted one by one, until there are too many. Doing that for attributes, values and events would
take longer than storing them: numpy counts the bytes that could begin one, and only a body with
many of those is read through.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, NoReturn

import numpy as np
from google.protobuf.message import Message
from numpy.typing import NDArray
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from pydantic.alias_generators import to_camel

from spanwise.ingest.protobuf_wire import BYTES, MalformedError, read_fields
from spanwise.ingest.records.record import Kind
from spanwise.model.errors import Invalid

REQUESTS: dict[Kind, type[Message]] = {
    Kind.TRACES: ExportTraceServiceRequest,
    Kind.LOGS: ExportLogsServiceRequest,
    Kind.METRICS: ExportMetricsServiceRequest,
}


@dataclass(frozen=True)
class Limits:
    """How many parts a body may have. The settings have the same names, after `SPANWISE_MAX_`."""

    items: int = 10_000
    resources: int = 10_000
    events: int = 150_000
    values: int = 500_000


DEFAULT_LIMITS = Limits()

# What is counted, in the words of an error, and its limit.
_COUNTED = (
    ("resources", "resources"),
    ("scopes", "resources"),
    ("spans", "items"),
    ("log records", "items"),
    ("metrics", "items"),
    ("data points", "items"),
    ("events", "events"),
    ("span links", "events"),
    ("exemplars", "events"),
    ("attributes and values", "values"),
    ("protobuf fields", "fields"),
)
# The position in this list by the name of the field; other repeated fields are values.
_OUTER = {
    **dict.fromkeys(("resource_spans", "resource_logs", "resource_metrics"), 0),
    **dict.fromkeys(("scope_spans", "scope_logs", "scope_metrics"), 1),
    "spans": 2,
    "log_records": 3,
    "metrics": 4,
    "data_points": 5,
}
_LEVELS = {
    Kind.TRACES: ("resource_spans", "scope_spans", "spans"),
    Kind.LOGS: ("resource_logs", "scope_logs", "log_records"),
    Kind.METRICS: ("resource_metrics", "scope_metrics", "metrics"),
}
_EVENTS = {"events": 6, "links": 7, "exemplars": 8}
_VALUE, _FIELD = 9, 10

# First bytes of the repeated fields. Longer encodings of a tag end in 0, as do those of a size.
_EVENT_TAGS = {Kind.TRACES: b"\x5a\x6a", Kind.LOGS: b"", Kind.METRICS: b"\x2a\x42\x5a"}
# Without tags below 32, and without 0x22: attributes of span links, or a quote in any text.
_VALUE_TAGS = {Kind.TRACES: b"\x4a", Kind.LOGS: b"\x32", Kind.METRICS: b"\x32\x3a\x4a\x62"}
# A message of fewer bytes begins with a byte below this, its size. So do the values in arrays and
# maps: with their tag. Larger messages are limited by the size of the body.
_SMALL = 32

_SMALL_BODY_BYTES = 2**18
_PART_BYTES = 2**18
_JSON_PART_BYTES = 2**16

# Deeper messages are refused by the decoder.
_MAX_DEPTH = 250

# The fields of a message by tag: what to count them as, and their own fields.
_Fields = dict[int, tuple[int, "_Fields"]]
# A text, or a field that is not read.
_OTHER: tuple[int, _Fields] = (_FIELD, {})


def decode_export(kind: Kind, body: bytes, limits: Limits) -> "Export":
    """Count and decode a protobuf export. Raises Invalid, or DecodeError when it is malformed."""
    # A message takes at least two bytes.
    has_few_events = len(body) <= 2 * min(limits.events, limits.values)
    if kind is Kind.METRICS or not has_few_events or len(body) > _SMALL_BODY_BYTES:
        largest = _check_bytes(kind, body, limits)
        return Export(kind, REQUESTS[kind].FromString(body), body, largest)
    # Faster for bodies as most senders send them, and decoding one takes 40 MB at most.
    message = REQUESTS[kind].FromString(body)
    if len(body) > 2 * min(limits.items, limits.resources):
        _check_message(kind, message, limits)
    return Export(kind, message, body, len(body))


def encode_export(kind: Kind, message: Message, limits: Limits) -> "Export":
    """Encode and count a request that was not received as protobuf."""
    body = message.SerializeToString()
    return Export(kind, message, body, _check_bytes(kind, body, limits))


class Export(NamedTuple):
    """A request and its bytes, which have no more parts than allowed."""

    kind: Kind
    message: Any
    body: bytes
    # At least the size of the largest item.
    largest_item: int


def _check_message(kind: Kind, message: Any, limits: Limits) -> None:  # noqa: ANN401
    """Raise Invalid when a request has too many resources, scopes or items."""
    fields = [[message]]
    for name in _LEVELS[kind]:
        fields = [getattr(part, name) for parts in fields for part in parts]
        what, setting = _COUNTED[_OUTER[name]]
        if sum(map(len, fields)) > (limit := getattr(limits, setting)):
            raise TooMany(what, setting, limit)


def _check_bytes(kind: Kind, body: bytes, limits: Limits) -> int:
    """Raise Invalid when an export has too many parts; return the size of its largest item.

    The decoder says whether the body is valid.
    """
    # Besides their items, resources, scopes and metrics have few fields.
    walk = _Walk(body, limits, max_fields=10 * (limits.resources + limits.items))
    walk.read(_fields_of(kind, is_deep=False))
    if _may_have_too_many(kind, body, limits):
        # An attribute has a key, a value, and the type of the value.
        deep = _Walk(body, limits, max_fields=4 * limits.values)
        deep.read(_fields_of(kind, is_deep=True))
    return walk.largest


def _may_have_too_many(kind: Kind, body: bytes, limits: Limits) -> bool:
    """Return whether a body could have too many events or values."""
    # A message takes at least two bytes.
    if len(body) <= 2 * min(limits.events, limits.values):
        return False
    data = np.frombuffer(body, np.uint8)
    zeros = len(body) - int(np.count_nonzero(data))
    if zeros + _count_bytes(data, _EVENT_TAGS[kind]) > limits.events:
        return True
    if len(body) <= 2 * limits.values:
        return False
    small = int(np.count_nonzero(data < _SMALL))
    return small + _count_bytes(data, _VALUE_TAGS[kind]) > limits.values


def _count_bytes(data: NDArray[np.uint8], wanted: bytes) -> int:
    # In parts that fit into the processor's cache.
    parts = [data[at : at + _PART_BYTES] for at in range(0, len(data), _PART_BYTES)]
    return sum(int(np.count_nonzero(part == byte)) for part in parts for byte in wanted)


class _Walk:
    """Reads the fields of a message and counts them, until there are too many."""

    def __init__(self, data: bytes, limits: Limits, max_fields: int) -> None:
        self._data = data
        self._limits = [
            max_fields if name == "fields" else int(getattr(limits, name)) for _, name in _COUNTED
        ]
        self._left = [*self._limits]
        self.largest = 0

    def read(self, fields: _Fields) -> None:
        # The decoder says what is wrong with a malformed body.
        with suppress(IndexError, MalformedError):
            self._read(0, len(self._data), fields, 0)

    def _read(self, at: int, end: int, fields: _Fields, depth: int) -> None:
        left, largest = self._left, 0
        for tag, _, start, stop in read_fields(self._data, at, end):
            counted, inner = fields.get(tag, _OTHER)
            if not left[counted]:
                self._refuse(counted)
            left[counted] -= 1
            largest = max(largest, stop - start)
            if inner and depth < _MAX_DEPTH and stop <= end:
                self._read(start, stop, inner, depth + 1)
                largest = 0
        self.largest = max(self.largest, largest)

    def _refuse(self, counted: int) -> NoReturn:
        raise TooMany(*_COUNTED[counted], self._limits[counted])


class TooMany(Invalid):
    """A body has more parts than allowed, by a setting if one is named."""

    def __init__(self, what: str, setting: str, limit: int) -> None:
        name = "values" if setting == "fields" else setting
        named = f" (SPANWISE_MAX_{name.upper()})" if name else ""
        super().__init__(f"the body has more than {limit:,} {what}{named}")


@cache
def _fields_of(kind: Kind, *, is_deep: bool) -> _Fields:
    return _read_fields(REQUESTS[kind].DESCRIPTOR, is_deep, {})


def _read_fields(message: Any, is_deep: bool, known: dict[str, _Fields]) -> _Fields:  # noqa: ANN401
    """Return the fields to read: all, or those that lead to items."""
    if message.full_name in known:
        return known[message.full_name]
    fields = known[message.full_name] = {}
    for field in message.fields:
        if field.message_type is None:
            continue
        inner = _read_fields(field.message_type, is_deep, known)
        if is_deep or inner or field.name in _OUTER:
            names = {**_OUTER, **_EVENTS}
            counted = names.get(field.name, _VALUE) if field.is_repeated else _FIELD
            fields[field.number << 3 | BYTES] = counted, inner
    return fields


# --- JSON ---------------------------------------------------------------------------------------

# What to count the items of lists as.
_JSON_LISTS = {
    name: counted
    for field, counted in {**_OUTER, **_EVENTS}.items()
    for name in (field, to_camel(field))
}
# All that is below these are values.
_JSON_VALUES = {"attributes", "body"}


def check_json(body: bytes, max_values: int, setting: str = "") -> None:
    """Raise Invalid when a JSON body has too many values, before it is parsed."""
    # With its comma, a value takes at least two bytes.
    if len(body) <= 2 * max_values or max(_count_values(body)) <= max_values:
        return
    items = containers = 0
    for text in _outside_strings(body):
        more_items, more_containers = _count_values(text)
        items, containers = items + more_items, containers + more_containers
        if max(items, containers) > max_values:
            raise TooMany("JSON values", setting, max_values)


def _count_values(text: bytes) -> tuple[int, int]:
    """Return the number of values after the first one of an array or object, and of these."""
    return text.count(b","), text.count(b"[") + text.count(b"{")


def _outside_strings(body: bytes) -> Iterator[bytes]:
    """Yield what is not within a JSON string, part by part: other threads run between two."""
    is_inside, escape = 0, b""
    for at in range(0, len(body), _JSON_PART_BYTES):
        part = escape + body[at : at + _JSON_PART_BYTES]
        # A backslash at the end escapes the first character of the next part.
        escape = b"\\" * ((len(part) - len(part.rstrip(b"\\"))) % 2)
        part = part.removesuffix(escape).replace(b"\\\\", b"").replace(b'\\"', b"")
        pieces = part.split(b'"')
        yield b"".join(pieces[is_inside::2])
        is_inside = (is_inside + len(pieces) - 1) % 2


def check_json_export(document: dict[str, Any], limits: Limits, max_depth: int) -> None:
    """Raise Invalid when an OTLP/JSON export has too many parts, before it is converted."""
    left = [getattr(limits, setting) for _, setting in _COUNTED[:_VALUE]]
    level: list[Any] = [document]
    for _ in range(max_depth + 1):
        inner: list[Any] = []
        for node in level:
            if isinstance(node, list):
                inner += node
                continue
            for key, value in node.items():
                if (counted := _JSON_LISTS.get(key)) is not None and isinstance(value, list):
                    left[counted] -= len(value)
                    if left[counted] < 0:
                        what, setting = _COUNTED[counted]
                        raise TooMany(what, setting, getattr(limits, setting))
                if key not in _JSON_VALUES:
                    inner.append(value)
        level = [node for node in inner if isinstance(node, dict | list)]
        if not level:
            return
    raise Invalid(f"the body is nested deeper than {max_depth} levels")
