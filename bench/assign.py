"""How fast variants are handed out, alone and beside ingest."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.assign_load import Task
from bench.load import Task as IngestTask
from bench.service import Service

ROOT = Path(__file__).parent.parent
CONNECTIONS = 8
VARIANTS = [{"key": "control", "weight": 1}, {"key": "treatment", "weight": 1}]


@dataclass(frozen=True)
class Assign:
    """One row of the table of assignments."""

    name: str
    requests_per_second: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    max_ms: float
    cpu_us: float


def measure_assign(service: Service, pool: Path, requests: int) -> list[Assign]:
    """Ask for units that come once and for units that come again; then both beside ingest."""
    experiment = _start_experiment(service)
    rows = [
        _measure(service, experiment, "new units", requests, requests),
        _measure(service, experiment, "units seen before", requests, 1000),
    ]
    with _ingest(service, pool):
        rows.append(_measure(service, experiment, "beside ingest", requests, 1000))
    return rows


def _start_experiment(service: Service) -> str:
    body = {"name": f"bench {time.time_ns()}", "variants": VARIANTS}
    made = service.http.post("/experiments", json=body).raise_for_status().json()["data"]
    service.http.post(f"/experiments/{made['id']}/start").raise_for_status()
    return str(made["id"])


def _measure(service: Service, experiment: str, name: str, requests: int, units: int) -> Assign:
    task = Task(service.port, service.key, experiment, CONNECTIONS, requests, units)
    cpu = service.cpu_seconds()
    finished = _start_module("bench.assign_load", asdict(task)).communicate()[0]
    outcome: dict[str, Any] = json.loads(finished)
    return Assign(
        name=name,
        requests_per_second=requests / outcome.pop("seconds"),
        cpu_us=(service.cpu_seconds() - cpu) / requests * 1e6,
        **outcome,
    )


@contextmanager
def _ingest(service: Service, pool: Path) -> Iterator[None]:
    """Send spans over one connection, without a pause, until the block ends."""
    task = IngestTask(service.port, service.key, str(pool), 1, 10**6, is_packed=False)
    process = _start_module("bench.load", asdict(task))
    try:
        yield
    finally:
        process.kill()
        process.communicate()


def _start_module(module: str, task: dict[str, Any]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", module, json.dumps(task)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)
