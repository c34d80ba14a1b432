"""Recomputes trace aggregates from their spans whenever a span arrives.

One statement writes the new row and deletes rows that the trace had under another start time.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from clickhouse_connect.driver.client import Client

from spanwise.model.telemetry.conventions import USAGE_KINDS
from spanwise.storage.telemetry.engine.query import query_rows
from spanwise.storage.telemetry.spans.batch_rows import HOUR_SECONDS, BatchRows
from spanwise.storage.telemetry.spans.decoding import in_utc
from spanwise.storage.telemetry.spans.locations import hourly_keys_condition, trace_bounds_sql

# Distance between versions; the numbers in between are for corrections of a stored row.
VERSION_STEP = 1024

# Kind of a span that is not counted in its trace, because another span reports the same call.
SUPERSEDED = "superseded"
_IS_SUPERSEDED = f"s.kind = '{SUPERSEDED}'"

# The hours of a trace are listed up to one week; longer traces are searched by range.
MAX_LISTED_HOURS = 7 * 24
_IS_LONG = f"dateDiff('hour', from_hour, to_hour) > {MAX_LISTED_HOURS}"
_LONG_TRACES = f"""countIf({_IS_LONG}) AS long_traces, minIf(from_hour, {_IS_LONG}) AS first_hour,
    maxIf(to_hour, {_IS_LONG}) AS last_hour"""

# The span columns that aggregates need: narrow ones, never inputs and outputs.
_SPAN_COLUMNS = (
    "workspace, hour, trace_id, span_id, version, is_root, name, kind, start, duration_ns, status, "
    "error_type, service_name, agent_name, workflow_name, provider, model, input_tokens, "
    "output_tokens, cost, is_priced, tool_name, session_id, user_id, environment, experiment_id, "
    "variant, trace_name, input_preview, output_preview"
)

_HAS_USAGE = f"kind IN {USAGE_KINDS}"

_TRACE_COLUMNS = (
    "workspace, start, trace_id, version, is_deleted, name, agent_name, status, error_type, "
    "duration_ns, span_count, error_count, input_tokens, output_tokens, cost, session_id, user_id, "
    "environment, experiment_id, variant, models, model_calls, model_input_tokens, "
    "model_output_tokens, model_costs, unpriced_models, providers, tools, tool_calls, kinds, "
    "input_preview, output_preview"
)


def _aggregate_sql(spans: str, stored: str = "") -> str:
    """SQL that aggregates spans, given as a deduplicated subquery, into rows of traces.

    The earliest root span represents the trace. The same statement deletes rows under other start
    times: those of later roots and, when `stored` selects the existing rows, those of a root that
    was resent with another start.
    """
    join = f"LEFT JOIN ({stored}) AS t USING (workspace, trace_id)" if stored else ""
    starts = "arrayDistinct(arrayConcat(root_starts, stored_starts))" if stored else "root_starts"
    return f"""
INSERT INTO traces ({_TRACE_COLUMNS})
SELECT
    workspace, root_start AS start, trace_id, last_version AS version,
    root_start != first.1 AS is_deleted,
    if(notEmpty(given_name), given_name, first.2) AS name,
    multiIf(notEmpty(first.3), first.3, notEmpty(agent), agent, notEmpty(workflow), workflow,
        first.4) AS agent_name,
    if(first.5 = 'error', 'error', 'success') AS status,
    first.6 AS error_type, first.7 AS duration_ns, span_count, error_count,
    total_input AS input_tokens, total_output AS output_tokens, total_cost AS cost,
    if(notEmpty(first.8), first.8, any_session) AS session_id,
    if(notEmpty(first.9), first.9, any_user) AS user_id,
    first.10 AS environment,
    if(notEmpty(first.11), first.11, any_experiment.1) AS experiment_id,
    if(notEmpty(first.11), first.12, any_experiment.2) AS variant,
    by_model.1 AS models, by_model.2 AS model_calls, by_model.3 AS model_input_tokens,
    by_model.4 AS model_output_tokens, by_model.5 AS model_costs, unpriced AS unpriced_models,
    all_providers AS providers, by_tool.1 AS tools, by_tool.2 AS tool_calls, all_kinds AS kinds,
    first.13 AS input_preview, first.14 AS output_preview
