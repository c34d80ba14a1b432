"""Measures each product alone: start, ingest, reads, memory and disk."""

import json
import subprocess
import time
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

import httpx

from bench.load import Task
from bench.payload import RARE_WORD, SPANS_PER_TRACE
from bench.peers.install import SkippedPeerError
from bench.peers.mlflow import MLflow
from bench.peers.payload import BODY_SPANS, Contents, Payload, write_payload
from bench.peers.phoenix import Phoenix
from bench.peers.process_tree import OtherLoad, PeakMemory, wait_until_idle
from bench.peers.product import LIST_SIZE, Answer, Period, Product, Question, Running, ask, send
from bench.peers.spanwise import Spanwise
from bench.scale import Scale
from bench.service import run_module

# A product that is slower gets fewer spans.
_SEND_SECONDS = 180
_STORE_SECONDS = 900
_IDLE_SECONDS = 90
_QUESTION_MS = 20_000
_MIN_REPEATS = 3


def measure_peers(folder: Path, scale: Scale) -> dict[str, Any]:
    payload = write_payload(folder, scale.peer_spans)
    runs: list[dict[str, Any]] = []
    skipped: list[str] = []
    for product in (Spanwise(), Phoenix(), MLflow()):
        try:
            runs.append(measure_product(product, folder, payload, payload.bodies, scale))
        except SkippedPeerError as reason:
            skipped.append(str(reason))
    # A peer that stored fewer spans is compared with Spanwise at that size.
    sizes = sorted({run["bodies"] for run in runs} - {payload.bodies})
    runs += [measure_product(Spanwise(), folder, payload, bodies, scale) for bodies in sizes]
    return {"body_spans": BODY_SPANS, "runs": runs, "skipped": skipped}


def measure_product(
    product: Product, folder: Path, payload: Payload, bodies: int, scale: Scale
) -> dict[str, Any]:
    data = folder / f"{product.name.lower()}-{bodies}"
    data.mkdir()
    with product.run(data) as running, PeakMemory(running.pid) as memory:
        others = OtherLoad(running.pid)
        wait_until_idle(running.pid, _IDLE_SECONDS)
        empty_bytes = measure_folder(data)
        written = _measure_writes(product, running, payload, bodies)
        wait_until_idle(running.pid, _IDLE_SECONDS)
        contents = payload.describe(written["bodies"])
        reads, wrong = _measure_reads(product, running.http, contents, scale.peer_repeats)
        load_of_others = others.share()
    return {
        "product": product.name,
        "version": product.version,
        "spans": contents.spans,
        **written,
        "reads": reads,
        "disk_bytes_per_span": (measure_folder(data) - empty_bytes) / contents.spans,
        "peak_memory_mb": memory.megabytes,
        "start_seconds": running.start_seconds,
        "load_of_others": load_of_others,
        "notes": [*product.notes, *wrong],
    }


