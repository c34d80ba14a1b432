"""How fast analytics answer: a year of traces, asked for the ways the dashboard does.

Run by hand: `.venv/bin/python bench/analytics.py [TRACES] [FOLDER]`. A folder is kept and used
again. Figures depend on the machine; none is a test.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import httpx
import structlog
from clickhouse_connect.driver.client import Client

from spanwise.app import create_app, open_services
from spanwise.settings import load_settings
from spanwise.storage.telemetry.engine import Engine
from spanwise.storage.telemetry.rollup import Rollup

EMAIL, PASSWORD = "bench@example.com", "correct horse battery"
RUNS = 7
AGENT = "agent-3"
PATHS = (
    "metrics",
    "costs",
    "traces/success-failure",
    "traces/requests-over-time",
    "traces/latency-percentiles",
    "traces/latency-distribution",
    "traces/token-usage",
    "traces/errors-by-type",
    "traces/error-rate",
    "traces/tool-usage",
    "traces/list",
)
PERIODS = {
    "24 h": (timedelta(hours=24), "hourly"),
    "30 d": (timedelta(days=30), "daily"),
    "12 m": (timedelta(days=365), "monthly"),
}

Request = tuple[str, str, dict[str, str]]


def requests(now: datetime) -> list[Request]:
    """Every request to time: a name, a path below /api/analytics, and its parameters."""
    found = []
    for period, (length, granularity) in PERIODS.items():
        for agent in (None, AGENT):
            parameters = {
                "startDate": f"{now - length:%Y-%m-%dT%H:%M:%SZ}",
                "endDate": f"{now:%Y-%m-%dT%H:%M:%SZ}",
                "granularity": granularity,
                **({"agentId": agent} if agent else {}),
            }
            name = f"{period}{' agent' if agent else ''}"
            found += [(name, path, parameters) for path in PATHS]
    return found


# Twelve months up to now, ten agents, two environments; latencies are log-normal.
FILL = """
INSERT INTO traces (workspace, start, trace_id, version, name, agent_name, status, error_type,
    duration_ns, span_count, input_tokens, output_tokens, cost, session_id, user_id, environment,
    models, model_calls, model_input_tokens, model_output_tokens, model_costs, tools, tool_calls)
SELECT {workspace:String},
    now64(9) - toIntervalMillisecond(rand64(1) % (365 * 86400000)), MD5(toString(number)),
    number + 1, 'run', concat('agent-', toString(rand(2) % 10)),
    if(rand(3) % 20 = 0, 'error', 'success'),
    if(rand(3) % 20 = 0, ['timeout', 'rate_limit', 'other'][1 + rand(4) % 3], ''),
    toUInt64(1e6 * exp(6.5 + 1.2 * randNormal(0, 1))), 8, rand(5) % 9000, rand(6) % 900,
    (rand(7) % 10000) / 100000, toString(rand(8) % 100000), toString(rand(9) % 5000),
    ['production', 'test'][1 + rand(10) % 2],
    [concat('model-', toString(rand(11) % 4)), concat('other-', toString(rand(12) % 4))],
    [1, 2], [100, 200], [10, 20], [0.001, 0.002],
    [concat('tool-', toString(rand(13) % 6)), concat('more-', toString(rand(14) % 6))], [1, 1]
FROM numbers({first:UInt64}, {amount:UInt64})"""


def _fill_some(bound: dict[str, Any], client: Client) -> None:
    client.command(FILL, parameters=bound)


async def fill(engine: Engine, workspace: str, traces: int) -> None:
    have = (await engine.fetch("SELECT count() AS n FROM traces", {}))[0]["n"]
    started = time.perf_counter()
    for first in range(have, traces, 100_000):
        amount = min(100_000, traces - first)
        bound = {"workspace": workspace, "first": first, "amount": amount}
        await engine.run(partial(_fill_some, bound))
    # As the background job would have, by now.
    await engine.run(lambda client: client.command("OPTIMIZE TABLE traces FINAL"))
    print(f"{traces:,} traces in {time.perf_counter() - started:.1f} s")


async def measure(http: httpx.AsyncClient, now: datetime) -> None:
    print(f"{'':30}" + "".join(f"{name:>18}" for name, path, _ in requests(now) if path == "costs"))
    rows: dict[str, list[str]] = {path: [] for path in PATHS}
    for _, path, parameters in requests(now):
        times = [await time_one(http, path, parameters) for _ in range(RUNS)]
        rows[path].append(f"{median(times):8.1f} / {p95(times):7.1f}")
    for path, cells in rows.items():
        print(f"{path:30}" + "".join(f"{cell:>18}" for cell in cells))


async def time_one(http: httpx.AsyncClient, path: str, parameters: dict[str, str]) -> float:
    started = time.perf_counter()
    answer = await http.get(f"/api/analytics/{path}", params=parameters)
    answer.raise_for_status()
    return (time.perf_counter() - started) * 1000


def p95(times: Sequence[float]) -> float:
    return quantiles(times, n=20)[-1]


async def main(traces: int, folder: Path) -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    limits: dict[str, Any] = {
        f"rate_limit_{tier}": 0 for tier in ("standard", "strict", "ingestion")
    }
    async with open_services(load_settings(data_dir=folder, **limits)) as use:
        transport = httpx.ASGITransport(create_app(use))
        async with httpx.AsyncClient(transport=transport, base_url="http://bench") as http:
            body = {"email": EMAIL, "password": PASSWORD}
            await http.post("/api/auth/register", json=body)
            login = (await http.post("/api/auth/login", json=body)).json()["data"]
            http.headers["Authorization"] = f"Bearer {login['token']}"
            caller = await use.access.by_token(login["token"])
            await fill(use.engine, caller.workspace_id, traces)
            rollup = Rollup(use.engine, quiet_seconds=0)
            started = time.perf_counter()
            days = await rollup.sweep()
            print(f"swept {days} days in {time.perf_counter() - started:.1f} s")
            print("milliseconds, median / p95 of", RUNS, "runs")
            await measure(http, datetime.now(UTC))


if __name__ == "__main__":
    amount = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    if len(sys.argv) > 2:
        asyncio.run(main(amount, Path(sys.argv[2])))
    else:
        with tempfile.TemporaryDirectory() as made:
            asyncio.run(main(amount, Path(made)))
