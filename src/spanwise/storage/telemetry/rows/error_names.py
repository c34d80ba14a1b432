"""Reads the names of the exceptions that traces failed with; their type is one of five classes."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from spanwise.storage.telemetry.engine.attribute_text import first_text
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.conditions import to_engine_seconds
from spanwise.storage.telemetry.rows.decoding import in_utc
from spanwise.storage.telemetry.rows.locations import binary_trace_id
from spanwise.storage.telemetry.rows.shown_spans import shown_spans

# Where spans have it: the first is derived from their events.
_ATTRIBUTES = ("spanwise.exception.type", "exception.type", "error.type")
# What OpenTelemetry sends for an error without a name.
NO_NAME = "_OTHER"
# Names of later spans of a long trace are not read.
_MAX_HOURS = 24


def error_name_or(*otherwise: str) -> str:
    """SQL for the name of a span's exception, else what further arguments of `multiIf` say."""
    name = first_text(_ATTRIBUTES)
    return f"multiIf({', '.join((f'notEmpty({name})', name, *otherwise))})"


async def find_error_names(
    engine: Engine, workspace: str, traces: Iterable[Mapping[str, Any]]
) -> dict[str, str]:
    """Return the first name of an exception in each of the failed traces, by trace id.

    Only the traces of a page are looked up, so it is no column of `traces`.
    """
    failed = [trace for trace in traces if trace["status"] == "error"]
    if not failed:
        return {}
    name = error_name_or("''")
    spans = shown_spans(
        f"trace_id, span_id, start, {name} AS name",
        "status = 'error'",
        prewhere=f"""workspace = {{workspace:String}} AND hour IN {{hours:Array(DateTime('UTC'))}}
            AND trace_id IN (
                SELECT {binary_trace_id("id")} FROM (
                    SELECT arrayJoin({{traces:Array(String)}}) AS id))""",
    )
    rows = await engine.fetch(
        f"""SELECT lower(hex(trace_id)) AS id, argMin(name, (start, span_id)) AS first_name
        FROM ({spans})
        WHERE name NOT IN ('', '{NO_NAME}')
        GROUP BY trace_id SETTINGS max_threads = 1""",
        {
            "workspace": workspace,
            "hours": [to_engine_seconds(hour) for hour in sorted({*_hours_of(failed)})],
            "traces": [trace["id"] for trace in failed],
        },
        tag="find_error_names",
    )
    return {row["id"]: row["first_name"] for row in rows}


def _hours_of(traces: Iterable[Mapping[str, Any]]) -> Iterable[datetime]:
    for trace in traces:
        start = in_utc(trace["start"])
        end = start + timedelta(microseconds=trace["duration_ns"] / 1000)
        hour = start.replace(minute=0, second=0, microsecond=0)
        for number in range(_MAX_HOURS):
            if hour + timedelta(hours=number) <= end:
                yield hour + timedelta(hours=number)
