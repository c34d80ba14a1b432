"""Reads one side of a comparison: sums of traces, tool calls and signals by cluster.

Traces of a session, else of a user, are in the same cluster; other traces are in one by their id.
One statement reads everything, because the filter may be more work than all sums: a trace has a row
for its cluster, and one for each of its values of a dimension, failed tools and signals.
"""

from collections.abc import Sequence

import numpy as np

from spanwise.model.dashboards.changes import (
    CLUSTERS,
    Array,
    GroupKey,
    GroupSums,
    Latencies,
    SideQuery,
    SideSums,
    Sums,
)
from spanwise.model.telemetry.filters import TraceFilter
from spanwise.model.telemetry.signals import MAX_SIGNAL
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.conditions import Conditions
from spanwise.storage.telemetry.engine.query import Columns
from spanwise.storage.telemetry.filters.fields import spans_of_traces
from spanwise.storage.telemetry.filters.trace_filters import trace_conditions
from spanwise.storage.telemetry.spans.locations import binary_trace_id

# Values of each dimension that are read, and signals: the most frequent ones.
MAX_GROUPS = 1000
MAX_SIGNALS = 10
_CLUSTER = f"""toUInt16(multiIf(notEmpty(session_id), cityHash64(session_id),
    notEmpty(user_id), cityHash64(user_id), cityHash64(trace_id)) % {CLUSTERS})"""
_IS_ERROR = "status = 'error'"
# SQL for the rows of a trace: lists of value, cluster, number of calls or signals, and amount,
# which is the cost or the sum of the signals.
_NO_CLUSTER = "toUInt16(0)"
_ROWS = {
    "cluster": "[('', cluster, arraySum(tool_calls), cost)]",
    "errorType": f"if({_IS_ERROR}, [(toString(error_type), {_NO_CLUSTER}, 0, cost)], [])",
    "agent": f"if(notEmpty(agent_name), [(toString(agent_name), {_NO_CLUSTER}, 0, cost)], [])",
    "model": f"""arrayMap((model, model_cost) -> (toString(model), {_NO_CLUSTER}, 0, model_cost),
        models, model_costs)""",
    "tool": f"""arrayMap((tool, calls) -> (toString(tool), {_NO_CLUSTER}, calls, 0.),
        tools, tool_calls)""",
    "failed_tool": f"""arrayMap((tool, calls) -> (tool, {_NO_CLUSTER}, calls, 0.),
        failed_tools, failed_calls)""",
    "signal": """arrayMap((name, amount, total) -> (name, cluster, amount, total),
        signal_names, signal_counts, signal_sums)""",
}
_KINDS = tuple(_ROWS)
DIMENSIONS = ("errorType", "agent", "model", "tool")
# The engine drops zero bytes at the end of a text; the highest bit of a latency is never set.
_HIGHEST_BIT = 1 << 63


async def read_side(
    engine: Engine, workspace: str, query: SideQuery, wanted: TraceFilter
) -> SideSums:
    """Read the traces that match a filter, which is that of the query with agents by name."""
    where = trace_conditions(workspace, wanted)
    latency = "(duration_ns / 1e6)"
    rows = ", ".join(
        f"arrayMap(row -> (toUInt8({number}), row.1, row.2, toUInt64(row.3), toFloat64(row.4)),"
        f" {sql})"
        for number, sql in enumerate(_ROWS.values())
    )
    found = await engine.fetch_columns(
        f"""SELECT row.1 AS kind, row.2 AS value, row.3 AS cluster, count() AS traces,
            countIf({_IS_ERROR}) AS errors, sum(tokens) AS tokens, sum(row.4) AS calls,
            sum(row.5) AS amount_1, sum(row.5 * row.5) AS amount_2,
            sum(row.5 * row.5 * row.5) AS amount_3, sum({latency}) AS latency_1,
            sum({latency} * {latency}) AS latency_2,
            sum({latency} * {latency} * {latency}) AS latency_3,
            groupConcatIf(reinterpretAsString(bitOr(duration_ns, {_HIGHEST_BIT})), kind = 0)
                AS latencies
        FROM (
            SELECT status, duration_ns, input_tokens + output_tokens AS tokens,
                arrayJoin(arrayConcat({rows})) AS row
            FROM (
                SELECT trace_id, status, error_type, agent_name, duration_ns, cost, input_tokens,
                    output_tokens, models, model_costs, tools, tool_calls, {_CLUSTER} AS cluster
                FROM traces FINAL WHERE {where.sql}) AS t
            {_join_failed_calls(where, wanted)}
            {_join_signals(where)})
        GROUP BY kind, value, cluster
        ORDER BY traces DESC, value LIMIT {MAX_GROUPS} BY kind, cluster
        SETTINGS max_memory_usage = {engine.max_query_bytes}""",
        where.parameters,
        tag="changes",
    )
    return _Reading(found).to_side(query)


