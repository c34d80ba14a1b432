"""Reads and writes the fields of encoded protobuf messages, without decoding them."""

from collections.abc import Iterator

from spanwise.model.errors import Invalid

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_MAX_VARINT_BYTES = 10

# The tag of a field, its start, the start of its content, and its end.
Field = tuple[int, int, int, int]


class MalformedError(Exception):
    """A varint is longer than ten bytes."""


def read_fields(data: bytes, at: int, end: int) -> Iterator[Field]:
    """Yield the fields of a message within `data`.

    Raises IndexError or MalformedError when it is malformed, and Invalid for a group. The end of a
    field may lie beyond that of the message.
    """
    while at < end:
        start = at
        tag = data[at]
        at += 1
        if tag > 0x7F:  # noqa: PLR2004 -- more bytes follow
            tag, at = read_varint(data, start)
        wire_type = tag & 7
        if wire_type == BYTES:
            size = data[at]
            at += 1
            if size > 0x7F:  # noqa: PLR2004
                # Fast case: the sizes of most spans take two bytes.
                if (second := data[at]) <= 0x7F:  # noqa: PLR2004
                    size += (second - 1) << 7
                    at += 1
                else:
                    size, at = read_varint(data, at - 1)
            stop = at + size
        elif wire_type == VARINT:
            stop = read_varint(data, at)[1]
        elif wire_type == FIXED64:
            stop = at + 8
        elif wire_type == FIXED32:
            stop = at + 4
        else:
            raise Invalid("the body has a protobuf group, which is not supported")
        yield tag, start, at, stop
        at = stop


def read_varint(data: bytes | bytearray, at: int) -> tuple[int, int]:
    """Return a number and the position after it."""
    value = 0
    for shift in range(0, 7 * _MAX_VARINT_BYTES, 7):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte <= 0x7F:  # noqa: PLR2004
            return value, at
    raise MalformedError


def bytes_field(number: int, data: bytes) -> bytes:
    """Encode a field that holds bytes, a text or a message."""
    return varint(number << 3 | BYTES) + varint(len(data)) + data


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:  # noqa: PLR2004 -- seven bits per byte
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
