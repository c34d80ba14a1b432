"""Reads one side of a comparison: sums of traces, tool calls and signals by cluster.

Traces of a session, else of a user, are in the same cluster; other traces are in one by their id.
Only sums leave the engine.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spanwise.model.dashboards.changes import CLUSTERS, Array, GroupKey, GroupSums, Sums
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
    notEmpty(user_id), cityHash64(user_id), cityHash64(trace_id)) % {CLUSTERS}) AS cluster"""
_IS_ERROR = "status = 'error'"
_SUMS = {
    "traces": "count()",
    "errors": f"countIf({_IS_ERROR})",
    "latency": "sum(duration_ns / 1e6)",
    "cost": "sum(cost)",
    "tokens": "sum(input_tokens + output_tokens)",
    "tool_calls": "sum(arraySum(tool_calls))",
}


@dataclass(frozen=True)
class _Group:
    """SQL for the values of a dimension, and for cost and tool calls that are due to a value."""

    value: str
    condition: str = "1"
    join: str = ""
    cost: str = "cost"
    calls: str = "0"


_GROUPS = {
    "errorType": _Group("error_type", _IS_ERROR),
    "agent": _Group("agent_name", "notEmpty(agent_name)"),
    "model": _Group(
        "one_model", join="ARRAY JOIN models AS one_model, model_costs AS one_cost", cost="one_cost"
    ),
    "tool": _Group(
        "one_tool",
        join="ARRAY JOIN tools AS one_tool, tool_calls AS one_calls",
        cost="0.",
        calls="one_calls",
    ),
}
DIMENSIONS = tuple(_GROUPS)
_POWERS = (1, 2, 3)


class SideReader:
    """Reads the traces of a workspace that match a filter."""

    def __init__(self, engine: Engine, workspace: str, wanted: TraceFilter) -> None:
        self._engine = engine
        self._workspace = workspace
        self._wanted = wanted
        self._settings = f"SETTINGS max_memory_usage = {engine.max_query_bytes}"

    def _where(self) -> Conditions:
        return trace_conditions(self._workspace, self._wanted)

    async def read_quantiles(self, levels: Sequence[float]) -> list[float] | None:
        """Return quantiles of the latency in nanoseconds; None without traces."""
        where = self._where()
        numbers = ", ".join(repr(float(level)) for level in levels)
        rows = await self._engine.fetch(
            f"""SELECT count() AS traces,
                quantilesExactInclusive({numbers})(duration_ns) AS quantiles
            FROM traces FINAL WHERE {where.sql} {self._settings}""",
            where.parameters,
            tag="change_quantiles",
        )
        return [float(value) for value in rows[0]["quantiles"]] if rows[0]["traces"] else None

    async def read_sums(self, cuts: Sequence[float]) -> Sums:
        """Return sums of traces, and `below_<n>`: how many are not above a latency."""
        where = self._where()
        columns = dict(_SUMS)
        for number, cut in enumerate(cuts):
            bound = where.bind(cut, "Float64")
            columns[f"below_{number}"] = f"countIf(toFloat64(duration_ns) <= {bound})"
        selected = ", ".join(f"{sql} AS sum_{name}" for name, sql in columns.items())
        found = await self._engine.fetch_columns(
            f"""SELECT {_CLUSTER}, {selected} FROM traces FINAL WHERE {where.sql}
            GROUP BY cluster {self._settings}""",
            where.parameters,
            tag="change_sums",
        )
        return {name: _spread(found, f"sum_{name}") for name in columns}

    async def read_groups(self, dimension: str) -> dict[GroupKey, GroupSums]:
        """Return sums of traces by value of a dimension, for the values with the most traces."""
        group, where = _GROUPS[dimension], self._where()
        where.add(group.condition)
        columns = [
            f"sum(pow({value}, {power})) AS {name}_{power}"
            for name, value in (("latency", "duration_ns / 1e6"), ("cost", group.cost))
            for power in _POWERS
        ]
        rows = await self._engine.fetch(
            f"""SELECT toString({group.value}) AS value, count() AS traces,
                countIf({_IS_ERROR}) AS errors, sum({group.calls}) AS calls, {", ".join(columns)}
            FROM traces FINAL {group.join} WHERE {where.sql}
            GROUP BY value ORDER BY traces DESC, value LIMIT {MAX_GROUPS} {self._settings}""",
            where.parameters,
            tag="change_groups",
        )
        return {
            (dimension, row["value"]): GroupSums(
                row["traces"],
                row["errors"],
                row["calls"],
                (row["latency_1"], row["latency_2"], row["latency_3"]),
                (row["cost_1"], row["cost_2"], row["cost_3"]),
            )
            for row in rows
        }

    async def count_failed_calls(self) -> dict[str, int]:
        """Count the failed calls of each tool."""
        where = self._where()
        where.add("error_count > 0 AND notEmpty(tools)")
        spans = spans_of_traces(where, self._wanted.period)
        rows = await self._engine.fetch(
            f"""SELECT toString(tool_name) AS tool, count() AS failed FROM spans FINAL
            WHERE {spans} AND status = 'error' AND tool_name != ''
                AND identity(trace_id) IN (SELECT trace_id FROM traces FINAL WHERE {where.sql})
            GROUP BY tool {self._settings}""",
            where.parameters,
            tag="change_failed_calls",
        )
        return {row["tool"]: row["failed"] for row in rows}

    async def read_signals(self) -> dict[str, Sums]:
        """Return number and sum of the values of the most frequent signals of the workspace."""
        where = self._where()
        signals = """workspace = {workspace:String} AND notEmpty(signals.trace_id)
            AND abs(signals.value) <= {max_signal:Float64}"""
        found = await self._engine.fetch_columns(
            f"""SELECT toString(name) AS value, cluster,
                count() AS sum_signals, sum(amount) AS sum_values
            FROM (
                SELECT {binary_trace_id("signals.trace_id")} AS trace_id, name,
                    signals.value AS amount
                FROM signals FINAL WHERE {signals} AND name IN (
                    SELECT name FROM signals WHERE {signals}
                    GROUP BY name ORDER BY count() DESC, name LIMIT {MAX_SIGNALS})) AS s
            INNER JOIN (
                SELECT trace_id, {_CLUSTER} FROM traces FINAL WHERE {where.sql}
                    AND identity(trace_id) IN (
                        SELECT {binary_trace_id("signals.trace_id")} FROM signals
                        WHERE {signals})) AS t
            USING (trace_id)
            GROUP BY value, cluster {self._settings}""",
            {**where.parameters, "max_signal": MAX_SIGNAL},
            tag="change_signals",
        )
        return _by_name(found, ("signals", "values"))


def _spread(found: Columns, name: str) -> Array:
    """Return a column by cluster; clusters without traces have zeros."""
    sums = np.zeros(CLUSTERS)
    if found:
        sums[np.asarray(found["cluster"], np.int64)] = np.asarray(found[name], np.float64)
    return sums


def _by_name(found: Columns, names: Sequence[str]) -> dict[str, Sums]:
    """Return the columns of each `value` by cluster."""
    if not found:
        return {}
    places: dict[str, list[int]] = {}
    for place, value in enumerate(found["value"]):
        places.setdefault(value.decode(errors="replace"), []).append(place)
    clusters = np.asarray(found["cluster"], np.int64)
    groups: dict[str, Sums] = {}
    for value, at in places.items():
        sums = {name: np.zeros(CLUSTERS) for name in names}
        for name in names:
            sums[name][clusters[at]] = np.asarray(found[f"sum_{name}"], np.float64)[at]
        groups[value] = sums
    return groups
