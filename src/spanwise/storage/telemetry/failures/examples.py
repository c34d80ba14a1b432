"""Reads the messages of example spans: groups have them without ids and numbers only."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from spanwise.model.telemetry.failures import FailureExample
from spanwise.storage.telemetry.engine.client_pool import Engine

EXAMPLES = 5
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MAX_MESSAGE_CHARACTERS = 2000

_LATEST_SPANS = 20
# The latest spans of a group, several of which may be of one trace.
SELECT_LATEST = f"""groupArraySorted({_LATEST_SPANS})((-toUnixTimestamp64Nano(start),
        lower(hex(trace_id)), lower(hex(span_id)), toUnixTimestamp(hour)))"""
_SELECT_MESSAGES = """
SELECT lower(hex(trace_id)) AS trace, lower(hex(span_id)) AS span,
    substringUTF8(status_message, 1, {max_message:UInt32}) AS message
FROM spans
WHERE workspace = {workspace:String} AND (hour, trace_id, span_id) IN (
    SELECT toDateTime(key.1, 'UTC'), toFixedString(unhex(key.2), 16),
        toFixedString(unhex(key.3), 8)
    FROM (
        SELECT arrayJoin(arrayZip(
            {hours:Array(UInt32)}, {traces:Array(String)}, {spans:Array(String)})) AS key))
ORDER BY version DESC LIMIT 1 BY trace_id, span_id"""


@dataclass(frozen=True)
class SpanKey:
    trace_id: str
    span_id: str
    hour: int
    start_ns: int


def choose_examples(latest: Iterable[tuple[int, str, str, int]]) -> list[SpanKey]:
    """Return the latest span of each of the latest traces."""
    by_trace: dict[str, SpanKey] = {}
    for negated_start, trace_id, span_id, hour in latest:
        by_trace.setdefault(trace_id, SpanKey(trace_id, span_id, hour, -negated_start))
    return list(by_trace.values())[:EXAMPLES]


async def read_examples(
    engine: Engine, workspace: str, keys: Sequence[SpanKey]
) -> dict[SpanKey, FailureExample]:
    """Return the spans with their messages, which are empty when content was deleted."""
    if not keys:
        return {}
    rows = await engine.fetch(
        _SELECT_MESSAGES,
        {
            "workspace": workspace,
            "hours": [key.hour for key in keys],
            "traces": [key.trace_id for key in keys],
            "spans": [key.span_id for key in keys],
            "max_message": MAX_MESSAGE_CHARACTERS,
        },
        tag="read_failure_examples",
    )
    messages = {(row["trace"], row["span"]): row["message"] for row in rows}
    return {
        key: FailureExample(
            trace_id=key.trace_id,
            span_id=key.span_id,
            start_time=_EPOCH + timedelta(microseconds=key.start_ns // 1000),
            message=messages.get((key.trace_id, key.span_id), ""),
        )
        for key in keys
    }
