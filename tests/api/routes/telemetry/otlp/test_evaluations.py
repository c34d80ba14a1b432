"""Evaluation results over OTLP are found among the signals."""

from typing import Any

import orjson
import pytest
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from support.otlp import JSON, PROTOBUF, Exporter, make_logs, make_span, make_traces, pairs
from support.service import Person


async def test_annotations_of_a_span(exporter: Exporter, person: Person) -> None:
    judged = {"name": "helpful", "score": 0.75, "label": "good", "explanation": "says how"}
    values: dict[str, Any] = {f"annotations.0.annotation.{k}": v for k, v in judged.items()}
    span = make_span(**values)
    for _ in range(2):
        assert (await exporter.post(make_traces([make_span(), span]))).status_code == 200
    [signal] = await person.data("GET", "/signals", params={"traceId": span.trace_id.hex()})
    assert (signal["signalName"], signal["value"]) == ("helpful", 0.75)
    assert (signal["comment"], signal["metadata"]) == ("says how", {"label": "good"})
    assert signal["spanId"] == span.span_id.hex()


def as_json(request: ExportLogsServiceRequest) -> bytes:
    values = MessageToDict(request)
    [record] = values["resourceLogs"][0]["scopeLogs"][0]["logRecords"]
    [original] = request.resource_logs[0].scope_logs[0].log_records
    record["traceId"] = original.trace_id.hex()
    return orjson.dumps(values)


@pytest.mark.parametrize("content_type", [PROTOBUF, JSON])
async def test_log_records(exporter: Exporter, person: Person, content_type: str) -> None:
    span = make_span()
    request = make_logs(trace_id=span.trace_id)
    [record] = request.resource_logs[0].scope_logs[0].log_records
    record.event_name = "gen_ai.evaluation.result"
    result = {"name": "relevance", "score.value": 0.5, "score.label": "fair"}
    record.attributes.extend(pairs({f"gen_ai.evaluation.{k}": v for k, v in result.items()}))
    body = as_json(request) if content_type == JSON else request
    for _ in range(2):
        response = await exporter.post(body, "/api/otlp/v1/logs", content_type)
        assert response.status_code == 200, response.text
    [signal] = await person.data("GET", "/signals", params={"traceId": span.trace_id.hex()})
    assert (signal["signalName"], signal["value"]) == ("relevance", 0.5)
    assert signal["metadata"] == {"label": "fair"}
    [log] = await person.data("GET", "/logs", params={"traceId": span.trace_id.hex()})
    assert log["message"] == "hello"
