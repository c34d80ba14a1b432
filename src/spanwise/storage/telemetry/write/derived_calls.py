"""Deduplicates calls that a coding agent reports both as a span and as a log record.

When the log record arrives, a span is derived from it, because the agent's own span may be missing.
Both carry the call's id. Once both are stored, a newer version of the derived span is written that
does not count in its trace. It stays a root, so that the trace row under its start is deleted once
another root represents the trace.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from clickhouse_connect.driver.client import Client

from spanwise.storage.telemetry.engine.query import Rows
from spanwise.storage.telemetry.rows.shown_spans import SUPERSEDED
from spanwise.storage.telemetry.write.aggregates import VERSION_STEP

_SUPERSEDED = SUPERSEDED.encode()
# Above every price correction, below the next version of the span.
_VERSION_OFFSET = VERSION_STEP // 2
# Spans per statement, which names them.
_MAX_SPANS = 1000


class _Report(NamedTuple):
    """A span with the id of the call that it reports."""

    # In seconds since 1970.
    hour: int
    span_id: bytes
    call_id: bytes
    is_derived: bool
    kind: bytes


def supersede_derived_calls(client: Client, aggregates: Rows, only: str, last_version: int) -> bool:
    """Supersede derived calls of traces in which the agent's own span is stored, too.

    Returns whether there were any. `only` restricts the spans that are read; it may bind `last`.
    """
    spans = [span for trace in aggregates for span in _find_superseded(trace)]
    for first in range(0, len(spans), _MAX_SPANS):
        workspaces, hours, traces, ids = zip(*spans[first : first + _MAX_SPANS], strict=True)
        client.command(
            f"""
            INSERT INTO spans
            SELECT * REPLACE (version + {_VERSION_OFFSET} AS version, '{SUPERSEDED}' AS kind,
                'unset' AS status, '' AS error_type, '' AS provider, '' AS tool_name)
            FROM spans WHERE (workspace, hour, trace_id, span_id) IN (
                SELECT s.1, toDateTime(s.2, 'UTC'), toFixedString(unhex(s.3), 16),
                    toFixedString(unhex(s.4), 8)
                FROM (SELECT arrayJoin(arrayZip({{workspaces_of:Array(String)}},
                    {{hours_of:Array(UInt32)}}, {{traces:Array(String)}}, {{ids:Array(String)}}))
                    AS s))
                AND {only}
            ORDER BY version DESC LIMIT 1 BY workspace, trace_id, span_id""",
            parameters={
                "workspaces_of": list(workspaces),
                "hours_of": list(hours),
                "traces": list(traces),
                "ids": list(ids),
                "last": last_version,
            },
        )
    return bool(spans)


def _find_superseded(trace: Mapping[str, Any]) -> Iterator[tuple[str, int, str, str]]:
    """Yield workspace, hour, trace id and span id of derived calls that the agent sent, too."""
    reports = [_Report(*members) for members in trace["reports"]]
    own = {report.call_id for report in reports if not report.is_derived}
    for report in reports:
        if report.is_derived and report.kind != _SUPERSEDED and report.call_id in own:
            yield (
                trace["workspace"].decode(),
                report.hour,
                trace["trace_id"].hex(),
                report.span_id.hex(),
            )
