"""Recomputes trace aggregates from their spans whenever a span arrives.

One statement writes the new row and deletes rows that the trace had under another start time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from clickhouse_connect.driver.client import Client

from spanwise.storage.telemetry.engine.query import query_rows
from spanwise.storage.telemetry.spans.batch_rows import HOUR_SECONDS, BatchRows
from spanwise.storage.telemetry.spans.decoding import in_utc
from spanwise.storage.telemetry.spans.locations import hourly_keys_condition, trace_bounds_sql
from spanwise.storage.telemetry.traces.call_deduplication import (
    CALLS,
    HAS_USAGE,
    MAY_REPEAT,
    PLAIN_USAGE,
    counted_usage,
)

# Distance between versions; the numbers in between are for corrections of a stored row.
VERSION_STEP = 1024

# Kind of a span that is not counted in its trace, because another span reports the same call.
SUPERSEDED = "superseded"
_IS_SUPERSEDED = f"s.kind = '{SUPERSEDED}'"

# How OpenTelemetry names a service that has no name; the root's name says more.
UNNAMED_SERVICE = "unknown_service"

# The hours of a trace are listed up to one week; longer traces are searched by range.
MAX_LISTED_HOURS = 7 * 24
_IS_LONG = f"dateDiff('hour', from_hour, to_hour) > {MAX_LISTED_HOURS}"
_LONG_TRACES = f"""countIf({_IS_LONG}) AS long_traces, minIf(from_hour, {_IS_LONG}) AS first_hour,
    maxIf(to_hour, {_IS_LONG}) AS last_hour"""

# The span columns that aggregates need: narrow ones, never inputs and outputs.
_SPAN_COLUMNS = (
    "workspace, hour, trace_id, span_id, parent_span_id, version, is_root, name, kind, start, "
    "duration_ns, status, error_type, service_name, agent_name, workflow_name, provider, model, "
    "response_id, input_tokens, output_tokens, cached_tokens, cache_write_tokens, "
    "reasoning_tokens, cost, is_priced, unpriced_tokens, tool_cost, tool_name, session_id, "
    "user_id, environment, experiment_id, variant, trace_name, input_preview, output_preview"
)

_TRACE_COLUMNS = (
    "workspace, start, trace_id, version, is_deleted, name, agent_name, status, error_type, "
    "duration_ns, span_count, error_count, input_tokens, output_tokens, cost, session_id, user_id, "
    "environment, experiment_id, variant, models, model_calls, model_input_tokens, "
    "model_output_tokens, model_costs, unpriced_models, unpriced, providers, tools, tool_calls, "
    "tool_costs, kinds, input_preview, output_preview, uncounted"
)


def _aggregate_sql(spans: str, stored: str = "", *, may_repeat: bool) -> str:
    """SQL that aggregates spans, given as a deduplicated subquery, into rows of traces.

    The earliest root span represents the trace. A trace with several roots, such as the calls of a
    coding agent, lasts from the first start to the last end. A root without a status failed if all
    of its calls did. The same statement deletes rows under other start times: those of later roots
    and, when `stored` selects the existing rows, those of a root that was resent with another
    start. `may_repeat` says that several spans may report the same call.
    """
    grouped = (
        counted_usage(_grouped_sql(spans, f"{CALLS} AS calls"))
        if may_repeat
        else _grouped_sql(spans, PLAIN_USAGE)
    )
    join = f"LEFT JOIN ({stored}) AS t USING (workspace, trace_id)" if stored else ""
    starts = "arrayDistinct(arrayConcat(root_starts, stored_starts))" if stored else "root_starts"
    return f"""
