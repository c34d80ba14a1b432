"""How fast variants are handed out, alone and beside ingest."""

import json
import re
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from bench.analytics import INGEST_SPANS_PER_SECOND, sending
from bench.assign_load import Task
from bench.load import Task as IngestTask
from bench.service import Service, run_module

CONNECTIONS = 4
BODY_SPANS = 200
WARM_UP_SECONDS = 10
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
    # What came in beside it in the same time.
    spans_per_second: float


def measure_assign(service: Service, pool: Path, requests: int) -> list[Assign]:
    """Ask for units that come once and for units that come again; then again beside ingest."""
    experiment = _start_experiment(service)
    rows = [
        _measure(service, experiment, "new units", requests, requests),
        _measure(service, experiment, "units seen before", requests, 1000),
    ]
    task = IngestTask(service.port, service.key, str(pool), 4, 10**6, is_packed=False)
    for spans in (INGEST_SPANS_PER_SECOND // 2, INGEST_SPANS_PER_SECOND):
        with sending(replace(task, seconds_between=BODY_SPANS / spans)):
            # The first batches of a workspace teach the service its models' prices.
            time.sleep(WARM_UP_SECONDS)
            name = f"beside {spans:,} spans/s"
            other = _start_experiment(service)
            rows.append(_measure(service, other, f"new, {name}", requests, requests))
            rows.append(_measure(service, experiment, f"seen, {name}", requests, 1000))
    with sending(replace(task, connections=1)):
        rows.append(_measure(service, experiment, "seen, beside all it can take", requests, 1000))
    return rows


def _start_experiment(service: Service) -> str:
    body = {"name": f"bench {time.time_ns()}", "variants": VARIANTS}
    made = service.http.post("/experiments", json=body).raise_for_status().json()["data"]
    service.http.post(f"/experiments/{made['id']}/start").raise_for_status()
    return str(made["id"])


def _measure(service: Service, experiment: str, name: str, requests: int, units: int) -> Assign:
    task = Task(service.port, service.key, experiment, CONNECTIONS, requests, units)
    cpu, spans, started = service.cpu_seconds(), _count_spans(service), time.perf_counter()
    outcome = run_module("bench.assign_load", json.dumps(asdict(task)))
    sent = (_count_spans(service) - spans) / (time.perf_counter() - started)
    return Assign(
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
