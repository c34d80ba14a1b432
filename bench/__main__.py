"""`make bench`: measures the service, and how often its experiments err; prints tables, keeps JSON.

BENCH_QUICK=1 takes some minutes less. BENCH_PARTS=writes,alerts runs only those parts.
"""

import json
import os
import platform
import tempfile
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.analytics import measure_analytics, show_analytics
from bench.assign import BODY_SPANS, Assign, measure_assign
from bench.load import Task
from bench.payload import make_rare_body, write_pool
from bench.peeking import RUNS
from bench.peeking import SIZES as PEEKING_SIZES
from bench.reads import time_reads
from bench.service import Service, free_port, run_engine, run_module, run_service

QUICK = bool(os.environ.get("BENCH_QUICK"))
ALL_PARTS = "writes,reads,analytics,assign,alerts,results,peeking"
PARTS = os.environ.get("BENCH_PARTS", ALL_PARTS).split(",")
RESULTS = Path(__file__).parent / "results"
# Spans a body -> bodies in the pool, requests a measurement.
SIZES = {8: (2000, 12_000), 200: (200, 2000), 1600: (48, 250)}
QUICK_SIZES = {8: (500, 1500), 200: (60, 200), 1600: (12, 40)}
READ_SIZES = (200_000,) if QUICK else (1_000_000, 10_000_000)
ASSIGN_REQUESTS = 5000 if QUICK else 20_000
UNITS = 100_000 if QUICK else 1_000_000
PEEKING_RUNS = 50 if QUICK else RUNS
TEMPLATE_SPANS = 50_000 if QUICK else 100_000
console = Console(width=140)


@dataclass(frozen=True)
class Write:
    """One cell of the table of writes."""

    body_spans: int
    connections: int
    is_packed: bool
    requests: int
    acknowledged_per_second: float
    visible_per_second: float
    requests_per_second: float
    ack_p50_ms: float
    ack_p99_ms: float
    cpu_seconds_per_1000: float
    refused: int


def main() -> None:
    results: dict[str, Any] = {
        "at": datetime.now(UTC).isoformat(),
        "cores": os.cpu_count(),
        "load_before": os.getloadavg(),
        "python": platform.python_version(),
        "is_quick": QUICK,
    }
    with tempfile.TemporaryDirectory(prefix="spanwise-bench-") as name:
        folder = Path(name)
        if "writes" in PARTS:
            results |= measure_writes(folder)
        if "reads" in PARTS:
            results["reads"] = {str(size): measure_reads(folder, size) for size in READ_SIZES}
        if "analytics" in PARTS:
            results["analytics"] = {str(size): ask_analytics(folder, size) for size in READ_SIZES}
        if "assign" in PARTS:
            results["assign"] = measure_assignments(folder)
        if "alerts" in PARTS:
            results["alerts"] = run_module("bench.alerts", str(folder / "alerts"))
            show_alerts(results["alerts"])
        if "results" in PARTS:
            results["results"] = run_module("bench.results", str(folder / "results"), str(UNITS))
            show_results(results["results"])
        if "peeking" in PARTS:
            results["peeking"] = run_module("bench.peeking", str(PEEKING_RUNS))
            show_peeking(results["peeking"])
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{datetime.now(UTC):%Y%m%d-%H%M%S}{'-quick' if QUICK else ''}.json"
    path.write_text(json.dumps(results, indent=2) + "\n")
    console.print(f"kept as {path}")