FROM
(
    SELECT
        workspace, trace_id, max(s.version) AS last_version,
        argMinIf((s.start, s.name, s.agent_name, s.service_name, s.status, s.error_type,
            s.duration_ns, s.session_id, s.user_id, s.environment, s.experiment_id, s.variant,
            s.input_preview, s.output_preview), ({_IS_SUPERSEDED}, s.start), s.is_root) AS first,
        groupUniqArrayIf(s.start, s.is_root) AS root_starts,
        anyIf(s.trace_name, s.trace_name != '') AS given_name,
        argMinIf(s.agent_name, s.start, s.agent_name != '') AS agent,
        anyIf(s.workflow_name, s.workflow_name != '') AS workflow,
        anyIf(s.session_id, s.session_id != '') AS any_session,
        anyIf(s.user_id, s.user_id != '') AS any_user,
        argMinIf((s.experiment_id, s.variant), s.start, s.experiment_id != '') AS any_experiment,
        countIf(NOT {_IS_SUPERSEDED}) AS span_count,
        countIf(s.status = 'error') AS error_count,
        sumIf(s.input_tokens, {_HAS_USAGE}) AS total_input,
        sumIf(s.output_tokens, {_HAS_USAGE}) AS total_output,
        sumIf(s.cost, {_HAS_USAGE}) AS total_cost,
        sumMapIf([s.model], [toUInt64(1)], [toUInt64(s.input_tokens)], [toUInt64(s.output_tokens)],
            [s.cost], {_HAS_USAGE} AND s.model != '') AS by_model,
        groupUniqArrayIf(s.model, {_HAS_USAGE} AND NOT s.is_priced AND s.model != '') AS unpriced,
        groupUniqArrayIf(s.provider, s.provider != '') AS all_providers,
        sumMapIf([s.tool_name], [toUInt64(1)], s.tool_name != '') AS by_tool,
        groupUniqArrayIf(s.kind, NOT {_IS_SUPERSEDED}) AS all_kinds
    FROM ({spans}) AS s
    GROUP BY workspace, trace_id
) AS aggregates
{join}
ARRAY JOIN {starts} AS root_start"""


class LongTraces(NamedTuple):
    """The hour range of traces that last too long to list each of their hours.

    Client clocks may be years off; the hours of a few thousand such traces would not fit in memory.
    """

    traces: int
    first_hour: datetime
    last_hour: datetime


@dataclass(frozen=True)
class TouchedTraces:
    """Traces of a batch that have spans outside of it too."""

    traces: int
    # How many of them have a root span in the batch: only these may have got another start.
    rooted: int
    long: LongTraces
    first_hour: datetime
    last_hour: datetime

    @property
    def hours(self) -> range:
        """The hours, counted from 1970, in which these traces have rows."""
        if not self.traces:
            return range(0)
        first, last = (
            int(in_utc(hour).timestamp()) // HOUR_SECONDS
            for hour in (self.first_hour, self.last_hour)
        )
        return range(first, last + 1)


def aggregate_batch(client: Client, rows: BatchRows) -> TouchedTraces:
    """Update the traces of a batch, with one writer on the store.

    A trace without earlier spans is complete in the batch, so only the batch is read for it.
    """
    seen_before = f"""{trace_bounds_sql(_traces_of(rows))}
        HAVING min(first_version) < {{first:UInt64}}"""
    seen = _find_touched(client, rows, seen_before)
    new = f"SELECT {_SPAN_COLUMNS} FROM spans WHERE {rows.condition()}"
    ids = f"SELECT workspace, trace_id FROM ({seen_before})"
    if seen.traces:
        new += f" AND (workspace, trace_id) NOT IN ({ids})"
    client.command(_aggregate_sql(_deduplicate(new)), parameters=rows.parameters)
    if seen.traces:
        # Exclude the next batch, which may be only partly inserted.
        only = "version <= {last:UInt64}"
        recompute_traces(
            client,
            ids,
            rows.parameters,
            only,
            may_have_moved=seen.rooted > 0,
            long=seen.long,
        )
    return seen


def aggregate_shared_batch(client: Client, rows: BatchRows) -> TouchedTraces:
    """Update the traces of a batch by reading all their spans.

    Needed when versions do not show which spans are stored: with other writers on the store, and
    while records of an earlier process are replayed.
    """
    traces = _traces_of(rows)
    touched = _find_touched(client, rows, trace_bounds_sql(traces))
    recompute_traces(client, traces, rows.parameters, long=touched.long)
    return touched


def _traces_of(rows: BatchRows) -> str:
    return f"SELECT DISTINCT workspace, trace_id FROM spans WHERE {rows.condition()}"


def _find_touched(client: Client, rows: BatchRows, bounds: str) -> TouchedTraces:
    """Describe the traces that `bounds` selects from `trace_bounds`."""
    with_root = f"SELECT workspace, trace_id FROM spans WHERE {rows.condition()} AND is_root"
    sql = f"""
        SELECT count() AS traces, countIf((workspace, trace_id) IN ({with_root})) AS rooted,
            min(from_hour) AS first, max(to_hour) AS last, {_LONG_TRACES}
        FROM ({bounds})"""
    (found,) = query_rows(client, sql, rows.parameters)
    return TouchedTraces(
        found["traces"], found["rooted"], _to_long_traces(found), found["first"], found["last"]
    )


def recompute_traces(
    client: Client,
    traces: str,
    parameters: Mapping[str, Any],
    only: str = "1",
    *,
    may_have_moved: bool = True,
    long: LongTraces | None = None,
) -> None:
    """Recompute traces, given as SQL that selects their workspaces and ids.

    `only` restricts the spans that count. Unless `may_have_moved` is false, rows under another
    start time are found and deleted.
    """
    if long is None:
        long = find_long_traces(client, traces, parameters)
    spans = (
        f"SELECT {_SPAN_COLUMNS} FROM spans WHERE {trace_rows_condition(traces, long)} AND {only}"
    )
    # No row is older than its trace's first span: the version index skips most of the hour.
    stored = f"""
    SELECT workspace, trace_id, groupUniqArray(start) AS stored_starts FROM traces
    WHERE version >= (
        SELECT min(first_version) FROM trace_bounds WHERE (workspace, trace_id) IN ({traces}))
    AND {trace_rows_condition(traces, long, "toStartOfHour(start)")} AND NOT is_deleted
    GROUP BY workspace, trace_id"""
    sql = _aggregate_sql(_deduplicate(spans), stored if may_have_moved else "")
    client.command(sql, parameters=dict(parameters))


def find_long_traces(client: Client, traces: str, parameters: Mapping[str, Any]) -> LongTraces:
    sql = f"SELECT {_LONG_TRACES} FROM ({trace_bounds_sql(traces)})"
    (found,) = query_rows(client, sql, parameters)
    return _to_long_traces(found)


def _to_long_traces(found: Mapping[str, Any]) -> LongTraces:
    return LongTraces(found["long_traces"], found["first_hour"], found["last_hour"])


def trace_rows_condition(traces: str, long: LongTraces, hour: str = "hour") -> str:
    """SQL condition that finds all rows of traces by primary key.

    `hour` is the expression for the hour that the table is sorted by. For long traces, all rows of
    their workspace in that hour range are read.
    """
    bounds = trace_bounds_sql(traces)
    short = f"SELECT * FROM ({bounds}) WHERE NOT {_IS_LONG}"
    listed = hourly_keys_condition(short, hour, MAX_LISTED_HOURS + 1)
    if not long.traces:
        return listed
    first, last = (f"toDateTime('{at:%Y-%m-%d %H:%M:%S}', 'UTC')" for at in long[1:])
    return f"""({listed} OR {hour} BETWEEN {first} AND {last} AND (workspace, trace_id) IN (
        SELECT workspace, trace_id FROM ({bounds}) WHERE {_IS_LONG}))"""


def _deduplicate(spans: str) -> str:
    # FINAL would read whole granules of every column; this sorts only the selected narrow rows.
    return f"{spans} ORDER BY version DESC LIMIT 1 BY workspace, trace_id, span_id"