def _join_failed_calls(where: Conditions, wanted: TraceFilter) -> str:
    return f"""LEFT ANY JOIN (
        SELECT trace_id, groupArray(tool) AS failed_tools, groupArray(calls) AS failed_calls
        FROM (
            SELECT trace_id, toString(tool_name) AS tool, count() AS calls FROM spans FINAL
            WHERE {spans_of_traces(where, wanted.period)} AND status = 'error' AND tool_name != ''
            GROUP BY trace_id, tool)
        GROUP BY trace_id) AS f USING (trace_id)"""


def _join_signals(where: Conditions) -> str:
    """Join number and sum of the values of the most frequent signals of the workspace."""
    bound = where.bind(MAX_SIGNAL, "Float64")
    signals = f"""workspace = {{workspace:String}} AND notEmpty(signals.trace_id)
        AND abs(signals.value) <= {bound}"""
    return f"""LEFT ANY JOIN (
        SELECT trace_id, groupArray(signal) AS signal_names, groupArray(amount) AS signal_counts,
            groupArray(total) AS signal_sums
        FROM (
            SELECT {binary_trace_id("signals.trace_id")} AS trace_id, toString(name) AS signal,
                count() AS amount, sum(signals.value) AS total
            FROM signals FINAL WHERE {signals} AND name IN (
                SELECT name FROM signals WHERE {signals}
                GROUP BY name ORDER BY count() DESC, name LIMIT {MAX_SIGNALS})
            GROUP BY trace_id, signal)
        GROUP BY trace_id) AS s USING (trace_id)"""


class _Reading:
    """The rows that the engine returned."""

    def __init__(self, found: Columns) -> None:
        self._found = found
        self._kinds = np.asarray(found.get("kind", ()), np.int64)
        self._clusters = np.asarray(found.get("cluster", ()), np.int64)

    def to_side(self, query: SideQuery) -> SideSums:
        clusters = self._indexes_of("cluster")
        names = {
            "traces": "traces",
            "errors": "errors",
            "latency": "latency_1",
            "cost": "amount_1",
            "tokens": "tokens",
            "tool_calls": "calls",
        }
        failed = self._indexes_of("failed_tool")
        return SideSums(
            query,
            {name: self._spread(column, clusters) for name, column in names.items()},
            self._latencies(clusters),
            self._groups(),
            {self._value(index): int(self._found["calls"][index]) for index in failed},
            self._signals(),
        )

    def _indexes_of(self, kind: str) -> Sequence[int]:
        return [int(index) for index in np.flatnonzero(self._kinds == _KINDS.index(kind))]

    def _value(self, index: int) -> str:
        text: bytes = self._found["value"][index]
        return text.decode(errors="replace")

    def _spread(self, column: str, indexes: Sequence[int]) -> Array:
        """Return a column by cluster; clusters without rows have zeros."""
        sums = np.zeros(CLUSTERS)
        for index in indexes:
            sums[self._clusters[index]] = self._found[column][index]
        return sums

    def _latencies(self, indexes: Sequence[int]) -> Latencies:
        texts = [self._found["latencies"][index] for index in indexes]
        values = np.frombuffer(b"".join(texts), np.uint64) ^ np.uint64(_HIGHEST_BIT)
        sizes = [len(text) // 8 for text in texts]
        return Latencies(values / 1e6, np.repeat(self._clusters[indexes], sizes))

    def _groups(self) -> dict[GroupKey, GroupSums]:
        found = self._found
        return {
            (dimension, self._value(index)): GroupSums(
                int(found["traces"][index]),
                int(found["errors"][index]),
                int(found["calls"][index]),
                (found["latency_1"][index], found["latency_2"][index], found["latency_3"][index]),
                (found["amount_1"][index], found["amount_2"][index], found["amount_3"][index]),
            )
            for dimension in DIMENSIONS
            for index in self._indexes_of(dimension)
        }

    def _signals(self) -> dict[str, Sums]:
        by_name: dict[str, list[int]] = {}
        for index in self._indexes_of("signal"):
            by_name.setdefault(self._value(index), []).append(index)
        return {
            name: {
                "signals": self._spread("calls", indexes),
                "values": self._spread("amount_1", indexes),
            }
            for name, indexes in by_name.items()
        }