def measure_folder(folder: Path) -> int:
    """Return the bytes that a folder occupies on disk; files may vanish meanwhile."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_blocks * 512
        except FileNotFoundError:
            continue
    return total


def _measure_writes(
    product: Product, running: Running, payload: Payload, bodies: int
) -> dict[str, Any]:
    _warm_up(product, running, payload.warm_up)
    before = len(payload.warm_up) * SPANS_PER_TRACE
    task = Task(
        port=running.port,
        key="",
        pool=str(payload.pool),
        connections=1,
        requests=bodies,
        is_packed=False,
        path=running.export_path,
        headers=running.export_headers,
        is_verbatim=True,
        max_seconds=_SEND_SECONDS,
    )
    try:
        outcome = run_module("bench.load", json.dumps(asdict(task)))
    except subprocess.CalledProcessError as error:
        name = f"{product.name} {product.version}"
        raise SkippedPeerError(f"{name} was skipped: it refused the spans.") from error
    acks = sorted(outcome["acks_ms"])
    sent = len(acks) * BODY_SPANS
    _wait_until_stored(product, running.http, before + sent)
    return {
        "bodies": len(acks),
        "stored_per_second": sent / (time.time() - outcome["started_at"]),
        "ack_p50_ms": acks[len(acks) // 2],
        "ack_p99_ms": acks[int(len(acks) * 0.99)],
        "refused": outcome["refused"],
    }


def _warm_up(product: Product, running: Running, bodies: list[bytes]) -> None:
    headers = {"Content-Type": "application/x-protobuf", **running.export_headers}
    url = f"http://127.0.0.1:{running.port}{running.export_path}"
    for body in bodies:
        httpx.post(url, content=body, headers=headers, timeout=120).raise_for_status()
    _wait_until_stored(product, running.http, len(bodies) * SPANS_PER_TRACE)


def _wait_until_stored(product: Product, http: httpx.Client, spans: int) -> None:
    """Wait until a read counts all spans that were acknowledged."""
    question, started = product.count_spans(), time.perf_counter()
    while question.parse(ask(http, question))["spans"] < spans:
        waited = time.perf_counter() - started
        if waited > _STORE_SECONDS:
            name = f"{product.name} {product.version}"
            raise SkippedPeerError(f"{name} was skipped: it did not store what it acknowledged.")
        # Counting costs the product time, so that a long wait counts less often.
        time.sleep(max(0.02, waited / 50))


def _measure_reads(
    product: Product, http: httpx.Client, contents: Contents, repeats: int
) -> tuple[dict[str, float | None], list[str]]:
    """Return the median time of each question, and a note on each answer that is wrong."""
    # A full hour, a day ago, as an hourly chart asks for it.
    now = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    period = Period(now - timedelta(hours=23), now + timedelta(hours=1))
    traces, errors = contents.traces, contents.errors
    expected = {
        "list": {"traces": LIST_SIZE},
        "trace": {"spans": SPANS_PER_TRACE},
        "summary": {"traces": traces, "errors": errors, "tokens": contents.tokens},
        "series": {"traces": traces, "errors": errors},
        "search": {"traces": 1},
    }
    step = max(1, traces // (repeats + 1))
    trace_ids = iter(contents.trace_ids[::step])
    questions: dict[str, Callable[[], Question | None]] = {
        "list": product.list_traces,
        "trace": lambda: product.read_trace(next(trace_ids)),
        "summary": lambda: product.summarize(period),
        "series": lambda: product.count_per_hour(period),
        "search": lambda: product.search(RARE_WORD),
    }
    times: dict[str, float | None] = {}
    wrong = []
    for name, make_question in questions.items():
        question = make_question()
        if question is None:
            times[name] = None
            continue
        answer = question.parse(ask(http, question))
        if answer != expected[name]:
            wrong.append(describe_difference(product.name, name, answer, expected[name]))
        times[name] = _time_median(http, make_question, repeats)
    return times, wrong


def describe_difference(product: str, question: str, answer: Answer, expected: Answer) -> str:
    parts = [
        f"{answer[name]:,} instead of {expected[name]:,} {name}"
        for name in expected
        if answer[name] != expected[name]
    ]
    return f"{product} answers the question `{question}` with {' and '.join(parts)}."


def _time_median(
    http: httpx.Client, make_question: Callable[[], Question | None], repeats: int
) -> float:
    """Time a question repeatedly, with fewer repeats if it is slow."""
    times: list[float] = []
    while len(times) < repeats and (len(times) < _MIN_REPEATS or sum(times) < _QUESTION_MS):
        times.append(_time(http, make_question()))
    return median(times)


def _time(http: httpx.Client, question: Question | None) -> float:
    """Return the milliseconds until the responses have arrived."""
    if question is None:
        raise ValueError("a question that was answered once can be asked again")
    started = time.perf_counter()
    send(http, question)
    return (time.perf_counter() - started) * 1000
