"""Measures metrics per unit before an experiment starts."""

from datetime import datetime

from spanwise.model.experiments.definition import TraceMetric
from spanwise.model.experiments.plan import UnitMeans
from spanwise.model.times import TimeRange
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.conditions import Conditions
from spanwise.storage.telemetry.experiments.outcomes import TRACE_VALUES
from spanwise.storage.telemetry.signals.signal_queries import complete_signals

_UNIT = "multiIf(notEmpty(user_id), user_id, notEmpty(session_id), session_id, toString(own))"


async def measure_traces(
    engine: Engine,
    workspace: str,
    metric: TraceMetric,
    agent: str | None,
    period: tuple[datetime, datetime],
) -> UnitMeans | None:
    where = Conditions(workspace)
    where.within("start", TimeRange(*period))
    where.equals("agent_name", agent)
    rows = f"""SELECT user_id, session_id, sipHash64(trace_id) AS own, start AS time, status,
        duration_ns, cost, input_tokens + output_tokens AS tokens
        FROM traces FINAL WHERE {where.sql}"""
    return await _measure(engine, rows, TRACE_VALUES[metric], where)


async def measure_signals(
    engine: Engine, workspace: str, name: str, agent: str | None, period: tuple[datetime, datetime]
) -> UnitMeans | None:
    where = Conditions(workspace)
    where.within("time", TimeRange(*period))
    where.equals("name", name)
    only = "agent_name = {agent:String}" if agent is not None else "1"
    rows = f"""SELECT user_id, session_id, sipHash64(id) AS own, time, value
        FROM ({complete_signals(where)}) WHERE {only}"""
    where.parameters["agent"] = agent or ""
    return await _measure(engine, rows, "value", where)


async def _measure(engine: Engine, rows: str, value: str, where: Conditions) -> UnitMeans | None:
    """Return mean and variance of a ratio of sums, as the results compute them."""
    found = await engine.fetch(
        f"""SELECT count() AS units, sum(total) / sum(outcomes) AS mean,
            (sum(total * total) - 2 * mean * sum(total * outcomes)
                + mean * mean * sum(outcomes * outcomes))
                / greatest(units - 1, 1) / pow(avg(outcomes), 2) AS variance,
            units / greatest(dateDiff('second', min(first), max(last)) / 86400, 1) AS per_day
        FROM (
            SELECT {_UNIT} AS unit, sum({value}) AS total, toFloat64(count()) AS outcomes,
                min(time) AS first, max(time) AS last
            FROM ({rows}) GROUP BY unit)
        HAVING units > 1""",
        where.parameters,
        tag="unit_means",
    )
    if not found:
        return None
    row = found[0]
    return UnitMeans(row["units"], row["mean"], max(0.0, row["variance"]), row["per_day"])
