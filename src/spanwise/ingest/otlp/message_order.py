"""Keeps the order of messages that are sent as log records with the same time.

Clocks of JavaScript count milliseconds, so all messages of a call often have the same. Storage
does not keep the order of records; their position is added as an attribute.
"""

from collections import Counter
from collections.abc import Sequence

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

from spanwise.model.telemetry.conventions import RECORD_POSITION
from spanwise.model.telemetry.conversation.messages import INPUT_EVENTS, OUTPUT_EVENTS


def number_messages(records: Sequence[LogRecord]) -> set[int]:
    """Add their position to messages whose time is not unique; return their indexes."""
    messages = [at for at, record in enumerate(records) if _is_message(record)]
    times = Counter((records[at].span_id, _time_of(records[at])) for at in messages)
    numbered = {at for at in messages if times[records[at].span_id, _time_of(records[at])] > 1}
    for at in numbered:
        position = KeyValue(key=RECORD_POSITION, value=AnyValue(string_value=str(at)))
        records[at].attributes.append(position)
    return numbered


def _is_message(record: LogRecord) -> bool:
    given = (a.value.string_value for a in record.attributes if a.key == "event.name")
    name = record.event_name or next(given, "")
    return bool(record.span_id) and (name in INPUT_EVENTS or name in OUTPUT_EVENTS)


def _time_of(record: LogRecord) -> int:
    return record.time_unix_nano or record.observed_time_unix_nano
