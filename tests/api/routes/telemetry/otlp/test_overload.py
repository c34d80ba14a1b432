"""While the store is behind, small exports overtake large ones; aggregates stay correct."""

import asyncio
from pathlib import Path

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from spanwise.ingest.commit import backlog, queue
from support.ids import new_span_id, new_trace_id
from support.otlp import Exporter, make_span, make_traces
from support.service import start_service

LARGE_SPANS = 10
TRACES = 2
LIMIT_BYTES = 2**18


def _large_and_small(trace_id: str) -> tuple[list[Span], list[Span]]:
    """Return most of a trace in 1 MB, and one failed call of it in a few bytes."""
    trace, root = bytes.fromhex(trace_id), bytes.fromhex(new_span_id())
    large = [
        make_span(
            trace,
            root if number == 0 else None,
            parent=b"" if number == 0 else root,
            spanwise__kind="embedding",
            gen_ai__usage__input_tokens=10,
            notes=f"{number:06}" * 17_000,
        )
        for number in range(LARGE_SPANS)
    ]
    small = make_span(trace, parent=root, spanwise__kind="embedding", gen_ai__usage__input_tokens=3)
    small.status.code = Status.STATUS_CODE_ERROR
    return large, [small]


async def test_a_trace_is_complete_when_small_exports_overtake_large_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Lower the limits: one large request fills a group and a batch, and delays the store.
    for limit in ("PACED_BYTES", "LINGER_BYTES", "BATCH_BYTES"):
        monkeypatch.setattr(backlog, limit, LIMIT_BYTES)
    monkeypatch.setattr(queue, "GROUP_BYTES", LIMIT_BYTES)
    async with start_service(tmp_path) as service:
        person = await service.sign_up()
        exporter = Exporter(service.http, (await person.new_key(scopes=["ingest"]))["key"])
        stored: list[int] = []

        async def send(number: int, spans: list[Span]) -> None:
            response = await exporter.post(make_traces(spans))
            assert response.status_code == 200
            stored.append(number)

        # The throughput is measured on the last large batch.
        await send(-1, _large_and_small(new_trace_id())[0])
        await service.services.ingest.pipeline.wait_until_visible()
        ids = [new_trace_id() for _ in range(TRACES)]
        exports = [spans for trace_id in ids for spans in _large_and_small(trace_id)]
        async with asyncio.TaskGroup() as sending:
            for number, spans in enumerate(exports):
                sending.create_task(send(number, spans))
        assert stored != sorted(stored), "nothing was overtaken"
        found = {trace["traceId"]: trace for trace in await person.data("GET", "/spans/traces")}
        sums = [
            tuple(found[trace_id][name] for name in ("spanCount", "errorCount", "inputTokens"))
            for trace_id in ids
        ]
        assert sums == [(LARGE_SPANS + 1, 1, 10 * LARGE_SPANS + 3)] * TRACES
