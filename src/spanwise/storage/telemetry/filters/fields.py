"""The SQL of the fields that filters and queries refer to, over `traces` and over `spans`."""

from dataclasses import dataclass
from datetime import timedelta

from spanwise.model.api_model import utc_now
from spanwise.model.telemetry.logs import NUMBERS_PER_LEVEL, LogLevel
from spanwise.model.times import TimeRange
from spanwise.storage.telemetry.engine.attribute_text import value_text
from spanwise.storage.telemetry.engine.conditions import IS_HEAVY, Conditions, to_engine_time


@dataclass(frozen=True)
class Column:
    """SQL for a field of a row: one value, or a list of distinct values."""

    sql: str
    is_list: bool = False


_TRACE_ID = Column("lower(hex(trace_id))")


def _resource_column(key: str) -> Column:
    """A text of the resource, evaluated once per distinct one.

    `JSONExtractString` takes ten times as long.
    """
    return Column(f"simpleJSONExtractString(toString(resource), '{key}')")


_NUMBERS = {
    "durationMs": Column("duration_ns / 1e6"),
    "cost": Column("cost"),
    "inputTokens": Column("input_tokens"),
    "outputTokens": Column("output_tokens"),
    "totalTokens": Column("input_tokens + output_tokens"),
}
# A span that lacks one of these has that of its trace.
INHERITED = {
    "agent": "agent_name",
    "environment": "environment",
    "userId": "user_id",
    "sessionId": "session_id",
    "experiment": "experiment_id",
    "variant": "variant",
}
TRACE_COLUMNS = {
    "traceId": _TRACE_ID,
    "name": Column("name"),
    "status": Column("status"),
    "errorType": Column("error_type"),
    "model": Column("models", is_list=True),
    "provider": Column("providers", is_list=True),
    "tool": Column("tools", is_list=True),
    "kind": Column("kinds", is_list=True),
    **{field: Column(column) for field, column in INHERITED.items()},
    **_NUMBERS,
}
SPAN_COLUMNS = {
    "traceId": _TRACE_ID,
    "name": Column("name"),
    "status": Column("status"),
    "errorType": Column("error_type"),
    "model": Column("model"),
    "provider": Column("provider"),
    "tool": Column("tool_name"),
    "kind": Column("kind"),
    "service": Column("service_name"),
    "serviceVersion": _resource_column("service.version"),
    **_NUMBERS,
}
# The engine counts from 1, like numbers of severity.
_LEVEL_NUMBER = f"intDiv(severity - 1, {NUMBERS_PER_LEVEL}) + 1"
LOG_COLUMNS = {
    "traceId": Column("trace_id"),
    "spanId": Column("span_id"),
    "agent": Column("agent_name"),
    "level": Column(f"{[str(level) for level in LogLevel]}[{_LEVEL_NUMBER}]"),
    "message": Column(value_text("message")),
    "service": _resource_column("service.name"),
    "serviceVersion": _resource_column("service.version"),
}
# The other fields of signals are `INHERITED`.
SIGNAL_COLUMNS = {
    "signalName": Column("name"),
    "value": Column("value"),
    "traceId": Column("trace_id"),
    "spanId": Column("span_id"),
    "comment": Column("comment"),
}


def inherited_column(field: str) -> str:
    """SQL for the span's own value or, if it has none, that of its trace as `trace_<column>`."""
    column = INHERITED[field]
    # A variant belongs to its experiment.
    given = "experiment_id" if field == "variant" else column
    return f"if(notEmpty({given}), {column}, trace_{column})"


# Spans are looked up up to this long before and after the start of their trace.
MAX_BEFORE_ROOT = timedelta(days=1)
MAX_AFTER_ROOT = timedelta(days=7)


# Reading the attributes of more days is left to the readers for heavy queries.
_LIGHT = timedelta(days=32)


def mark_heavy(where: Conditions, period: TimeRange) -> None:
    """Mark a query that reads attributes as heavy if its period is long."""
    if period.start is None or (period.end or utc_now()) - period.start > _LIGHT:
        where.parameters[IS_HEAVY] = 1


def spans_of_traces(where: Conditions, period: TimeRange) -> str:
    """SQL condition on `spans` for the hours in which traces of a period have spans."""
    mark_heavy(where, period)
    return hours_of_traces(where, period)


def hours_of_traces(where: Conditions, period: TimeRange) -> str:
    """SQL condition on the hours in which traces of a period have spans, in any table."""
    hours = Conditions(where.workspace)
    if period.start is not None:
        first = where.bind_once("spans_after", to_engine_time(period.start - MAX_BEFORE_ROOT))
        hours.add(f"hour >= toStartOfHour({first})")
    if period.end is not None:
        end = where.bind_once("spans_before", to_engine_time(period.end + MAX_AFTER_ROOT))
        hours.add(f"hour < {end}")
    return hours.sql


def traces_of_spans(where: Conditions, period: TimeRange) -> str:
    """SQL condition on `traces` for those that may have spans in a period."""
    starts = Conditions(where.workspace)
    if period.start is not None:
        first = where.bind_once("traces_after", to_engine_time(period.start - MAX_AFTER_ROOT))
        starts.add(f"start >= {first}")
    if period.end is not None:
        end = where.bind_once("traces_before", to_engine_time(period.end + MAX_BEFORE_ROOT))
        starts.add(f"start < {end}")
    return starts.sql
