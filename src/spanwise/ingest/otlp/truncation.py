"""Cuts texts that are too long, wherever they stand in a span or a log record."""

from collections.abc import Iterable

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span

MAX_VALUE_BYTES = 2**20
CUT_MARKER = "… [cut at 1 MiB]"


def cut_span(span: Span) -> bool:
    """Cut texts beyond 1 MiB and say whether there was one."""
    if span.ByteSize() <= MAX_VALUE_BYTES:
        return False
    is_cut = _cut_pairs(span.attributes)
    for event in span.events:
        is_cut |= _cut_pairs(event.attributes)
    for link in span.links:
        is_cut |= _cut_pairs(link.attributes)
    return is_cut


def cut_record(record: LogRecord) -> bool:
    if record.ByteSize() <= MAX_VALUE_BYTES:
        return False
    return _cut_value(record.body) | _cut_pairs(record.attributes)


def _cut_pairs(pairs: Iterable[KeyValue]) -> bool:
    # No early end: every value has to be looked at.
    return any([_cut_value(pair.value) for pair in pairs])  # noqa: C419


def _cut_value(value: AnyValue) -> bool:
    match value.WhichOneof("value"):
        case "string_value":
            text = value.string_value
            # A character is four bytes at most, so short ones need not be encoded to be measured.
            if len(text) <= MAX_VALUE_BYTES // 4 or len(text.encode()) <= MAX_VALUE_BYTES:
                return False
            value.string_value = (
                text.encode()[:MAX_VALUE_BYTES].decode(errors="ignore") + CUT_MARKER
            )
            return True
        case "bytes_value" if len(value.bytes_value) > MAX_VALUE_BYTES:
            value.bytes_value = value.bytes_value[:MAX_VALUE_BYTES]
            return True
        case "array_value":
            return any([_cut_value(item) for item in value.array_value.values])  # noqa: C419
        case "kvlist_value":
            return _cut_pairs(value.kvlist_value.values)
    return False