INSERT INTO traces ({_TRACE_COLUMNS})
SELECT
    workspace, root_start AS start, trace_id, last_version AS version,
    root_start != first.1 AS is_deleted,
    if(notEmpty(given_name), given_name, first.2) AS name,
    multiIf(notEmpty(first.3), first.3, notEmpty(agent), agent, notEmpty(workflow), workflow,
        startsWith(first.4, '{UNNAMED_SERVICE}'), first.2, first.4) AS agent_name,
    if(first.5 = 'error' OR only_failed, 'error', 'success') AS status,
    if(only_failed, failure, first.6) AS error_type,
    if(has_no_single_root, last_end - toUnixTimestamp64Nano(first.1), first.7) AS duration_ns,
    span_count, error_count,
    total_input AS input_tokens, total_output AS output_tokens,
    total_cost + arraySum(by_tool.3) AS cost,
    if(notEmpty(first.8), first.8, any_session) AS session_id,
    if(notEmpty(first.9), first.9, any_user) AS user_id,
    first.10 AS environment,
    if(notEmpty(first.11), first.11, any_experiment.1) AS experiment_id,
    if(notEmpty(first.11), first.12, any_experiment.2) AS variant,
    by_model.1 AS models, by_model.2 AS model_calls,
    by_model.3 AS model_input_tokens, by_model.4 AS model_output_tokens,
    by_model.5 AS model_costs, models_unpriced AS unpriced_models,
    arrayPushFront(by_model.6, total_unpriced) AS unpriced,
    all_providers AS providers, by_tool.1 AS tools, by_tool.2 AS tool_calls,
    by_tool.3 AS tool_costs, all_kinds AS kinds,
    first.13 AS input_preview, first.14 AS output_preview, uncounted
