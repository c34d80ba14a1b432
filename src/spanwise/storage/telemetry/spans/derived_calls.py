"""Deduplicates calls that a coding agent reports both as a span and as a log record.

When the log record arrives, a span is derived from it, because the agent's own span may be missing.
Both carry the call's id. Once both are stored, a newer version of the derived span is written that
does not count in its trace. It stays a root, so that the trace row under its start is deleted once
another root represents the trace.
"""

from clickhouse_connect.driver.client import Client

from spanwise.model.telemetry.conventions import CALL_ID, CALL_IS_DERIVED
from spanwise.storage.telemetry.spans.batch_rows import BatchRows
from spanwise.storage.telemetry.traces.aggregates import (
    SUPERSEDED,
    VERSION_STEP,
    find_long_traces,
    trace_rows_condition,
)

_ID = f"attributes['{CALL_ID}']"
_IS_CALL = f"mapContains(attributes, '{CALL_ID}')"
_IS_DERIVED = f"mapContains(attributes, '{CALL_IS_DERIVED}')"
# Above every price correction, below the next version of the span.
_VERSION_OFFSET = VERSION_STEP // 2


def supersede_derived_calls(client: Client, rows: BatchRows, only: str = "1") -> None:
    """Supersede derived calls in a batch's traces when the agent's own span is stored; idempotent.

    `only` restricts the spans that are read.
    """
    traces = f"""SELECT DISTINCT workspace, trace_id FROM spans
        WHERE {rows.condition()} AND {_IS_CALL}"""
    long = find_long_traces(client, traces, rows.parameters)
    calls = f"{trace_rows_condition(traces, long)} AND {only} AND {_IS_CALL}"
    client.command(
        f"""
        INSERT INTO spans
        SELECT * REPLACE (version + {_VERSION_OFFSET} AS version, '{SUPERSEDED}' AS kind,
            'unset' AS status, '' AS error_type, '' AS provider, '' AS tool_name)
        FROM (
            SELECT * FROM (
                SELECT * FROM spans WHERE {calls} AND {_IS_DERIVED}
                ORDER BY version DESC LIMIT 1 BY workspace, trace_id, span_id)
            WHERE kind != '{SUPERSEDED}' AND (workspace, trace_id, {_ID}) IN (
                SELECT workspace, trace_id, {_ID} FROM spans
                WHERE {calls} AND NOT {_IS_DERIVED}))""",
        parameters=rows.parameters,
    )
