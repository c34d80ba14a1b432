"""Stored values are decoded to their original types."""

from datetime import UTC, datetime

import pytest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from spanwise.storage.telemetry.rows.decoding import (
    TextCache,
    read_attribute,
    read_attributes,
    read_content,
    read_events,
    to_plain_value,
)

NESTED = AnyValue(
    kvlist_value=KeyValueList(
        values=[
            KeyValue(
                key="inner",
                value=AnyValue(
                    array_value=ArrayValue(
                        values=[AnyValue(int_value=1), AnyValue(bool_value=False), AnyValue()]
                    )
                ),
            )
        ]
    )
)


@pytest.mark.parametrize(
    ("stored", "value"),
    [
        (b"", ""),
        (b"plain", "plain"),
        ("grüße".encode(), "grüße"),
        (b"\x02true", True),
        (b"\x02false", False),
        (b"\x039223372036854775807", 2**63 - 1),
        (b"\x03-5", -5),
        (b"\x040.25", 0.25),
        (b"\x04nan", "nan"),
        (b"\x04inf", "inf"),
        (b"\x05" + ArrayValue(values=[AnyValue(string_value="a")]).SerializeToString(), ["a"]),
        (b"\x06" + NESTED.kvlist_value.SerializeToString(), {"inner": [1, False, None]}),
        (b"\x07\x00\xff", "00ff"),
    ],
)
def test_a_stored_attribute_has_the_type_it_came_with(stored: bytes, value: object) -> None:
    got = read_attribute(stored)
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize("stored", [b"\x03ten", b"\x04x", b"\x05\xff", b"\x06\xff", b"\xff\xfe"])
def test_undecodable_bytes_are_shown_as_text(stored: bytes) -> None:
    assert isinstance(read_attribute(stored), str)


def test_attributes_that_ingest_added_are_not_shown() -> None:
    stored = {b"spanwise.kind": b"llm", b"temperature": b"\x040.5"}
    assert read_attributes(stored, TextCache()) == {"temperature": 0.5}


@pytest.mark.parametrize(
    ("stored", "content"),
    [
        (b"", None),
        (b"hello", "hello"),
        (b'{"a": [1]}', {"a": [1]}),
        (b"[1, 2]", [1, 2]),
        (b"{broken", "{broken"),
        (b"12", "12"),
    ],
)
def test_contents_are_decoded_as_json_when_they_parse(stored: bytes, content: object) -> None:
    assert read_content(stored) == content


def test_an_event_keeps_its_name_time_and_attributes() -> None:
    event = Span.Event(name="retry", time_unix_nano=1_500_000_000)
    event.attributes.add(key="nested", value=NESTED)
    [read] = read_events([event.SerializeToString()])
    assert read == {
        "name": "retry",
        "time": datetime.fromtimestamp(1.5, UTC),
        "attributes": {"nested": to_plain_value(NESTED)},
    }
