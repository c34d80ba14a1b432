"""Reads the names of the exceptions that traces failed with; their type is one of five classes."""

from spanwise.storage.telemetry.engine.attribute_text import first_text
from spanwise.storage.telemetry.rows.shown_spans import shown_spans

# Where spans have it: the first is derived from their events.
_ATTRIBUTES = ("spanwise.exception.type", "exception.type", "error.type")
# What OpenTelemetry sends for an error without a name.
NO_NAME = "_OTHER"
# Names of later spans of a long trace are not read.
_MAX_HOURS = 24
_HOUR = 3600 * 10**9


def error_name_or(*otherwise: str) -> str:
    """SQL for the name of a span's exception, else what further arguments of `multiIf` say."""
    name = first_text(_ATTRIBUTES)
    return f"multiIf({', '.join((f'notEmpty({name})', name, *otherwise))})"


def trace_error_names(traces: str) -> str:
    """SQL for the first name of an exception in each failed trace, by `trace_id`.

    `traces` is SQL for a condition that finds the traces, such as those of a page. They are few, so
    the name is no column of `traces`.
    """
    nano = "toUnixTimestamp64Nano(start)"
    hours = f"intDiv({nano} + duration_ns, {_HOUR}) - intDiv({nano}, {_HOUR}) + 1"
    failed = f"""SELECT workspace, arrayJoin(arrayMap(n -> toStartOfHour(start) + 3600 * n,
            range(toUInt32(least({hours}, {_MAX_HOURS}))))) AS hour, trace_id
        FROM traces WHERE workspace = {{workspace:String}} AND {traces} AND status = 'error'"""
    name = error_name_or("''")
    spans = shown_spans(
        f"trace_id, span_id, start, {name} AS name",
        "status = 'error'",
        prewhere=f"workspace = {{workspace:String}} AND (workspace, hour, trace_id) IN ({failed})",
    )
    return f"""SELECT trace_id, argMin(name, (start, span_id)) AS error_name FROM ({spans})
        WHERE name NOT IN ('', '{NO_NAME}') GROUP BY trace_id"""
