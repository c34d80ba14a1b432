"""Measures what masking adds to preparing an export, and to ingest over HTTP.

Runs alternate between the rules, so that other load on the machine affects all of them.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from bench.payload import Writer, make_body, write_pool
from bench.scale import Scale
from bench.service import free_port, run_module, run_service
from bench.writes import measure_write
from spanwise.ingest.masking.masker import Masker
from spanwise.ingest.otlp.prepare import prepare_traces
from spanwise.ingest.records.record import Kind
from spanwise.model.masking import Detector, MaskingMode, MaskingPattern, MaskingRules

SPANS_PER_BODY = 200
BODIES = 20
# A tenth of the spans has something to mask.
PLANTED_EVERY = 10
_PLANTED = (
    " write to ann.bee@example.com or call +49 171 1234567",
    " card 4111 1111 1111 1111, IBAN DE89 3704 0044 0532 0130 00",
    " from 192.168.17.4 with Authorization: Bearer 3f9a7c0e5d1b4a68",
)
_PATTERNS = [MaskingPattern(name=f"own{n}", regex=rf"\bEMP{n}-[0-9]{{6}}\b") for n in range(5)]
RULES = {
    "no masking": None,
    "one detector": MaskingRules(mode=MaskingMode.MASK, detectors=[Detector.EMAIL]),
    "six detectors": MaskingRules(mode=MaskingMode.MASK, detectors=list(Detector)),
    "six detectors, five patterns": MaskingRules(
        mode=MaskingMode.MASK, detectors=list(Detector), patterns=_PATTERNS
    ),
    "metadata only": MaskingRules(mode=MaskingMode.METADATA_ONLY),
}


_INGEST_CONNECTIONS = 4


def measure_masking(folder: Path, scale: Scale) -> dict[str, Any]:
    return {
        "prepare": run_module("bench.masking", str(scale.masking_rounds)),
        "ingest": _measure_ingest(folder, scale),
    }


def _measure_ingest(folder: Path, scale: Scale) -> dict[str, dict[str, float]]:
    data, pool = folder / "masking", folder / "pool-masking"
    data.mkdir()
    size = scale.writes[SPANS_PER_BODY]
    write_pool(pool, SPANS_PER_BODY, size.pool_bodies)
    runs: dict[str, list[float]] = {name: [] for name in RULES}
    with run_service(data, free_port()) as service:
        (workspace,) = service.http.get("/workspaces").raise_for_status().json()["data"]
        for _ in range(scale.masking_ingest_rounds):
            for name, rules in RULES.items():
                service.http.put(
                    f"/workspaces/{workspace['id']}/masking",
                    json=(rules or MaskingRules(mode=MaskingMode.OFF)).model_dump(mode="json"),
                ).raise_for_status()
                write = measure_write(
                    service,
                    pool,
                    SPANS_PER_BODY,
                    _INGEST_CONNECTIONS,
                    size.requests // 10,
                    is_packed=False,
                )
                runs[name].append(write.visible_per_second)
    return {
        name: {"spans_per_second": median(rates), "slowest": min(rates)}
        for name, rates in runs.items()
    }


def measure_prepare(rounds: int) -> dict[str, dict[str, float]]:
    bodies = _make_bodies()
    prepare = {name: _make_prepare(rules) for name, rules in RULES.items()}
    seconds: dict[str, list[float]] = {name: [] for name in RULES}
    for _ in range(rounds):
        for name, run in prepare.items():
            started = time.process_time()
            for body in bodies:
                run(body)
            seconds[name].append(time.process_time() - started)
    spans = SPANS_PER_BODY * BODIES
    return {
        name: {
            "spans_per_second": spans / median(times),
            "us_per_span": 1e6 * median(times) / spans,
        }
        for name, times in seconds.items()
    }


def _make_bodies() -> list[bytes]:
    writer = Writer(1)
    bodies = []
    for _ in range(BODIES):
        request = ExportTraceServiceRequest.FromString(make_body(writer, SPANS_PER_BODY))
        spans = request.resource_spans[0].scope_spans[0].spans
        for number, span in enumerate(spans[::PLANTED_EVERY]):
            longest = max(span.attributes, key=lambda pair: len(pair.value.string_value))
            longest.value.string_value += _PLANTED[number % len(_PLANTED)]
        bodies.append(request.SerializeToString())
    return bodies


def _make_prepare(rules: MaskingRules | None) -> Callable[[bytes], Any]:
    masker = Masker(rules) if rules is not None else None

    def run(body: bytes) -> None:
        request = ExportTraceServiceRequest.FromString(body)
        if masker is None:
            prepare_traces(request, "wsp_bench", body)
        else:
            masker.mask_export(Kind.TRACES, request)
            prepare_traces(request, "wsp_bench")

    return run


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure_prepare(int(sys.argv[1]))))