FROM {grouped} AS aggregates
{join}
ARRAY JOIN {starts} AS root_start"""


def _grouped_sql(spans: str, usage: str) -> str:
    """SQL that groups spans by trace; `usage` are columns for what its calls used."""
    return f"""(
    SELECT
        workspace, trace_id, max(s.version) AS last_version,
        argMinIf((s.start, s.name, s.agent_name, s.service_name, s.status, s.error_type,
            s.duration_ns, s.session_id, s.user_id, s.environment, s.experiment_id, s.variant,
            s.input_preview, s.output_preview), ({_IS_SUPERSEDED}, s.start), s.is_root) AS first,
        groupUniqArrayIf(s.start, s.is_root) AS root_starts,
        countIf(s.is_root AND NOT {_IS_SUPERSEDED}) > 1
            AND countIf(s.is_root AND s.parent_span_id = '') != 1 AS has_no_single_root,
        max(toUnixTimestamp64Nano(s.start) + s.duration_ns) AS last_end,
        first.5 = 'unset' AND countIf({HAS_USAGE}) > 0
            AND countIf({HAS_USAGE} AND s.status != 'error') = 0 AS only_failed,
        argMinIf(s.error_type, s.start, {HAS_USAGE} AND s.status = 'error') AS failure,
        anyIf(s.trace_name, s.trace_name != '') AS given_name,
        argMinIf(s.agent_name, s.start, s.agent_name != '') AS agent,
        anyIf(s.workflow_name, s.workflow_name != '') AS workflow,
        argMinIf(s.session_id, s.start, s.session_id != '') AS any_session,
        argMinIf(s.user_id, s.start, s.user_id != '') AS any_user,
        argMinIf((s.experiment_id, s.variant), s.start, s.experiment_id != '') AS any_experiment,
        countIf(NOT {_IS_SUPERSEDED}) AS span_count,
        countIf(s.status = 'error') AS error_count,
        {usage},
        groupUniqArrayIf(s.provider, s.provider != '') AS all_providers,
        sumMapIf([s.tool_name], [toUInt64(1)], [s.tool_cost], s.tool_name != '') AS by_tool,
        groupUniqArrayIf(s.kind, NOT {_IS_SUPERSEDED}) AS all_kinds
    FROM ({spans}) AS s
    GROUP BY workspace, trace_id)"""


class LongTraces(NamedTuple):
    """The hour range of traces that last too long to list each of their hours.

    Client clocks may be years off; the hours of a few thousand such traces would not fit in memory.
    """

    traces: int
    first_hour: datetime
    last_hour: datetime


@dataclass(frozen=True)
class BatchSummary:
    """What the writer must know about a batch before it aggregates the traces."""

    # Workspace, provider and model of spans without a price.
    unpriced: Sequence[tuple[str, str, str]]
    has_roots: bool
    # Several spans of the batch may report the same call.
    may_repeat: bool
    # Traces whose other spans must be read too, and the hours between which they have spans.
    traces: int
    long: LongTraces
    first_hour: datetime
    last_hour: datetime

    @property
    def hours(self) -> range:
        """The hours, counted from 1970, in which those traces have rows."""
        if not self.traces:
            return range(0)
        first, last = (
            int(in_utc(hour).timestamp()) // HOUR_SECONDS
            for hour in (self.first_hour, self.last_hour)
        )
        return range(first, last + 1)


class BatchAggregation:
    """Updates the traces of a batch.

    With one writer on the store, versions show which traces have earlier spans; a trace without
    them is complete in the batch, so only the batch is read for it. Otherwise (`is_shared`: other
    writers, or records of an earlier process) all spans of all traces are read.
    """

    def __init__(self, client: Client, rows: BatchRows, *, is_shared: bool) -> None:
        self._client = client
        self._rows = rows
        self._is_shared = is_shared
        # SQL for the traces whose other spans are read too, and for their bounds.
        self._traces = f"SELECT DISTINCT workspace, trace_id FROM spans WHERE {rows.condition()}"
        self._bounds = trace_bounds_sql(self._traces)
        if not is_shared:
            self._bounds += " HAVING min(first_version) < {first:UInt64}"
            self._traces = f"SELECT workspace, trace_id FROM ({self._bounds})"

    def summarize(self) -> BatchSummary:
        batch = f"""
            SELECT (groupUniqArrayIf((workspace, provider, model), NOT is_priced AND model != ''),
                max(is_root), {MAY_REPEAT})
            FROM spans WHERE {self._rows.condition()}"""
        sql = f"""
            SELECT ({batch}) AS batch, count() AS traces,
                min(from_hour) AS first, max(to_hour) AS last, {_LONG_TRACES}
            FROM ({self._bounds})"""
        (found,) = query_rows(self._client, sql, self._rows.parameters)
        unpriced, has_roots, may_repeat = found["batch"]
        return BatchSummary(
            unpriced,
            bool(has_roots),
            bool(may_repeat),
            found["traces"],
            _to_long_traces(found),
            found["first"],
            found["last"],
        )

    def run(self, summary: BatchSummary) -> None:
        if not self._is_shared:
            new = f"SELECT {_SPAN_COLUMNS} FROM spans WHERE {self._rows.condition()}"
            if summary.traces:
                new += f" AND (workspace, trace_id) NOT IN ({self._traces})"
            sql = _aggregate_sql(_deduplicate(new), may_repeat=summary.may_repeat)
            self._client.command(sql, parameters=self._rows.parameters)
        if summary.traces:
            # Exclude the next batch, which may be only partly inserted.
            only = "1" if self._is_shared else "version <= {last:UInt64}"
            recompute_traces(
                self._client,
                self._traces,
                self._rows.parameters,
                only,
                may_have_moved=self._is_shared or summary.has_roots,
                may_repeat=summary.may_repeat or self._may_repeat(only, summary.long),
                long=summary.long,
            )

    def _may_repeat(self, only: str, long: LongTraces) -> bool:
        """Return whether several spans of the traces that are recomputed may report one call."""
        spans = f"{trace_rows_condition(self._traces, long)} AND {only}"
        sql = f"SELECT {MAY_REPEAT} AS may_repeat FROM spans WHERE {spans}"
        (found,) = query_rows(self._client, sql, self._rows.parameters)
        return bool(found["may_repeat"])


def recompute_traces(
    client: Client,
    traces: str,
    parameters: Mapping[str, Any],
    only: str = "1",
    *,
    may_have_moved: bool = True,
    may_repeat: bool = True,
    long: LongTraces | None = None,
) -> None:
    """Recompute traces, given as SQL that selects their workspaces and ids.

    `only` restricts the spans that count. Unless `may_have_moved` is false, rows under another
    start time are found and deleted. Unless `may_repeat` is false, spans that report the same call
    are searched.
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
    sql = _aggregate_sql(
        _deduplicate(spans), stored if may_have_moved else "", may_repeat=may_repeat
    )
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
