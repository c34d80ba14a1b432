"""Deletes traces with their spans, signals and logs.

The engine masks deleted rows in the background; until then, reads of their partition apply each
deletion themselves. So the deletions of a batch are one statement per month, and only where there
is no other way: a tombstone hides a row of `traces` until a merge removes it, and `trace_bounds`,
which every batch reads, says up to which version a trace is deleted.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from clickhouse_connect.driver.client import Client

from spanwise.storage.telemetry.engine.query import Rows, delete_where, query_rows
from spanwise.storage.telemetry.rows.locations import trace_starts_condition
from spanwise.storage.telemetry.write.aggregates import recompute_traces


@dataclass(frozen=True)
class TraceDeletion:
    """Deletes rows older than `version`; the same trace may be sent again later."""

    workspace: str
    trace_id: str
    version: int


# Deletions per statement, which lists their ids.
_MAX_DELETIONS = 500
# A trace of more months (a client's clock was off) is searched in all partitions.
_MAX_MONTHS = 3

_IDS = "arrayMap(id -> toFixedString(unhex(id), 16), {traces:Array(String)})"
_TRACES = f"SELECT {{workspace:String}} AS workspace, arrayJoin({_IDS}) AS trace_id"
# The version of a row's deletion; 0 for other traces.
_VERSION_OF = "{{versions:Array(UInt64)}}[indexOf({{traces:Array(String)}}, {})]"
_VERSION = _VERSION_OF.format("lower(hex(trace_id))")

_BOUNDS = f"""
SELECT lower(hex(trace_id)) AS trace, min(first_hour) AS first, max(last_hour) AS last,
    {_VERSION} AS version, max(last_version) > version AS is_sent_again
FROM trace_bounds WHERE (workspace, trace_id) IN ({_TRACES}) GROUP BY trace_id"""
# Written also for rows that have a tombstone: a rollup, which detects changes by written rows, may
# not have seen it yet.
_ADD_TOMBSTONES = f"""
INSERT INTO traces (workspace, start, trace_id, version, is_deleted)
SELECT DISTINCT workspace, start, trace_id, {_VERSION}, 1 FROM traces
WHERE {trace_starts_condition(_TRACES)} AND version < {_VERSION}"""
_MARK_BOUNDS = f"""
INSERT INTO trace_bounds
    (workspace, trace_id, first_hour, last_hour, first_version, last_version, deleted_version)
SELECT workspace, trace_id, min(first_hour), max(last_hour), min(first_version), max(last_version),
    {_VERSION}
FROM trace_bounds WHERE (workspace, trace_id) IN ({_TRACES}) GROUP BY workspace, trace_id"""
_RELATED = f"""workspace = {{workspace:String}} AND trace_id IN {{traces:Array(String)}}
AND version < {_VERSION_OF.format("trace_id")}"""


def delete_traces(client: Client, deletions: Sequence[TraceDeletion]) -> None:
    """Apply deletions; idempotent."""
    by_workspace: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for deletion in deletions:
        # The last deletion of a trace includes earlier ones.
        by_workspace[deletion.workspace][deletion.trace_id] = deletion.version
    for workspace, versions in by_workspace.items():
        chosen = list(versions.items())
        for first in range(0, len(chosen), _MAX_DELETIONS):
            _delete(client, workspace, chosen[first : first + _MAX_DELETIONS])


def _delete(client: Client, workspace: str, versions: Sequence[tuple[str, int]]) -> None:
    parameters = {
        "workspace": workspace,
        "traces": [trace_id for trace_id, _ in versions],
        "versions": [version for _, version in versions],
    }
    found = query_rows(client, _BOUNDS, parameters)
    again = [row for row in found if row["is_sent_again"]]
    if found:
        client.command(_ADD_TOMBSTONES, parameters=parameters)
        _delete_spans(client, workspace, [row for row in found if not row["is_sent_again"]])
        for row in again:
            _delete_spans(client, workspace, [row])
        client.command(_MARK_BOUNDS, parameters=parameters)
    if again:
        # Spans that arrived after the deletion form a new trace.
        traces = [row["trace"] for row in again]
        recompute_traces(client, _TRACES, {"workspace": workspace, "traces": traces})
    for table in ("signals", "logs"):
        delete_where(client, table, _RELATED, parameters)


def _delete_spans(client: Client, workspace: str, traces: Rows) -> None:
    """Delete the spans of traces before the latest of their deletions."""
    by_partition = defaultdict(list)
    for row in traces:
        for partition in _list_partitions(row["first"], row["last"]):
            by_partition[partition].append(row)
    for partition, rows in by_partition.items():
        # Listed, because the engine knows no lambdas in a deletion.
        ids = {f"trace{number}": row["trace"] for number, row in enumerate(rows)}
        listed = ", ".join(f"toFixedString(unhex({{{name}:String}}), 16)" for name in ids)
        parameters = {
            **ids,
            "workspace": workspace,
            "first": min(row["first"] for row in rows),
            "last": max(row["last"] for row in rows),
            "version": max(row["version"] for row in rows),
        }
        sql = f"""DELETE FROM spans {partition}
            WHERE workspace = {{workspace:String}} AND trace_id IN ({listed})
            AND hour BETWEEN {{first:DateTime('UTC')}} AND {{last:DateTime('UTC')}}
            AND version < {{version:UInt64}}"""
        client.command(sql, parameters=parameters)


def _list_partitions(first: datetime, last: datetime) -> list[str]:
    """Return SQL for the months of a trace; without it, a deletion visits every part of a table."""
    first_month, last_month = (12 * at.year + at.month - 1 for at in (first, last))
    if last_month - first_month >= _MAX_MONTHS:
        return [""]
    months = (divmod(month, 12) for month in range(first_month, last_month + 1))
    return [f"IN PARTITION {year}{month + 1:02}" for year, month in months]
