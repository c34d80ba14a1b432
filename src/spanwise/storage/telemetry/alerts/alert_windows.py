"""Computes the metrics of alert rules: many agents or workspaces per query, by the end of traces.

A trace is stored after it ended, so a window over start times would miss long traces. The table is
sorted by start; an index on end times finds the hours in which the matching traces started.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from spanwise.model.alerts import AlertMetric, RuleKey, WatchedRule, Window
from spanwise.model.measures import SIGNAL
from spanwise.storage.telemetry.analytics.measures import measure_sql
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.rows.locations import binary_trace_id, trace_starts_condition

EXAMPLES = 5

# Workspace, agent name or an empty string for all agents, and signal name or an empty string.
SeriesKey = tuple[str, str, str]
Series = dict[SeriesKey, dict[int, Window]]

# In whole seconds, exactly as in the index `ended_range`.
ENDED = "intDiv(toUnixTimestamp64Nano(start) + toInt64(duration_ns), 1000000000)"
_IN_WORKSPACES = "workspace IN {workspaces:Array(String)}"
# Named like the rows of analytics queries, so that the SQL of a measure is the same.
_MEASURED_COLUMNS = f"""status, duration_ns, cost AS counted_cost, input_tokens AS counted_input,
    output_tokens AS counted_output, unpriced[1] AS counted_unpriced,
    toUInt32({ENDED}) AS seconds"""
# What the metrics of rules for traces measure: all in one statement, as most agents have several.
_MEASURES = ("errorRate", "avgLatency", "p95", "cost", "totalTokens", "unpricedTokens")
_MEASUREMENTS = ", ".join(f"{measure_sql(name, 0)} AS {name}" for name in _MEASURES)


@dataclass(frozen=True)
class Buckets:
    """SQL that maps the Unix time `seconds` to a bucket number."""

    sql: str
    parameters: Mapping[str, int]

    @classmethod
    def whole(cls) -> "Buckets":
        """Put everything into bucket 0."""
        return cls("0", {})

    @classmethod
    def within_hours(cls, minutes: int) -> "Buckets":
        """Use adjacent windows aligned to full hours, numbered by their start."""
        sql = """seconds - seconds % 3600
            + intDiv(seconds % 3600, {width:UInt32}) * {width:UInt32}"""
        return cls(sql, {"width": minutes * 60})

    @classmethod
    def sliding(cls, minutes: int, step_minutes: int) -> "Buckets":
        """Use overlapping windows, numbered by their end; a time falls into several."""
        sql = """arrayJoin(range(intDiv(seconds, {step:UInt32}) * {step:UInt32} + {step:UInt32},
            seconds + {width:UInt32} + 1, {step:UInt32}))"""
        return cls(sql, {"width": minutes * 60, "step": step_minutes * 60})


async def measure_traces(
    engine: Engine,
    workspaces: Sequence[str],
    periods: Sequence[tuple[int, int]],
    buckets: Buckets,
    agents: Sequence[str] | None = None,
) -> Series:
    """Measure these agents, or without them whole workspaces, within periods (Unix seconds)."""
    parameters: dict[str, Any] = {"workspaces": sorted(set(workspaces)), **buckets.parameters}
    only_agents = ""
    if agents is not None:
        only_agents, parameters["agents"] = "AND agent_name IN {agents:Array(String)}", list(agents)
    rows = await engine.fetch(
        f"""SELECT workspace, agent, {buckets.sql} AS bucket, count() AS samples, {_MEASUREMENTS}
        FROM (
            SELECT workspace, {_agent_column(agents)} AS agent, {_MEASURED_COLUMNS}
            FROM traces FINAL WHERE {_ended_within(periods)} {only_agents})
        GROUP BY workspace, agent, bucket""",
        parameters,
        tag="measure_traces",
    )
    series: Series = {}
    for row in rows:
        key = row["workspace"], row["agent"], ""
        series.setdefault(key, {})[row["bucket"]] = Window(
            row["samples"], {name: float(row[name]) for name in _MEASURES}
        )
    return series


def _agent_column(agents: Sequence[str] | None, column: str = "agent_name") -> str:
    return "''" if agents is None else column


async def measure_signals(
    engine: Engine,
    workspaces: Sequence[str],
    names: Sequence[str],
    periods: Sequence[tuple[int, int]],
    buckets: Buckets,
    *,
    by_agent: bool = True,
) -> Series:
    """Measure signals by name; a signal without an agent counts for the agent of its trace.

    Not `by_agent`: all signals of a workspace together.
    """
    parameters: dict[str, Any] = {
        "workspaces": sorted(set(workspaces)),
        "names": sorted(set(names)),
        **buckets.parameters,
    }
    within = " OR ".join(
        f"time >= {_engine_time(start)} AND time < {_engine_time(end)}" for start, end in periods
    )
    selected = f"{_IN_WORKSPACES} AND name IN {{names:Array(String)}} AND ({within})"
    rows = await engine.fetch(
        f"""SELECT workspace, {"agent" if by_agent else "''"} AS agent_name, name,
            {buckets.sql} AS bucket, count() AS samples, avg(value) AS mean
        FROM (
            SELECT s.workspace AS workspace, s.name AS name, s.value AS value,
                if(notEmpty(s.agent_name), s.agent_name, t.agent_name) AS agent,
                toUInt32(toUnixTimestamp(s.time)) AS seconds
            FROM (SELECT * FROM signals FINAL WHERE {selected}) AS s
            LEFT JOIN (
                SELECT workspace, lower(hex(trace_id)) AS id, agent_name FROM traces FINAL
                WHERE {_IN_WORKSPACES} AND {_signal_traces_condition(f"signals WHERE {selected}")}
            ) AS t ON t.workspace = s.workspace AND t.id = s.trace_id)
        WHERE {"agent != ''" if by_agent else "1"}
        GROUP BY workspace, agent_name, name, bucket""",
        parameters,
        tag="measure_signals",
    )
    series: Series = {}
    for row in rows:
        key = row["workspace"], row["agent_name"], row["name"]
        values = {SIGNAL + row["name"]: row["mean"]}
        series.setdefault(key, {})[row["bucket"]] = Window(row["samples"], values)
    return series


def _ended_within(periods: Sequence[tuple[int, int]]) -> str:
    """SQL condition for traces that ended within one of these periods (Unix seconds)."""
    ended = " OR ".join(
        f"({ENDED} >= {int(start)} AND {ENDED} < {int(end)})" for start, end in periods
    )
    latest = _engine_time(max(end for _, end in periods))
    # The end is checked again outside, because an outdated row of a trace may match inside.
    return f"""{_IN_WORKSPACES} AND (workspace, toStartOfHour(start)) IN (
        SELECT workspace, toStartOfHour(start) FROM traces
        WHERE {_IN_WORKSPACES} AND start < {latest} AND ({ended})) AND ({ended})"""


def _signal_traces_condition(signals: str) -> str:
    """SQL condition for the traces of signals; `signals` is SQL that follows FROM."""
    return trace_starts_condition(
        f"SELECT workspace, {binary_trace_id('trace_id')} FROM {signals} AND notEmpty(trace_id)"
    )


def _engine_time(seconds: int) -> str:
    return f"toDateTime64({int(seconds)}, 9, 'UTC')"


async def find_examples(
    engine: Engine,
    rules: Sequence[WatchedRule],
    end: datetime,
    low: Collection[RuleKey] = (),
) -> dict[RuleKey, list[str]]:
    """Return ids of example traces by rule, the most extreme first.

    `low` has the keys of rules whose value is too low: their examples have the lowest values. Rules
    with the same metric, direction and window share one query.
    """
    groups: dict[tuple[Any, ...], list[WatchedRule]] = {}
    for watched in rules:
        rule, has_agent = watched.rule, watched.agent_name is not None
        group_key = rule.metric, rule.signal_name, watched.key in low, rule.window_minutes
        groups.setdefault((*group_key, has_agent), []).append(watched)
    examples: dict[RuleKey, list[str]] = {}
    for (_, _, is_low, _, _), group in groups.items():
        found = await _find_group_examples(engine, group, end, is_low=is_low)
        for watched in group:
            examples[watched.key] = found.get((watched.workspace_id, watched.agent_name or ""), [])
    return examples


async def _find_group_examples(
    engine: Engine, rules: Sequence[WatchedRule], end: datetime, *, is_low: bool
) -> dict[tuple[str, str], list[str]]:
    rule = rules[0].rule
    names = [watched.agent_name for watched in rules if watched.agent_name is not None]
    agents = sorted(set(names)) if names else None
    # Up to the end of the current second, like the measured windows.
    until = int(end.timestamp()) + 1
    period = until - rule.window_minutes * 60, until
    sql = (
        _signal_examples(period, agents, is_low=is_low)
        if rule.metric is AlertMetric.SIGNAL
        else _trace_examples(rule.metric, period, agents, is_low=is_low)
    )
    parameters = {
        "workspaces": sorted({watched.workspace_id for watched in rules}),
        "agents": agents or [],
        "signal": rule.signal_name or "",
    }
    found: dict[tuple[str, str], list[str]] = {}
    for row in await engine.fetch(sql, parameters, tag="find_examples"):
        ids = found.setdefault((row["workspace"], row["agent"]), [])
        if row["id"] not in ids:
            ids.append(row["id"])
    return found


_TRACE_ORDER = {
    AlertMetric.ERROR_RATE: "status = 'error' DESC, start DESC",
    AlertMetric.P95_LATENCY: "duration_ns DESC",
    AlertMetric.AVG_LATENCY: "duration_ns DESC",
    AlertMetric.COST: "cost DESC",
    AlertMetric.TOTAL_TOKENS: "input_tokens + output_tokens DESC",
    AlertMetric.UNPRICED_TOKENS: "unpriced[1] DESC",
    AlertMetric.REQUEST_COUNT: "start DESC",
}


def _only(agents: Sequence[str] | None) -> str:
    return "1" if agents is None else "agent_name IN {agents:Array(String)}"


def _trace_examples(
    metric: AlertMetric, period: tuple[int, int], agents: Sequence[str] | None, *, is_low: bool
) -> str:
    # Only failed traces explain a high error rate.
    explains = "status = 'error'" if metric is AlertMetric.ERROR_RATE and not is_low else "1"
    return f"""SELECT workspace, {_agent_column(agents)} AS agent, lower(hex(trace_id)) AS id
        FROM traces FINAL WHERE {_ended_within([period])} AND {_only(agents)} AND {explains}
        ORDER BY {_TRACE_ORDER[metric]} LIMIT {EXAMPLES} BY workspace, agent"""


def _signal_examples(period: tuple[int, int], agents: Sequence[str] | None, *, is_low: bool) -> str:
    start, end = map(_engine_time, period)
    signals = f"""signals FINAL WHERE {_IN_WORKSPACES} AND name = {{signal:String}}
        AND time >= {start} AND time < {end}"""
    agent = _agent_column(agents, "t.agent_name")
    return f"""SELECT t.workspace AS workspace, {agent} AS agent, s.trace_id AS id
        FROM (SELECT workspace, trace_id, value, time FROM {signals} AND notEmpty(trace_id)) AS s
        INNER JOIN (
            SELECT workspace, lower(hex(trace_id)) AS id, agent_name FROM traces FINAL
            WHERE {_IN_WORKSPACES} AND {_only(agents)}
                AND {_signal_traces_condition(signals)}
        ) AS t ON t.workspace = s.workspace AND t.id = s.trace_id
        ORDER BY value {"ASC" if is_low else "DESC"}, time DESC
        LIMIT {EXAMPLES} BY workspace, agent"""
