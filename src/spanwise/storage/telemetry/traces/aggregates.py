"""Computes what traces add up to, anew from their spans each time one of them comes in."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from clickhouse_connect.driver.client import Client

from spanwise.model.telemetry.conventions import USAGE_KINDS
from spanwise.storage.telemetry.engine.engine import query_rows

# Versions are this far apart: the numbers in between are for corrections of a row.
VERSION_STEP = 1024

# The kind of a span that adds nothing to its trace, since another one tells of the same call.
SUPERSEDED = "superseded"
_IS_SUPERSEDED = f"s.kind = '{SUPERSEDED}'"

# A trace that lasts longer than a week is looked for, not each hour of it.
MAX_LISTED_HOURS = 7 * 24
_IS_LONG = f"dateDiff('hour', from_hour, to_hour) > {MAX_LISTED_HOURS}"
_LONG_TRACES = f"""countIf({_IS_LONG}) AS long_traces, minIf(from_hour, {_IS_LONG}) AS first_hour,
    maxIf(to_hour, {_IS_LONG}) AS last_hour"""

# Columns of a span that a summary needs: narrow ones, never the contents.
_NARROW = (
    "workspace, hour, trace_id, span_id, version, is_root, name, kind, start, duration_ns, status, "
    "error_type, service_name, agent_name, workflow_name, provider, model, input_tokens, "
    "output_tokens, cost, is_priced, tool_name, session_id, user_id, environment, experiment_id, "
    "variant, trace_name, input_preview, output_preview"
)

_COUNTS = f"kind IN {USAGE_KINDS}"

_TRACE_COLUMNS = (
    "workspace, start, trace_id, version, is_deleted, name, agent_name, status, error_type, "
    "duration_ns, span_count, error_count, input_tokens, output_tokens, cost, session_id, user_id, "
    "environment, experiment_id, variant, models, model_calls, model_input_tokens, "
    "model_output_tokens, model_costs, unpriced_models, providers, tools, tool_calls, kinds, "
    "input_preview, output_preview"
)


def _summarize(spans: str, stored: str = "") -> str:
    """SQL that adds up spans, given as a subquery with each span once, into rows of traces.

    The earliest root span represents the trace. Rows under another start are deleted by the same
    statement: that of a later root or, where `stored` gives the starts of the rows there are, one
    that a root had before it was sent again.
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
        sumIf(s.input_tokens, {_COUNTS}) AS total_input,
        sumIf(s.output_tokens, {_COUNTS}) AS total_output,
        sumIf(s.cost, {_COUNTS}) AS total_cost,
        sumMapIf([s.model], [toUInt64(1)], [toUInt64(s.input_tokens)], [toUInt64(s.output_tokens)],
            [s.cost], {_COUNTS} AND s.model != '') AS by_model,
        groupUniqArrayIf(s.model, {_COUNTS} AND NOT s.is_priced AND s.model != '') AS unpriced,
        groupUniqArrayIf(s.provider, s.provider != '') AS all_providers,
        sumMapIf([s.tool_name], [toUInt64(1)], s.tool_name != '') AS by_tool,
        groupUniqArrayIf(s.kind, NOT {_IS_SUPERSEDED}) AS all_kinds
    FROM ({spans}) AS s
    GROUP BY workspace, trace_id
) AS of_spans
{join}
ARRAY JOIN {starts} AS root_start"""


class LongTraces(NamedTuple):
    """Between which hours those traces lie that last too long for each of their hours to be listed.

    Clocks may be years off; the hours of some thousand such traces would not fit into memory.
    """

    traces: int
    first_hour: datetime
    last_hour: datetime


# The traces of a batch, and among them those that had spans before it. The bounds may hold spans
# of the next batch already.
_TOUCHED = """
    SELECT workspace, trace_id FROM trace_bounds
    WHERE last_version >= {first:UInt64} AND first_version <= {last:UInt64}"""
_SEEN_BOUNDS = f"""
    SELECT workspace, trace_id, min(first_hour) AS from_hour, max(last_hour) AS to_hour
    FROM trace_bounds
    WHERE (workspace, trace_id) IN ({_TOUCHED})
    GROUP BY workspace, trace_id
    HAVING min(first_version) < {{first:UInt64}}"""
_SEEN_BEFORE = f"SELECT workspace, trace_id FROM ({_SEEN_BOUNDS})"
# Traces that may have got another start: only these can have left a row under their old one.
_WITH_ROOT = """
    SELECT workspace, trace_id FROM spans
    WHERE version BETWEEN {first:UInt64} AND {last:UInt64} AND is_root"""


def summarize_batch(client: Client, first_version: int, last_version: int) -> None:
    """Bring the summaries of the traces up to date whose spans came with these versions."""
    versions = {"first": first_version, "last": last_version}
    count = f"""
        SELECT count() AS traces, countIf((workspace, trace_id) IN ({_WITH_ROOT})) AS rooted,
            {_LONG_TRACES}
        FROM ({_SEEN_BOUNDS})"""
    (seen,) = query_rows(client, count, versions)
    has_seen = seen["traces"] > 0
    # A trace that is new is whole in the batch: only the part just written is read for it.
    new = f"SELECT {_NARROW} FROM spans WHERE version BETWEEN {{first:UInt64}} AND {{last:UInt64}}"
    if has_seen:
        new += f" AND (workspace, trace_id) NOT IN ({_SEEN_BEFORE})"
    client.command(_summarize(_each_span_once(new)), parameters=versions)
    if has_seen:
        # Without those of the next batch: perhaps they are not all there yet.
        only = "version <= {last:UInt64}"
        summarize_traces(
            client,
            _SEEN_BEFORE,
            versions,
            only,
            may_have_moved=seen["rooted"] > 0,
            long=_to_long_traces(seen),
        )


def summarize_shared_batch(client: Client, first_version: int, last_version: int) -> None:
    """The same where a trace may have spans, or a row, that came with no earlier batch.

    Other writers may have written them, or an earlier process, whose records are replayed.
    """
    traces = """SELECT DISTINCT workspace, trace_id FROM spans
        WHERE version BETWEEN {first:UInt64} AND {last:UInt64}"""
    summarize_traces(client, traces, {"first": first_version, "last": last_version})


def summarize_traces(
    client: Client,
    traces: str,
    parameters: Mapping[str, Any],
    only: str = "1",
    *,
    may_have_moved: bool = True,
    long: LongTraces | None = None,
) -> None:
    """Recompute the summaries of traces, given as SQL for their workspaces and ids.

    Unless their roots have their old starts for certain, rows under other starts are looked for.
    """
    if long is None:
        long = find_long_traces(client, traces, parameters)
    spans = f"SELECT {_NARROW} FROM spans WHERE {in_places(traces, long)} AND {only}"
    # No row is older than its trace's first span: the index on versions skips most of the hour.
    stored = f"""
    SELECT workspace, trace_id, groupUniqArray(start) AS stored_starts FROM traces
    WHERE version >= (
        SELECT min(first_version) FROM trace_bounds WHERE (workspace, trace_id) IN ({traces}))
    AND {in_places(traces, long, "toStartOfHour(start)")} AND NOT is_deleted
    GROUP BY workspace, trace_id"""
    sql = _summarize(_each_span_once(spans), stored if may_have_moved else "")
    client.command(sql, parameters=dict(parameters))


def find_long_traces(client: Client, traces: str, parameters: Mapping[str, Any]) -> LongTraces:
    sql = f"SELECT {_LONG_TRACES} FROM ({_bounds_of(traces)})"
    (found,) = query_rows(client, sql, parameters)
    return _to_long_traces(found)


def _to_long_traces(found: Mapping[str, Any]) -> LongTraces:
    return LongTraces(found["long_traces"], found["first_hour"], found["last_hour"])


def in_places(traces: str, long: LongTraces, hour: str = "hour") -> str:
    """SQL condition that finds the rows of traces by key, wherever they lie.

    `hour` is the expression for the hour that a table is sorted by. For long traces the rows of
    their workspace between those hours are read.
    """
    bounds = _bounds_of(traces)
    listed = f"""(workspace, {hour}, trace_id) IN (
        SELECT workspace, arrayJoin(arrayMap(n -> from_hour + 3600 * n,
            range(toUInt32(dateDiff('hour', from_hour, to_hour) + 1)))) AS hour, trace_id
        FROM ({bounds}) WHERE NOT {_IS_LONG})"""
    if not long.traces:
        return listed
    first, last = (f"toDateTime('{at:%Y-%m-%d %H:%M:%S}', 'UTC')" for at in long[1:])
    return f"""({listed} OR {hour} BETWEEN {first} AND {last} AND (workspace, trace_id) IN (
        SELECT workspace, trace_id FROM ({bounds}) WHERE {_IS_LONG}))"""


def _bounds_of(traces: str) -> str:
    return f"""
        SELECT workspace, trace_id, min(first_hour) AS from_hour, max(last_hour) AS to_hour
        FROM trace_bounds WHERE (workspace, trace_id) IN ({traces})
        GROUP BY workspace, trace_id"""


def _each_span_once(spans: str) -> str:
    # FINAL would read whole granules of every column; this sorts the few narrow rows there are.
    return f"{spans} ORDER BY version DESC LIMIT 1 BY workspace, trace_id, span_id"
