"""Messages in log records keep their order when their times are equal."""

from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

from spanwise.ingest.otlp.message_order import number_messages
from support.otlp import pairs


def message(time: int, event: str = "gen_ai.user.message", span: bytes = b"s" * 8) -> LogRecord:
    return LogRecord(time_unix_nano=time, span_id=span, event_name=event)


def positions(records: list[LogRecord]) -> list[str | None]:
    number_messages(records)
    return [next((a.value.string_value for a in r.attributes), None) for r in records]


def test_messages_of_the_same_time_are_numbered() -> None:
    assert positions([message(1), message(2), message(2)]) == [None, "1", "2"]


def test_other_records_and_other_spans_are_not_numbered() -> None:
    records = [message(1), message(1, "exception"), message(1, span=b"t" * 8), message(1, span=b"")]
    assert positions(records) == [None] * 4


def test_the_event_may_be_an_attribute() -> None:
    records = [message(1, "") for _ in range(2)]
    for record in records:
        record.attributes.extend(pairs({"event.name": "gen_ai.choice"}))
    assert number_messages(records) == {0, 1}