def measure_writes(folder: Path) -> dict[str, Any]:
    sizes = QUICK_SIZES if QUICK else SIZES
    pools = {spans: folder / f"pool-{spans}" for spans in sizes}
    for spans, (bodies, _) in sizes.items():
        write_pool(pools[spans], spans, bodies)
    place = folder / "writes"
    place.mkdir()
    with run_service(place, free_port()) as service:
        cold_start = service.start_seconds
        # The first spans of a model make ingest look up its price: once, not what is measured.
        load(service, pools[1600], 4, 4, is_packed=False)
        writes = [
            measure_write(service, pools[spans], spans, connections, requests, is_packed=is_packed)
            for spans, (_, requests) in sizes.items()
            for connections in ((4, 16) if QUICK else (1, 4, 16))
            for is_packed in (False, True)
            if not (QUICK and is_packed and spans != 1600)
        ]
        peak = service.peak_memory_mb()
    store = place / "data" / "telemetry"
    bare = {
        name: run_engine("bare", where, pools[1600], sizes[1600][1])
        for name, where in (("empty", folder / "bare"), ("filled", store))
    }
    disk = run_engine("disk", store)
    show_writes(writes, {name: run["spans_per_second"] for name, run in bare.items()})
    for name, run in bare.items():
        console.print(
            f"bare engine, {name} tables: {run['spans_per_second']:,.0f} spans/s, "
            f"{run['cpu_seconds_per_1000']:.3f} CPU s/1000"
        )
    console.print(
        f"disk {disk['bytes_per_span']:.0f} B/span "
        f"after merges · peak memory {peak:,.0f} MB · cold start {cold_start:.2f} s\n"
    )
    return {
        "writes": [asdict(write) for write in writes],
        "bare_engine": bare,
        "disk": disk,
        "peak_memory_mb": peak,
        "cold_start_seconds": cold_start,
    }


