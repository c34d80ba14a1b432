"""Recomputes trace aggregates from their spans whenever a span arrives.

The engine sums the spans of each trace; which of its calls count is decided here, and the rows are
written by `trace_rows.py`. One statement writes the new row of a trace and deletes the rows that it
had under another start time.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from clickhouse_connect.driver.client import Client

from spanwise.model.telemetry.conventions import CALL_ID, CALL_IS_DERIVED
from spanwise.storage.telemetry.engine.query import Rows, query_rows
from spanwise.storage.telemetry.rows.batch_rows import HOUR_SECONDS, BatchRows
from spanwise.storage.telemetry.rows.call_deduplication import HAS_USAGE
from spanwise.storage.telemetry.rows.locations import (
    MAX_LISTED_HOURS,
    LongTraces,
    trace_rows_condition,
)
from spanwise.storage.telemetry.rows.shown_spans import IS_SHOWN
from spanwise.storage.telemetry.write.trace_rows import WrittenTraces, write_traces

# Distance between versions; the numbers in between are for corrections of a stored row.
VERSION_STEP = 1024

_IS_SHOWN = f"s.{IS_SHOWN}"

# Traces per statement that names them: their ids are parameters, whose size a server limits.
_MAX_TRACES = 2000

# The span columns that aggregates need: narrow ones, never inputs and outputs.
_SPAN_COLUMNS = (
    "workspace, hour, trace_id, span_id, parent_span_id, version, is_root, name, kind, start, "
    "duration_ns, status, error_type, service_name, agent_name, workflow_name, provider, model, "
    "response_id, input_tokens, output_tokens, cached_tokens, cache_write_tokens, "
    "reasoning_tokens, cost, is_priced, unpriced_tokens, tool_cost, tool_name, session_id, "
    "user_id, environment, experiment_id, variant, trace_name, input_preview, output_preview"
)
_REPORT_COLUMNS = f""", attributes['{CALL_ID}'] AS reported,
    mapContains(attributes, '{CALL_IS_DERIVED}') AS is_derived"""

_HAS_USAGE = f"s.{HAS_USAGE}"
# The members of `CallUsage`.
_CALLS = f"""groupArrayIf(((s.span_id, s.parent_span_id, s.kind = 'llm', s.response_id,
            toInt64(s.input_tokens) + s.output_tokens,
            toInt64(s.cached_tokens) + s.cache_write_tokens + s.reasoning_tokens,
            toUnixTimestamp64Nano(s.start)), toString(s.model), s.input_tokens, s.output_tokens,
            s.cost, s.is_priced, s.unpriced_tokens), {_HAS_USAGE})"""
# What `derived_calls.py` compares; of no span, unless a batch has calls of coding agents.
_REPORTS = """groupArrayIf((toUInt32(s.hour), s.span_id, s.reported, s.is_derived,
            toString(s.kind)), s.reported != '')"""
_NO_REPORTS = "[]"

# Decides on corrections of spans, writes them, and returns whether it wrote any.
Correct = Callable[[Rows], bool]


class _Bounds(NamedTuple):
    """The hours, counted in seconds since 1970, between which a trace has spans."""

    workspace: str
    trace_id: bytes
    first_hour: int
    last_hour: int
    first_version: int

    @property
    def is_long(self) -> bool:
        return self.last_hour - self.first_hour > MAX_LISTED_HOURS * HOUR_SECONDS


def _bounds_sql(traces: str) -> str:
    return f"""
    SELECT workspace, trace_id, toUInt32(min(first_hour)) AS from_hour,
        toUInt32(max(last_hour)) AS to_hour, min(first_version) AS from_version
    FROM trace_bounds WHERE (workspace, trace_id) IN ({traces})
    GROUP BY workspace, trace_id"""


def _aggregates_sql(spans: str, reports: str = _NO_REPORTS) -> str:
    """SQL that groups spans by trace; the latest version of each counts.

    The earliest root represents its trace. FINAL would read whole granules of every column; this
    sorts only the selected narrow rows.
    """
    return f"""
    SELECT
        workspace, trace_id, max(s.version) AS last_version,
        argMinIf((toUnixTimestamp64Nano(s.start), s.name, s.agent_name, s.service_name, s.status,
            s.error_type, s.duration_ns, s.session_id, s.user_id, s.environment, s.experiment_id,
            s.variant, s.input_preview, s.output_preview),
            (NOT {_IS_SHOWN}, s.start), s.is_root) AS first,
        groupUniqArrayIf(toUnixTimestamp64Nano(s.start), s.is_root) AS root_starts,
        countIf(s.is_root AND {_IS_SHOWN}) > 1
            AND countIf(s.is_root AND s.parent_span_id = '') != 1 AS has_no_single_root,
        max(toUnixTimestamp64Nano(s.start) + s.duration_ns) AS last_end,
        countIf({_HAS_USAGE} AND s.status != 'error') AS good_calls,
        argMinIf(s.error_type, s.start, {_HAS_USAGE} AND s.status = 'error') AS failure,
        anyIf(s.trace_name, s.trace_name != '') AS given_name,
        argMinIf(s.agent_name, s.start, s.agent_name != '') AS agent,
        anyIf(s.workflow_name, s.workflow_name != '') AS workflow,
        argMinIf(s.session_id, s.start, s.session_id != '') AS any_session,
        argMinIf(s.user_id, s.start, s.user_id != '') AS any_user,
        argMinIf((s.experiment_id, s.variant), s.start, s.experiment_id != '') AS any_experiment,
        countIf({_IS_SHOWN}) AS span_count,
        countIf(s.status = 'error') AS error_count,
        {_CALLS} AS calls,
        groupUniqArrayIf((s.provider, s.model),
            NOT s.is_priced AND s.model != '' AND s.version >= {{correct_from:UInt64}}) AS unpriced,
        groupUniqArrayIf(s.provider, s.provider != '') AS providers,
        sumMapIf([s.tool_name], [toUInt64(1)], [s.tool_cost], s.tool_name != '') AS by_tool,
        groupUniqArrayIf(s.kind, {_IS_SHOWN}) AS kinds,
        {reports} AS reports
    FROM ({spans} ORDER BY version DESC LIMIT 1 BY workspace, trace_id, span_id) AS s
    GROUP BY workspace, trace_id"""


class TraceAggregation:
    """Recomputes traces, and writes their rows.

    `only` restricts the spans that are read. `correct` may correct spans of the traces that were
    read, from the version `correct_from` on; then they are read again.
    """

    def __init__(
        self,
        client: Client,
        only: str = "1",
        parameters: Mapping[str, Any] | None = None,
        correct: Correct = lambda aggregates: False,
        *,
        correct_from: int = 0,
        has_calls: bool = False,
    ) -> None:
        self._client = client
        self._only = only
        self._parameters = {**(parameters or {}), "correct_from": correct_from}
        self._correct = correct
        self._columns = _SPAN_COLUMNS + (_REPORT_COLUMNS if has_calls else "")
        self._reports = _REPORTS if has_calls else _NO_REPORTS
        self.written = WrittenTraces()

    def run(self, traces: str) -> None:
        """Recompute traces, given as SQL that selects their workspaces and ids."""
        for chunk in _chunks(_to_bounds(self._query(_bounds_sql(traces), {}))):
            self._write(partial(self._read, chunk, may_have_moved=True))

    def run_batch(self, rows: BatchRows) -> None:
        """Recompute the traces of a batch, when there is one writer on the store.

        Versions show which traces have earlier spans: a trace without them is complete in the
        batch.
        """
        self._write(partial(self._read_batch, rows))

    def _write(self, read: Callable[[], Rows]) -> None:
        aggregates = read()
        if self._correct(aggregates):
            aggregates = read()
        write_traces(self._client, aggregates, self.written)

    def _read_batch(self, rows: BatchRows) -> Rows:
        spans = f"SELECT {self._columns} FROM spans WHERE {rows.condition()}"
        found = self._query(
            f"""SELECT * FROM ({_aggregates_sql(spans, self._reports)}) AS aggregates
            LEFT JOIN ({_bounds_sql(rows.traces)}) AS bounds USING (workspace, trace_id)""",
            {},
        )
        complete = [row for row in found if row["from_version"] >= rows.first_version]
        earlier = [row for row in found if row["from_version"] < rows.first_version]
        # Roots in the batch may have another start than those that came before.
        may_have_moved = any(row["root_starts"] for row in earlier)
        for chunk in _chunks(_to_bounds(earlier)):
            complete += self._read(chunk, may_have_moved=may_have_moved)
        return complete

    def _read(self, traces: Sequence[_Bounds], *, may_have_moved: bool) -> Rows:
        """Read all spans of traces; unless `may_have_moved` is false, also their stored starts."""
        long = [trace for trace in traces if trace.is_long]
        long_traces = LongTraces(
            len(long),
            min((trace.first_hour for trace in long), default=0),
            max((trace.last_hour for trace in long), default=0),
        )
        spans = f"""SELECT {self._columns} FROM spans
            WHERE {trace_rows_condition(_NAMED_TRACES, long_traces)} AND {self._only}"""
        sql = _aggregates_sql(spans, self._reports)
        if may_have_moved:
            # No row is older than its trace's first span: the version index skips most of the hour.
            in_hours = trace_rows_condition(_NAMED_TRACES, long_traces, "toStartOfHour(start)")
            sql = f"""SELECT * FROM ({sql}) AS aggregates
            LEFT JOIN (
                SELECT workspace, trace_id,
                    groupUniqArray(toUnixTimestamp64Nano(start)) AS stored_starts
                FROM traces
                WHERE version >= {{oldest:UInt64}} AND {in_hours} AND NOT is_deleted
                GROUP BY workspace, trace_id) AS stored USING (workspace, trace_id)"""
        return self._query(
            sql,
            {
                "workspaces_of": [trace.workspace for trace in traces],
                "ids": [trace.trace_id.hex() for trace in traces],
                "first_hours": [trace.first_hour for trace in traces],
                "last_hours": [trace.last_hour for trace in traces],
                "oldest": min(trace.first_version for trace in traces),
            },
        )

    def _query(self, sql: str, parameters: Mapping[str, Any]) -> Rows:
        return query_rows(self._client, sql, {**self._parameters, **parameters}, raw=True)


# The traces that `_read` names, as `trace_rows_condition` takes them.
_NAMED_TRACES = """SELECT toLowCardinality(t.1) AS workspace,
        toFixedString(unhex(t.2), 16) AS trace_id, toDateTime(t.3, 'UTC') AS from_hour,
        toDateTime(t.4, 'UTC') AS to_hour
    FROM (SELECT arrayJoin(arrayZip({workspaces_of:Array(String)}, {ids:Array(String)},
        {first_hours:Array(UInt32)}, {last_hours:Array(UInt32)})) AS t)"""


def recompute_traces(client: Client, traces: str, parameters: Mapping[str, Any]) -> None:
    """Recompute traces, given as SQL that selects their workspaces and ids."""
    TraceAggregation(client, parameters=parameters).run(traces)


def _to_bounds(rows: Rows) -> list[_Bounds]:
    return [
        _Bounds(
            row["workspace"].decode(),
            *(row[name] for name in ("trace_id", "from_hour", "to_hour", "from_version")),
        )
        for row in rows
    ]


def _chunks(traces: Sequence[_Bounds]) -> Iterator[Sequence[_Bounds]]:
    for first in range(0, len(traces), _MAX_TRACES):
        yield traces[first : first + _MAX_TRACES]
