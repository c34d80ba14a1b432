"""Measures agents for alert rules: many agents in one query, by when their traces ended.

A trace is stored when it has ended, so a window of its starts would not see long ones in time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from spanwise.model.alerts import Condition, Metric, WatchedRule, Window
from spanwise.storage.telemetry.conditions import to_engine_time
from spanwise.storage.telemetry.engine import Engine
from spanwise.storage.telemetry.places import binary_trace_id

EXAMPLES = 5
# Traces that take longer are not seen by alerts: the table is read by when traces started.
_LONGEST_SECONDS = 3600
# How long after its trace a signal still counts for the trace's agent.
_SIGNAL_LAG_SECONDS = 86_400

# Workspace, agent name, and the name of a signal or nothing.
SeriesKey = tuple[str, str, str]
Series = dict[SeriesKey, dict[int, Window]]

_ENDED = f"start + toIntervalNanosecond(least(duration_ns, {_LONGEST_SECONDS} * 1000000000))"


@dataclass(frozen=True)
class Buckets:
    """How moments are put together: SQL that makes the name of a bucket of `seconds`."""

    sql: str
    parameters: Mapping[str, int]

    @classmethod
    def whole(cls) -> "Buckets":
        """All in one, under the number 0."""
        return cls("0", {})

    @classmethod
    def within_hours(cls, minutes: int) -> "Buckets":
        """Windows that lie side by side, counted from each full hour, by their start."""
        sql = """seconds - seconds % 3600
            + intDiv(seconds % 3600, {width:UInt32}) * {width:UInt32}"""
        return cls(sql, {"width": minutes * 60})

    @classmethod
    def sliding(cls, minutes: int, step_minutes: int) -> "Buckets":
        """Windows that overlap, by their end: a moment is in several."""
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
    """Measure all agents of these workspaces in stretches of time (Unix seconds)."""
    parameters: dict[str, Any] = {"workspaces": sorted(set(workspaces)), **buckets.parameters}
    within = _periods(parameters, periods, "start", _LONGEST_SECONDS)
    among = ""
    if agents is not None:
        among, parameters["agents"] = "AND agent_name IN {agents:Array(String)}", list(agents)
    rows = await engine.fetch(
        f"""SELECT workspace, agent_name, {buckets.sql} AS bucket, count() AS samples,
            countIf(status = 'error') / samples AS error_rate,
            avg(duration_ns) / 1e6 AS avg_latency,
            quantileTDigest(0.95)(duration_ns) / 1e6 AS p95_latency,
            sum(cost) AS total_cost, sum(input_tokens + output_tokens) AS tokens
        FROM (
            SELECT workspace, agent_name, status, duration_ns, cost, input_tokens, output_tokens,
                toUInt32(toUnixTimestamp({_ENDED})) AS seconds
            FROM traces FINAL
            WHERE workspace IN {{workspaces:Array(String)}} AND agent_name != '' {among}
            AND ({within}))
        WHERE {_exact(periods)}
        GROUP BY workspace, agent_name, bucket""",
        parameters,
        tag="measure_traces",
    )
    series: Series = {}
    for row in rows:
        key = row["workspace"], row["agent_name"], ""
        series.setdefault(key, {})[row["bucket"]] = Window(
            samples=row["samples"],
            error_rate=row["error_rate"],
            avg_latency=row["avg_latency"],
            p95_latency=row["p95_latency"],
            cost=row["total_cost"],
            tokens=float(row["tokens"]),
        )
    return series


async def measure_signals(
    engine: Engine,
    workspaces: Sequence[str],
    names: Sequence[str],
    periods: Sequence[tuple[int, int]],
    buckets: Buckets,
) -> Series:
    """Measure signals of these names; one that names no agent counts for its trace's."""
    parameters: dict[str, Any] = {
        "workspaces": sorted(set(workspaces)),
        "names": sorted(set(names)),
        **buckets.parameters,
    }
    within = _periods(parameters, periods, "time", 0)
    began = _periods({}, periods, "start", _SIGNAL_LAG_SECONDS)
    mine = f"""workspace IN {{workspaces:Array(String)}} AND name IN {{names:Array(String)}}
                AND ({within})"""
    rows = await engine.fetch(
        f"""SELECT workspace, agent, name, {buckets.sql} AS bucket, count() AS samples,
            avg(value) AS mean
        FROM (
            SELECT s.workspace AS workspace, s.name AS name, s.value AS value,
                if(notEmpty(s.agent_name), s.agent_name, t.agent_name) AS agent,
                toUInt32(toUnixTimestamp(s.time)) AS seconds
            FROM (SELECT * FROM signals FINAL WHERE {mine}) AS s
            LEFT JOIN (
                SELECT workspace, lower(hex(trace_id)) AS id, agent_name FROM traces FINAL
                WHERE workspace IN {{workspaces:Array(String)}} AND ({began})
                AND trace_id IN (SELECT {binary_trace_id("trace_id")} FROM signals
                    WHERE {mine} AND notEmpty(trace_id))
            ) AS t ON t.workspace = s.workspace AND t.id = s.trace_id)
        WHERE agent != '' GROUP BY workspace, agent, name, bucket""",
        parameters,
        tag="measure_signals",
    )
    series: Series = {}
    for row in rows:
        key = row["workspace"], row["agent"], row["name"]
        series.setdefault(key, {})[row["bucket"]] = Window(
            samples=row["samples"], signal=row["mean"]
        )
    return series


