"""Reads one side of a comparison: sums of traces or calls, parts of traces, and signals.

One statement reads everything, because the filter may be more work than all sums.
"""

from collections.abc import Sequence

import numpy as np

from spanwise.model.dashboards.changes import (
    CLUSTERS,
    Array,
    GroupKey,
    GroupSums,
    Latencies,
    PartSums,
    Powers,
    SideQuery,
    SideSums,
    Sums,
)
from spanwise.model.telemetry.filters import FilterCondition, TraceFilter
from spanwise.storage.telemetry.analytics.side_rows import KINDS, PARTS, call_rows, trace_rows
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.query import Columns

# Values of each kind that are read: the most frequent ones.
MAX_GROUPS = 1000
DIMENSIONS = ("errorType", "agent", "model", "tool")
_IS_ERROR = "status = 'error'"
# The engine drops zero bytes at the end of a text; the highest bit of a latency is never set.
_HIGHEST_BIT = 1 << 63


async def read_side(
    engine: Engine,
    workspace: str,
    query: SideQuery,
    filters: TraceFilter,
    calls: FilterCondition | None = None,
) -> SideSums:
    """Read the traces that match a filter, or those of their calls that have a value.

    The filter is that of the query with agents by name.
    """
    rows = (
        await call_rows(engine, workspace, filters, calls)
        if calls
        else await trace_rows(engine, workspace, filters)
    )
    powers = ", ".join(
        f"sum({' * '.join([sql] * power)}) AS {name}_{power}"
        for name, sql in (("latency", "ms"), ("calls", "row.4"), ("amount", "row.5"))
        for power in (1, 2, 3)
    )
    found = await engine.fetch_columns(
        f"""SELECT row.1 AS kind, row.2 AS value, row.3 AS cluster, count() AS outcomes,
            sum(is_first) AS traces, countIf({_IS_ERROR}) AS errors, sum(tokens) AS tokens,
            sum(row.6) AS unpriced, sum(is_sampled) AS sampled, {powers},
            groupConcatIf(reinterpretAsString(bitOr(duration_ns, {_HIGHEST_BIT})), kind = 0)
                AS latencies
        FROM (
            SELECT status, duration_ns, duration_ns / 1e6 AS ms, tokens, is_first, is_sampled,
                arrayJoin(rows) AS row
            FROM ({rows.sql}))
        GROUP BY kind, value, cluster
        ORDER BY outcomes DESC, value LIMIT {MAX_GROUPS} BY kind, cluster
        SETTINGS max_memory_usage = {engine.max_query_bytes}""",
        rows.where.parameters,
        tag="changes",
    )
    return _Reading(found).to_side(query)


class _Reading:
    """The rows that the engine returned."""

    def __init__(self, found: Columns) -> None:
        self._found = found
        numbers = np.asarray(found.get("kind", ()), np.int64)
        self._indexes: dict[str, Sequence[int]] = {
            kind: [int(index) for index in np.flatnonzero(numbers == number)]
            for number, kind in enumerate(KINDS)
        }
        self._clusters = np.asarray(found.get("cluster", ()), np.int64)

    def to_side(self, query: SideQuery) -> SideSums:
        clusters = self._indexes["cluster"]
        names = {
            "outcomes": "outcomes",
            "traces": "traces",
            "errors": "errors",
            "latency": "latency_1",
            "cost": "amount_1",
            "unpriced": "unpriced",
            "tokens": "tokens",
            "tool_calls": "calls_1",
        }
        failed = self._indexes["failedTool"]
        return SideSums(
            query,
            {name: self._spread(column, clusters) for name, column in names.items()},
            self._latencies(clusters),
            self._groups(),
            {self._value(index): int(self._found["calls_1"][index]) for index in failed},
            self._signals(),
            [self._value(index) for index in self._indexes["unpricedModel"]],
            self._parts(),
            sum(int(self._found["sampled"][index]) for index in clusters),
        )

    def _value(self, index: int) -> str:
        text: bytes = self._found["value"][index]
        return text.decode(errors="replace")

    def _powers(self, name: str, index: int) -> Powers:
        first, second, third = (self._found[f"{name}_{power}"][index] for power in (1, 2, 3))
        return first, second, third

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
                int(found["outcomes"][index]),
                int(found["errors"][index]),
                int(found["calls_1"][index]),
                self._powers("latency", index),
                self._powers("amount", index),
                int(found["unpriced"][index]),
            )
            for dimension in DIMENSIONS
            for index in self._indexes[dimension]
        }

    def _parts(self) -> dict[GroupKey, PartSums]:
        return {
            (part, self._value(index)): PartSums(
                self._powers("calls", index), self._powers("amount", index)
            )
            for part in PARTS
            for index in self._indexes[f"{part}Part"]
        }

    def _signals(self) -> dict[str, Sums]:
        by_name: dict[str, list[int]] = {}
        for index in self._indexes["signal"]:
            by_name.setdefault(self._value(index), []).append(index)
        return {
            name: {
                "signals": self._spread("calls_1", indexes),
                "values": self._spread("amount_1", indexes),
            }
            for name, indexes in by_name.items()
        }
