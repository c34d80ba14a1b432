"""A call that a coding agent reports as a span and as a log record counts once, on both engines."""

import os
import time
from pathlib import Path
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from spanwise.ingest.commit.engine_store import EngineStore
from spanwise.ingest.otlp import prepare as otlp
from spanwise.ingest.records.record import Record
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.query import query_rows
from spanwise.storage.telemetry.write.writer import TelemetryWriter
from support.otlp import make_span, make_traces, pairs

CALL: dict[str, Any] = {
    "request_id": "req_1",
    "model": "claude-sonnet-4-5",
    "input_tokens": 40,
    "output_tokens": 2,
}


def _record(workspace: str, trace_id: bytes) -> tuple[Record, ...]:
    request = ExportLogsServiceRequest()
    resource = request.resource_logs.add()
    resource.resource.attributes.extend(pairs({"service.name": "claude-code"}))
    record = resource.scope_logs.add().log_records.add(
        time_unix_nano=time.time_ns(), trace_id=trace_id, span_id=b"8 bytes."
    )
    record.attributes.extend(pairs({"event.name": "api_request", **CALL}))
    return otlp.prepare_logs(request, workspace).records


def _span(workspace: str, trace_id: bytes) -> tuple[Record, ...]:
    call = make_span(trace_id, name="claude_code.llm_request", parent=b"8 bytes.", **CALL)
    root = make_span(trace_id, b"8 bytes.", name="claude_code.interaction")
    request = make_traces([call, root], service="claude-code")
    return otlp.prepare_traces(request, workspace).records


def _traces(engine: Engine, workspace: str) -> list[dict[str, Any]]:
    with engine.client() as client:
        return query_rows(
            client,
            """SELECT input_tokens, output_tokens, span_count, model_calls FROM traces FINAL
            WHERE workspace = {workspace:String}""",
            {"workspace": workspace},
        )


def test_a_call_counts_once_in_its_trace_in_any_order(
    engine: Engine, writer: TelemetryWriter, tmp_path: Path
) -> None:
    orders = [f"wsp_{order}_{os.urandom(4).hex()}" for order in ("record", "span", "both")]
    record_first, span_first, at_once = orders
    trace_id = os.urandom(16)
    store = EngineStore(writer, tmp_path, lambda _agents: None)
    # Versions ascend in the order of the queue.
    batches = [
        _record(record_first, trace_id)
        + _span(span_first, trace_id)
        + _record(at_once, trace_id)
        + _span(at_once, trace_id),
        _span(record_first, trace_id) + _record(span_first, trace_id),
    ]
    for batch in batches:
        store.insert(batch)
        store.finish(batch)
    expected = {"input_tokens": 40, "output_tokens": 2, "span_count": 2, "model_calls": [1]}
    assert [_traces(engine, workspace) for workspace in orders] == [[expected]] * 3
    # Replay after a crash, and reaggregation.
    for batch in batches:
        store.insert(batch)
        store.finish(batch)
    writer.reaggregate_settled(0)
    assert [_traces(engine, workspace) for workspace in orders] == [[expected]] * 3