def _periods(
    parameters: dict[str, Any], periods: Sequence[tuple[int, int]], column: str, lead: int
) -> str:
    """Conditions that let the engine skip what lies outside; `lead` seconds before count too."""
    clauses = []
    for number, (start, end) in enumerate(periods):
        parameters[f"from_{number}"] = _engine_seconds(start)
        parameters[f"to_{number}"] = _engine_seconds(end)
        clauses.append(
            f"{column} >= {{from_{number}:DateTime64(9, 'UTC')}} - INTERVAL {lead} SECOND "
            f"AND {column} < {{to_{number}:DateTime64(9, 'UTC')}}"
        )
    return " OR ".join(clauses)


def _exact(periods: Sequence[tuple[int, int]]) -> str:
    return " OR ".join(
        f"(seconds >= {int(start)} AND seconds < {int(end)})" for start, end in periods
    )


def _engine_seconds(seconds: int) -> str:
    return to_engine_time(datetime.fromtimestamp(seconds, UTC))


async def find_examples(
    engine: Engine, rules: Sequence[WatchedRule], end: datetime
) -> dict[tuple[str, str], list[str]]:
    """Return the ids of traces that show what rules have found, the clearest first, by rule.

    All rules that look at the same thing over the same window take one query.
    """
    alike: dict[tuple[Metric, str | None, Condition, int], list[WatchedRule]] = {}
    for watched in rules:
        rule = watched.rule
        what = rule.metric, rule.signal_name, rule.condition, rule.window_minutes
        alike.setdefault(what, []).append(watched)
    examples: dict[tuple[str, str], list[str]] = {}
    for group in alike.values():
        found = await _find_alike(engine, group, end)
        for watched in group:
            examples[watched.key] = found.get((watched.workspace_id, watched.agent_name), [])
    return examples


async def _find_alike(
    engine: Engine, rules: Sequence[WatchedRule], end: datetime
) -> dict[tuple[str, str], list[str]]:
    rule = rules[0].rule
    rows = await engine.fetch(
        _SIGNAL_EXAMPLES[rule.condition]
        if rule.metric is Metric.SIGNAL
        else _TRACE_EXAMPLES[rule.metric],
        {
            "workspaces": sorted({watched.workspace_id for watched in rules}),
            "agents": sorted({watched.agent_name for watched in rules}),
            "from": to_engine_time(end - timedelta(minutes=rule.window_minutes)),
            "to": to_engine_time(end),
            "signal": rule.signal_name or "",
        },
        tag="find_examples",
    )
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        ids = found.setdefault((row["workspace"], row["agent_name"]), [])
        if row["id"] not in ids:
            ids.append(row["id"])
    return found


_FROM, _TO = "{from:DateTime64(9, 'UTC')}", "{to:DateTime64(9, 'UTC')}"
_MINE = "workspace IN {workspaces:Array(String)}"

_TRACE_EXAMPLES = {
    metric: f"""SELECT workspace, agent_name, lower(hex(trace_id)) AS id FROM traces FINAL
        WHERE {_MINE} AND agent_name IN {{agents:Array(String)}}
            AND start >= {_FROM} - INTERVAL {_LONGEST_SECONDS} SECOND AND start < {_TO}
            AND ({_ENDED}) >= {_FROM} AND ({_ENDED}) < {_TO}
        ORDER BY {order} LIMIT {EXAMPLES} BY workspace, agent_name"""
    for metric, order in {
        Metric.ERROR_RATE: "status = 'error' DESC, start DESC",
        Metric.P95_LATENCY: "duration_ns DESC",
        Metric.AVG_LATENCY: "duration_ns DESC",
        Metric.COST: "cost DESC",
        Metric.TOTAL_TOKENS: "input_tokens + output_tokens DESC",
        Metric.REQUEST_COUNT: "start DESC",
    }.items()
}

_SIGNALS = f"""signals FINAL WHERE {_MINE} AND name = {{signal:String}} AND notEmpty(trace_id)
    AND time >= {_FROM} AND time < {_TO}"""
_SIGNAL_EXAMPLES = {
    condition: f"""SELECT t.workspace AS workspace, t.agent_name AS agent_name, s.trace_id AS id
        FROM (SELECT workspace, trace_id, value, time FROM {_SIGNALS}) AS s
        INNER JOIN (
            SELECT workspace, lower(hex(trace_id)) AS id, agent_name FROM traces FINAL
            WHERE {_MINE} AND agent_name IN {{agents:Array(String)}}
                AND start >= {_FROM} - INTERVAL {_SIGNAL_LAG_SECONDS} SECOND AND start < {_TO}
                AND trace_id IN (SELECT {binary_trace_id("trace_id")} FROM {_SIGNALS})
        ) AS t ON t.workspace = s.workspace AND t.id = s.trace_id
        ORDER BY value {order}, time DESC LIMIT {EXAMPLES} BY workspace, agent_name"""
    for condition, order in {
        Condition.BELOW: "ASC",
        Condition.ABOVE: "DESC",
        Condition.ANOMALY: "DESC",
    }.items()
}
