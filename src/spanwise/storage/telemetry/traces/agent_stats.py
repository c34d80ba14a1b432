"""Reads statistics of agents over the last 24 hours."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from spanwise.model.agents import AgentStats
from spanwise.model.times import TimeRange
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.conditions import Conditions

STATS_HOURS = 24


async def read_agent_stats(
    engine: Engine, workspace: str, names: Sequence[str], now: datetime
) -> dict[str, AgentStats]:
    """Return the statistics of the last 24 hours by agent name."""
    if not names:
        return {}
    where = Conditions(workspace)
    where.within("start", TimeRange(now - timedelta(hours=STATS_HOURS), None))
    where.add("agent_name IN {names:Array(String)}", names=list(names))
    rows = await engine.fetch(
        f"""SELECT agent_name, count() AS traces, countIf(status = 'error') / traces AS error_rate,
            quantileTDigest(0.95)(duration_ns) / 1e6 AS p95_latency, sum(cost) AS total_cost
        FROM traces FINAL WHERE {where.sql} GROUP BY agent_name""",
        where.parameters,
        tag="read_agent_stats",
    )
    return {
        row["agent_name"]: AgentStats(
            traces=row["traces"],
            error_rate=row["error_rate"],
            p95_latency=row["p95_latency"],
            cost=row["total_cost"],
        )
        for row in rows
    }