def measure_write(
    service: Service, pool: Path, spans: int, connections: int, requests: int, *, is_packed: bool
) -> Write:
    before, cpu = service.total_traces(), service.cpu_seconds()
    outcome = load(service, pool, connections, requests, is_packed=is_packed)
    waited = time.perf_counter()
    # A read waits for all that was acknowledged before it.
    stored = (service.total_traces() - before) * 8
    waited = time.perf_counter() - waited
    sent = spans * requests
    if stored != sent:
        raise RuntimeError(f"{sent} spans were acknowledged, {stored} can be read")
    acks = sorted(outcome["acks_ms"])
    return Write(
        body_spans=spans,
        connections=connections,
        is_packed=is_packed,
        requests=requests,
        acknowledged_per_second=sent / outcome["seconds"],
        visible_per_second=sent / (outcome["seconds"] + waited),
        requests_per_second=requests / outcome["seconds"],
        ack_p50_ms=acks[len(acks) // 2],
        ack_p99_ms=acks[int(len(acks) * 0.99)],
        cpu_seconds_per_1000=1000 * (service.cpu_seconds() - cpu) / sent,
        refused=outcome["refused"],
    )


def load(
    service: Service, pool: Path, connections: int, requests: int, *, is_packed: bool
) -> dict[str, Any]:
    task = Task(service.port, service.key, str(pool), connections, requests, is_packed)
    return run_module("bench.load", json.dumps(asdict(task)))


def measure_reads(folder: Path, spans: int) -> dict[str, Any]:
    place = folder / f"reads-{spans}"
    place.mkdir()
    pool = folder / "pool-template"
    if not pool.exists():
        write_pool(pool, 1600, TEMPLATE_SPANS // 1600)
    with run_service(place, free_port()) as service:
        load(service, pool, 4, TEMPLATE_SPANS // 1600, is_packed=False)
        service.total_traces()
    grown = run_engine("grow", place / "data" / "telemetry", spans)
    with run_service(place, free_port()) as service:
        cold_start = service.start_seconds
        headers = {"Content-Type": "application/x-protobuf"}
        service.http.post("/otlp/v1/traces", content=make_rare_body(), headers=headers)
        _send_signals(service)
        reads = time_reads(service, 10 if QUICK else 40)
        peak = service.peak_memory_mb()
    show_reads(reads, grown["spans"])
    console.print(f"cold start {cold_start:.2f} s · peak memory {peak:,.0f} MB\n")
    return {**grown, "cold_start_seconds": cold_start, "peak_memory_mb": peak, "reads": reads}


def ask_analytics(folder: Path, spans: int) -> dict[str, Any]:
    place = folder / f"analytics-{spans}"
    place.mkdir()
    pool = folder / "pool-analytics"
    if not pool.exists():
        write_pool(pool, 200, 50)
    answer = measure_analytics(place, pool, 200, spans, 5 if QUICK else 60)
    show_analytics(console, answer, spans)
    return answer


def measure_assignments(folder: Path) -> list[dict[str, Any]]:
    place, pool = folder / "assign", folder / "pool-assign"
    place.mkdir()
    write_pool(pool, BODY_SPANS, 60)
    with run_service(place, free_port()) as service:
        rows = measure_assign(service, pool, ASSIGN_REQUESTS)
    show_assignments(rows)
    return [asdict(row) for row in rows]


def _send_signals(service: Service) -> None:
    for batch in range(20):
        signals = [{"signalName": f"score-{n % 5}", "value": n + batch} for n in range(1000)]
        answer = service.http.post("/signals/batch", json={"signals": signals})
        answer.raise_for_status()


def show_writes(writes: list[Write], bare: dict[str, float]) -> None:
    table = Table(title="Writes")
    for heading in (
        "spans/body", "connections", "encoding", "acked/s", "visible/s",
        *(f"of bare, {name}" for name in bare),
        "requests/s", "ack p50 ms", "ack p99 ms", "CPU s/1000", "503",
    ):  # fmt: skip
        table.add_column(heading, justify="right")
    for write in writes:
        table.add_row(
            str(write.body_spans),
            str(write.connections),
            "gzip" if write.is_packed else "plain",
            f"{write.acknowledged_per_second:,.0f}",
            f"{write.visible_per_second:,.0f}",
            *(f"{write.visible_per_second / rate:.0%}" for rate in bare.values()),
            f"{write.requests_per_second:,.0f}",
            f"{write.ack_p50_ms:.1f}",
            f"{write.ack_p99_ms:.1f}",
            f"{write.cpu_seconds_per_1000:.3f}",
            str(write.refused),
        )
    console.print(table)


def show_reads(reads: dict[str, dict[str, float]], spans: float) -> None:
    table = Table(title=f"Reads at {spans:,.0f} spans")
    for heading in ("read", "p50 ms", "p95 ms", "found"):
        table.add_column(heading, justify="left" if heading == "read" else "right")
    for name, times in reads.items():
        if "status" in times:
            table.add_row(name, f"answers {times['status']:.0f}", "", "")
            continue
        found = f"{times['found']:,.0f}" if "found" in times else ""
        table.add_row(name, f"{times['p50_ms']:.1f}", f"{times['p95_ms']:.1f}", found)
    console.print(table)


def show_assignments(rows: list[Assign]) -> None:
    table = Table(title="Assignments")
    latencies = ("p50 ms", "p95 ms", "p99 ms", "max ms")
    for heading in ("units", "requests/s", *latencies, "CPU µs", "spans/s beside"):
        table.add_column(heading, justify="left" if heading == "units" else "right")
    for row in rows:
        times = (row.p50_ms, row.p95_ms, row.p99_ms, row.max_ms)
        table.add_row(
            row.name,
            f"{row.requests_per_second:,.0f}",
            *(f"{time_ms:.1f}" for time_ms in times),
            f"{row.cpu_us:,.0f}",
            f"{row.spans_per_second:,.0f}",
        )
    console.print(table)


def show_alerts(alerts: dict[str, Any]) -> None:
    table = Table(title=f"Evaluations of {alerts['rules']:,} alert rules of 1,000 agents")
    for heading in ("pass", "seconds", "CPU s"):
        table.add_column(heading, justify="left" if heading == "pass" else "right")
    for name in ("learning", "ordinary", "firing", "holding"):
        cost = alerts[name]
        table.add_row(name, f"{cost['seconds']:.2f}", f"{cost['cpu_seconds']:.2f}")
    console.print(table)


def show_results(results: dict[str, float]) -> None:
    console.print(
        f"results of an experiment of {results['units']:,} units: {results['seconds']:.2f} s, "
        f"{results['cpu_seconds']:.2f} CPU s\n"
    )


def show_peeking(peeking: dict[str, Any]) -> None:
    table = Table(title=f"Called significant without a difference, {peeking['runs']:,} runs")
    sizes = [f"{units:,}" for units in PEEKING_SIZES]
    for heading in ("metric", *(f"{split}, {n}" for split in ("50:50", "90:10") for n in sizes)):
        table.add_column(heading, justify="left" if heading == "metric" else "right")
    for row in peeking["called"]:
        table.add_row(row["metric"], *(f"{share:.1%}" for share in row["even"] + row["uneven"]))
    console.print(table)
    for name, share in peeking["missed"].items():
        console.print(f"{name}: the interval ever missed the truth in {share:.1%}")
    console.print(
        f"+10 % on 30 %: found with {peeking['units_to_find']:,.0f} units (median)\n"
        f"sample ratio: false alarms {peeking['false_invalid']:.3%}, "
        f"52:48 found by 20,000 units {peeking['found_52_48']:.1%}\n"
    )


if __name__ == "__main__":
    main()
