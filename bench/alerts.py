"""Measures an evaluation of all alert rules: 1,000 agents with five rules each.

Runs in a separate process, because a process can open the embedded engine only once.
"""

import asyncio
import json
import sys
import time
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from clickhouse_connect.driver.client import Client
from sqlalchemy import insert, update

from spanwise.api.services import Services
from spanwise.cli.log_setup import configure_logs
from spanwise.jobs.alert_evaluation import AlertEvaluator
from spanwise.model.api_model import new_id, utc_now
from spanwise.settings import load_settings
from spanwise.storage.catalog.tables import agents
from spanwise.wiring.services import open_services

AGENTS = 1000
HISTORY_DAYS = 29
ORDINARY = 5

# Per agent, one trace per minute from two hours ago until the last pass, and sixteen per day
# of history for the anomaly baselines.
TRACES = """
INSERT INTO traces (workspace, start, trace_id, version, name, agent_name, status, error_type,
    duration_ns, span_count, input_tokens, output_tokens, cost)
SELECT {workspace:String}, now64(9) + toIntervalMinute(20) - toIntervalMillisecond(rand64(1) %
        if(number < {agents:UInt64} * 140, 8400000, {days:UInt64} * 86400000)),
    MD5(toString(number)), number + 1, 'run', concat('agent-', toString(number % {agents:UInt64})),
    if(rand(3) % 50 = 0, 'error', 'success'), '', toUInt64(1e6 * exp(6 + randNormal(0, 0.3))), 8,
    rand(5) % 9000, rand(6) % 900, (rand(7) % 10000) / 100000
FROM numbers({agents:UInt64} * (140 + {days:UInt64} * 16))"""
SIGNALS = """
INSERT INTO signals (workspace, id, name, value, agent_name, time, version)
SELECT {workspace:String}, toString(number), 'helpful', rand(2) % 2,
    concat('agent-', toString(number % {agents:UInt64})),
    now64(9) + toIntervalMinute(20) - toIntervalMillisecond(rand64(1) % 8400000), number + 1
FROM numbers({agents:UInt64} * 70)"""


def make_alert_settings(error_rate: float) -> dict[str, Any]:
    """Build the settings of an agent; with a negative rate every window is a breach."""
    rules = [
        {"id": "errors", "metric": "errorRate", "condition": "above", "threshold": error_rate},
        {"id": "slow", "metric": "p95Latency", "condition": "above", "threshold": 60_000,
         "windowMinutes": 15},
        {"id": "cost", "metric": "cost", "condition": "above", "threshold": 1000,
         "windowMinutes": 60},
        {"id": "traffic", "metric": "requestCount", "condition": "anomaly"},
        {"id": "helpful", "metric": "signal", "signalName": "helpful", "condition": "below",
         "threshold": 0, "windowMinutes": 15},
    ]  # fmt: skip
    return {"enabled": True, "rules": rules, "notify": {"emails": [], "webhooks": []}}


async def measure_alerts(folder: Path) -> dict[str, Any]:
    """Time the first pass, which loads the baselines, then normal ones, then two in which every
    tenth agent fires.
    """
    settings = load_settings(
        data_dir=folder, alert_interval_seconds=3600, otlp_grpc_port=0, log_level="error"
    )
    configure_logs(settings)
    async with open_services(settings) as services:
        await _fill(services)
        clock = Clock()
        evaluator = AlertEvaluator(
            services.catalog,
            services.alerting.rule_windows,
            services.ingest.pipeline,
            60,
            "embedded",
            clock,
        )
        passes = [await _time(evaluator, clock) for _ in range(1 + ORDINARY)]
        async with services.catalog.write() as tx:
            every_tenth = agents.c.name.like("agent-%0")
            await tx.execute(
                update(agents).where(every_tenth).values(alert_settings=make_alert_settings(-1))
            )
        firing, holding = [await _time(evaluator, clock) for _ in range(2)]
        ordinary = sorted(passes[1:], key=lambda cost: cost["seconds"])
        return {
            "rules": evaluator.health.rules,
            "learning": passes[0],
            "ordinary": ordinary[ORDINARY // 2],
            "firing": firing,
            "holding": holding,
        }


class Clock:
    """Advances a minute per pass, because a rule is evaluated once per minute."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def __call__(self) -> datetime:
        return utc_now() + self.ahead


async def _fill(services: Services) -> None:
    email, password = "bench@example.com", "correct horse battery"
    await services.identity.accounts.register(email, password, "Bench", None)
    sign_in = await services.identity.accounts.login(email, password, None)
    workspace = (await services.identity.access.by_token(sign_in.token)).workspace_id
    now = utc_now()
    rows = [
        {
            "id": new_id("agt"),
            "workspace_id": workspace,
            "name": f"agent-{number}",
            "tags": [],
            "metadata": {},
            "alert_settings": make_alert_settings(0.9),
            "created_at": now,
            "updated_at": now,
            "first_seen_at": now - timedelta(days=HISTORY_DAYS),
            "last_seen_at": now,
        }
        for number in range(AGENTS)
    ]
    async with services.catalog.write() as tx:
        await tx.execute(insert(agents), rows)
    bound = {"workspace": workspace, "agents": AGENTS, "days": HISTORY_DAYS}
    for sql in (TRACES, SIGNALS):
        await services.engine.run(partial(_command, sql, bound))


def _command(sql: str, bound: dict[str, Any], client: Client) -> None:
    client.command(sql, parameters=bound)


async def _time(evaluator: AlertEvaluator, clock: Clock) -> dict[str, float]:
    clock.ahead += timedelta(minutes=1)
    wall, processor = time.perf_counter(), time.process_time()
    await evaluator.run()
    return {
        "seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - processor,
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(measure_alerts(Path(sys.argv[1])))))
