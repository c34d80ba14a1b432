"""Builds frames: length-prefixed protobuf messages for the engine, from the bytes of an export.

Protobuf messages can be concatenated: a ScopeSpans followed by more fields is again one message. A
frame is the original bytes of a scope, with changed spans replaced, followed by a head with the
workspace and the resource. The sender must not be able to set the head's field, see
`otlp.prepare.raw_scopes`. A frame ends with its version, which the journal writer fills in.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import orjson
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet
from opentelemetry.proto.resource.v1.resource_pb2 import Resource

from spanwise.ingest.protobuf_wire import BYTES, bytes_field, read_fields, read_varint, varint
from spanwise.storage.telemetry.rows.decoding import to_plain_value

_HEAD = 100
_WORKSPACE, _VERSION, _SERVICE, _ENVIRONMENT, _RESOURCE = 1, 2, 3, 4, 5
# Field numbers: resources of an export, scopes of a resource, items of a scope.
_RESOURCES, _SCOPES, ITEMS = 1, 2, 2

# From 1973 until 2262 a version in nanoseconds takes nine bytes as a varint: reserve them.
_VERSION_BYTES = 9
_VERSION_SHIFTS = range(0, 7 * _VERSION_BYTES, 7)
_NO_VERSION = bytes((_VERSION << 3, *[0x80] * (_VERSION_BYTES - 1), 0))

# Larger resources are not cached.
_CACHED_BYTES = 4096

# Start of a field, start of its content, end.
FieldRange = tuple[int, int, int]
Part = bytes | memoryview


def make_head(workspace: str, resource: Resource) -> bytes:
    """Encode the workspace and the resource; `set_version` fills in the version."""
    raw = resource.SerializeToString()
    encode = _encode_resource if len(raw) <= _CACHED_BYTES else _encode_resource.__wrapped__
    head = b"".join(
        (
            bytes_field(_WORKSPACE, workspace.encode()),
            encode(raw),
            _NO_VERSION,
        )
    )
    return bytes_field(_HEAD, head)


@lru_cache(maxsize=256)
def _encode_resource(raw: bytes) -> bytes:
    """Encode a resource. Cached, because a process sends the same one with every request."""
    resource = {a.key: to_plain_value(a.value) for a in Resource.FromString(raw).attributes}
    environment = resource.get("deployment.environment.name") or resource.get(
        "deployment.environment", ""
    )
    return b"".join(
        (
            bytes_field(_SERVICE, str(resource.get("service.name", "")).encode()),
            bytes_field(_ENVIRONMENT, str(environment).encode()),
            bytes_field(_RESOURCE, orjson.dumps(resource, option=orjson.OPT_SORT_KEYS)),
        )
    )


class Scope(NamedTuple):
    """A scope as a range of the body: copying large bodies costs more than reading them."""

    data: bytes
    start: int
    end: int

    @classmethod
    def of(cls, data: bytes) -> "Scope":
        return cls(data, 0, len(data))

    @property
    def size(self) -> int:
        return self.end - self.start

    def has(self, text: bytes) -> bool:
        return self.data.find(text, self.start, self.end) >= 0

    def items(self) -> list[FieldRange]:
        """Return the ranges of the spans or records."""
        return list(_fields(self.data, ITEMS, self.start, self.end))

    def parts(self, changes: Mapping[int, bytes | None]) -> list[Part]:
        """Return the bytes in parts, with some items replaced; None removes an item."""
        view = memoryview(self.data)
        if not changes:
            return [view[self.start : self.end]]
        parts: list[Part] = []
        done = self.start
        ranges = self.items()
        for index in sorted(changes):
            start, _, end = ranges[index]
            parts.append(view[done:start])
            item = changes[index]
            if item is not None:
                parts.append(bytes_field(ITEMS, item))
            done = end
        return [*parts, view[done : self.end]]


def split_scopes(export: bytes) -> list[Scope]:
    """Return the scopes of an export that was decoded successfully."""
    return [
        Scope(export, first, last)
        for _, start, end in _fields(export, _RESOURCES, 0, len(export))
        for _, first, last in _fields(export, _SCOPES, start, end)
    ]


def frame(scope: Sequence[Part], head: bytes) -> list[Part]:
    """Return the parts of a frame; the caller joins the parts of all frames once."""
    return [varint(sum(map(len, scope)) + len(head)), *scope, head]


def set_version(frames: bytearray, version: int) -> None:
    """Write the version into every frame, in place to avoid copying a large request."""
    encoded = bytearray([version >> shift & 0x7F | 0x80 for shift in _VERSION_SHIFTS])
    encoded[-1] &= 0x7F
    at = 0
    while at < len(frames):
        size, start = read_varint(frames, at)
        at = start + size
        frames[at - _VERSION_BYTES : at] = encoded


def rewrite_frames(frames: bytes, message: type[Message]) -> bytes:
    """Encode the scopes of frames again, without fields that OTLP does not define."""
    parts: list[Part] = []
    at = 0
    while at < len(frames):
        size, start = read_varint(frames, at)
        at = start + size
        scope = message.FromString(bytes(frames[start:at]))
        unknown = UnknownFieldSet(scope)
        # Only unknown fields within spans and records are left, besides the head.
        [head] = [unknown[index].data for index in range(len(unknown))]
        scope.DiscardUnknownFields()
        parts += frame([scope.SerializeToString()], bytes_field(_HEAD, head))
    return b"".join(parts)


def _fields(data: bytes, number: int, at: int, end: int) -> Iterator[FieldRange]:
    """Yield the ranges of a repeated field."""
    repeated = number << 3 | BYTES
    return (
        (start, content, stop)
        for tag, start, content, stop in read_fields(data, at, end)
        if tag == repeated
    )
