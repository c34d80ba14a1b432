"""Truncates attribute values and bodies that are longer than 1 MiB."""

from collections.abc import Iterable

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric
from opentelemetry.proto.trace.v1.trace_pb2 import Span

MAX_VALUE_BYTES = 2**20
_TRUNCATION_MARKER = "… [cut at 1 MiB]"


def truncate_span(span: Span) -> bool:
    """Truncate long values; return whether there were any."""
    if span.ByteSize() <= MAX_VALUE_BYTES:
        return False
    is_truncated = _truncate_pairs(span.attributes)
    for event in span.events:
        is_truncated |= _truncate_pairs(event.attributes)
    for link in span.links:
        is_truncated |= _truncate_pairs(link.attributes)
    return is_truncated


def truncate_record(record: LogRecord) -> bool:
    if record.ByteSize() <= MAX_VALUE_BYTES:
        return False
    return _truncate_value(record.body) | _truncate_pairs(record.attributes)


def truncate_metric(metric: Metric) -> bool:
    if metric.ByteSize() <= MAX_VALUE_BYTES:
        return False
    kind = metric.WhichOneof("data")
    points = () if kind is None else getattr(metric, kind).data_points
    return any([_truncate_pairs(point.attributes) for point in points])  # noqa: C419


def _truncate_pairs(pairs: Iterable[KeyValue]) -> bool:
    # A list, so that `any` does not stop at the first one.
    return any([_truncate_value(pair.value) for pair in pairs])  # noqa: C419


def _truncate_value(value: AnyValue) -> bool:
    match value.WhichOneof("value"):
        case "string_value":
            text = value.string_value
            # A character takes at most four bytes, so short texts need not be encoded.
            if len(text) <= MAX_VALUE_BYTES // 4 or len(text.encode()) <= MAX_VALUE_BYTES:
                return False
            value.string_value = (
                text.encode()[:MAX_VALUE_BYTES].decode(errors="ignore") + _TRUNCATION_MARKER
            )
            return True
        case "bytes_value" if len(value.bytes_value) > MAX_VALUE_BYTES:
            value.bytes_value = value.bytes_value[:MAX_VALUE_BYTES]
            return True
        case "array_value":
            return any([_truncate_value(item) for item in value.array_value.values])  # noqa: C419
        case "kvlist_value":
            return _truncate_pairs(value.kvlist_value.values)
    return False
