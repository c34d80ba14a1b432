"""Measures variant assignment, alone and during ingest."""

import json
import re
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from bench.analytics import INGEST_SPANS_PER_SECOND, keep_sending
from bench.assign_load import Task
from bench.load import Task as IngestTask
from bench.payload import write_pool
from bench.scale import Scale
from bench.service import Service, free_port, run_module, run_service

CONNECTIONS = 4
BODY_SPANS = 200
POOL_BODIES = 60
WARM_UP_SECONDS = 10
VARIANTS = [{"key": "control", "weight": 1}, {"key": "treatment", "weight": 1}]


@dataclass(frozen=True)
class AssignRow:
    """One row of the table of assignments."""

    name: str
    requests_per_second: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    max_ms: float
    cpu_us: float
    # Ingested during the measurement.
    spans_per_second: float


def measure_assign(folder: Path, scale: Scale) -> list[dict[str, Any]]:
    data, pool = folder / "assign", folder / "pool-assign"
    data.mkdir()
    write_pool(pool, BODY_SPANS, POOL_BODIES)
    with run_service(data, free_port()) as service:
        rows = _measure_all(service, pool, scale.assign_requests)
    return [asdict(row) for row in rows]


def _measure_all(service: Service, pool: Path, requests: int) -> list[AssignRow]:
    """Measure new and known units, first without other load, then during ingest."""
    experiment = _start_experiment(service)
    rows = [
        _measure(service, experiment, "new units", requests, requests),
        _measure(service, experiment, "known units", requests, 1000),
    ]
    task = IngestTask(service.port, service.key, str(pool), 4, 10**6, is_packed=False)
    for spans in (INGEST_SPANS_PER_SECOND // 2, INGEST_SPANS_PER_SECOND):
        with keep_sending(replace(task, seconds_between=BODY_SPANS / spans)):
            # Warm-up: the first batches of a workspace look up the prices of its models.
            time.sleep(WARM_UP_SECONDS)
            load = f"{spans:,} spans/s ingested"
            other = _start_experiment(service)
            rows.append(_measure(service, other, f"new units, {load}", requests, requests))
            rows.append(_measure(service, experiment, f"known units, {load}", requests, 1000))
    with keep_sending(replace(task, connections=1)):
        name = "known units, ingest at full speed"
        rows.append(_measure(service, experiment, name, requests, 1000))
    return rows


def _start_experiment(service: Service) -> str:
    body = {"name": f"bench {time.time_ns()}", "variants": VARIANTS}
    made = service.http.post("/experiments", json=body).raise_for_status().json()["data"]
    service.http.post(f"/experiments/{made['id']}/start").raise_for_status()
    return str(made["id"])


def _measure(service: Service, experiment: str, name: str, requests: int, units: int) -> AssignRow:
    task = Task(service.port, service.key, experiment, CONNECTIONS, requests, units)
    cpu, spans, started = service.cpu_seconds(), _count_spans(service), time.perf_counter()
    outcome = run_module("bench.assign_load", json.dumps(asdict(task)))
    sent = (_count_spans(service) - spans) / (time.perf_counter() - started)
    return AssignRow(
        name=name,
        requests_per_second=requests / outcome.pop("seconds"),
        cpu_us=(service.cpu_seconds() - cpu) / requests * 1e6,
        spans_per_second=sent,
        **outcome,
    )


def _count_spans(service: Service) -> float:
    """Return how many spans the service has acknowledged."""
    text = service.http.get(f"http://127.0.0.1:{service.port}/metrics").raise_for_status().text
    found = re.search(r'^spanwise_ingest_items_total\{kind="traces"\} (\S+)$', text, re.MULTILINE)
    return float(found[1]) if found else 0
