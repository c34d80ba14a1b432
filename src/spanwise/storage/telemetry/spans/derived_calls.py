"""Calls that a coding agent reports twice, as its own span and as a log record: each counts once.

The span derived from the record is there as soon as the record is, since the agent's own may never
come. Both carry the call's id. When both are stored, a later version of the derived one is written
that adds nothing to its trace. It stays a root, so that a trace row under its start is deleted once
another root represents the trace.
"""

from typing import Any

from clickhouse_connect.driver.client import Client

from spanwise.model.telemetry.conventions import CALL_ID, CALL_IS_DERIVED
from spanwise.storage.telemetry.traces.aggregates import (
    SUPERSEDED,
    VERSION_STEP,
    find_long_traces,
    in_places,
)

_ID = f"attributes['{CALL_ID}']"
_IS_CALL = f"mapContains(attributes, '{CALL_ID}')"
_IS_DERIVED = f"mapContains(attributes, '{CALL_IS_DERIVED}')"
_TRACES = f"""SELECT DISTINCT workspace, trace_id FROM spans
    WHERE version BETWEEN {{first:UInt64}} AND {{last:UInt64}} AND {_IS_CALL}"""
# Above every correction of a price, below the next version of the span.
_LIFT = VERSION_STEP // 2


def supersede_derived_calls(
    client: Client, first_version: int, last_version: int, only: str = "1"
) -> None:
    """Let derived calls of a batch's traces count no more if the agent's own span is there.

    `only` narrows which spans are looked at. Doing so twice changes nothing.
    """
    parameters: dict[str, Any] = {"first": first_version, "last": last_version}
    long = find_long_traces(client, _TRACES, parameters)
    calls = f"{in_places(_TRACES, long)} AND {only} AND {_IS_CALL}"
    client.command(
        f"""
        INSERT INTO spans
        SELECT * REPLACE (version + {_LIFT} AS version, '{SUPERSEDED}' AS kind,
            'unset' AS status, '' AS error_type, '' AS provider, '' AS tool_name)
        FROM (
            SELECT * FROM (
                SELECT * FROM spans WHERE {calls} AND {_IS_DERIVED}
                ORDER BY version DESC LIMIT 1 BY workspace, trace_id, span_id)
            WHERE kind != '{SUPERSEDED}' AND (workspace, trace_id, {_ID}) IN (
                SELECT workspace, trace_id, {_ID} FROM spans
                WHERE {calls} AND NOT {_IS_DERIVED}))""",
        parameters=parameters,
    )
