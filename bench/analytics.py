"""How fast analytics answer: a year of traces, asked for the ways the dashboard does.

Three times each: right after a start (cold), again and again (warm), and again and again while
10,000 spans a second come in. As the dashboard does, the requests begin with a whole hour, end
with the minute and accept what is five seconds old: the load goes into the same workspace, and
waiting for the latest of it would be most of the time.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.load import Task
from bench.payload import SPANS_PER_TRACE, Writer, make_body
from bench.service import Service, free_port, run_engine, run_service

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
INGEST_SPANS_PER_SECOND = 10_000
AS_THE_DASHBOARD = {"Cache-Control": "max-age=5"}
# Until the prices of the load's models are known, and merges and sums of it are in full swing.
_WARM_UP_SECONDS = 15

Times = dict[str, dict[str, float]]


def measure_analytics(
    folder: Path, pool: Path, body_spans: int, spans: int, runs: int
) -> dict[str, Any]:
    """Fill a store with a year of traces worth this many spans, and ask."""
    with run_service(folder, free_port()) as service:
        # One trace of the account's, beside which the others are made up.
        headers = {"Content-Type": "application/x-protobuf"}
        body = make_body(Writer(1), SPANS_PER_TRACE)
        service.http.post("/otlp/v1/traces", content=body, headers=headers).raise_for_status()
        if service.total_traces() != 1:
            raise RuntimeError("the first trace cannot be read")
    filled = run_engine("fill", folder / "data" / "telemetry", spans // SPANS_PER_TRACE)
    with run_service(folder, free_port()) as service:
        cold = ask_all(service, 1)
    with run_service(folder, free_port()) as service:
        warm = ask_all(service, runs)
        task = Task(service.port, service.key, str(pool), 4, 0, is_packed=False)
        every = body_spans / INGEST_SPANS_PER_SECOND
        with sending(replace(task, requests=1_000_000, seconds_between=every)):
            time.sleep(_WARM_UP_SECONDS)
            busy = ask_all(service, runs)
    return {**filled, "cold": cold, "warm": warm, "while_ingesting": busy}


def ask_all(service: Service, runs: int) -> Times:
    """Time every request; one more before is not counted unless it is the only one."""
    now = datetime.now(UTC)
    end = now + timedelta(minutes=1)
    times: Times = {path: {} for path in PATHS}
    for period, (length, granularity) in PERIODS.items():
        for agent in (None, AGENT):
            parameters = {
                "startDate": f"{now - length:%Y-%m-%dT%H:00:00Z}",
                "endDate": f"{end:%Y-%m-%dT%H:%M:00Z}",
                "granularity": granularity,
                **({"agentId": agent} if agent else {}),
            }
            name = f"{period}{', agent' if agent else ''}"
            for path in PATHS:
                asked = [_ask(service, path, parameters) for _ in range(runs + (runs > 1))]
                counted = asked[1:] or asked
                times[path][f"{name} p50"] = median(counted)
                times[path][f"{name} p95"] = (
                    quantiles(counted, n=20, method="inclusive")[-1] if runs > 1 else counted[0]
                )
    return times


def _ask(service: Service, path: str, parameters: dict[str, str]) -> float:
    started = time.perf_counter()
    service.http.get(
        f"/analytics/{path}", params=parameters, headers=AS_THE_DASHBOARD
    ).raise_for_status()
    return (time.perf_counter() - started) * 1000


@contextmanager
def sending(task: Task) -> Iterator[None]:
    """Keep a load up in a process of its own."""
    command = [sys.executable, "-m", "bench.load", json.dumps(asdict(task))]
    with subprocess.Popen(
        command, cwd=Path(__file__).parent.parent, stdout=subprocess.DEVNULL
    ) as load:
        try:
            yield
            if load.poll() is not None:
                raise RuntimeError("the load ended before the questions did")
        finally:
            load.kill()


def show_analytics(console: Console, answer: dict[str, Any], spans: int) -> None:
    for how in ("cold", "warm", "while_ingesting"):
        title = f"Analytics at {spans:,} spans, {how.replace('_', ' ')}: p95 in milliseconds"
        table = Table("endpoint", title=title)
        names = [name for name in answer[how]["metrics"] if name.endswith("p95")]
        for name in names:
            table.add_column(name.removesuffix(" p95"), justify="right")
        for path, times in answer[how].items():
            table.add_row(path, *(f"{times[name]:.1f}" for name in names))
        console.print(table)
