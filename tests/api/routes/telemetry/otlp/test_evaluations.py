"""Evaluation results over OTLP are found among the signals."""

from typing import Any

import orjson
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from support.otlp import JSON, PROTOBUF, Exporter, make_logs, make_span, make_traces, pairs
from support.service import Person

FORMATS = (PROTOBUF, JSON)


async def test_annotations_of_a_span_that_is_sent_again_are_one_signal(
    exporter: Exporter, person: Person
) -> None:
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


async def test_log_records_in_either_format_are_signals_and_logs(
    exporter: Exporter, person: Person
) -> None:
    requests = {content_type: make_logs(trace_id=make_span().trace_id) for content_type in FORMATS}
    result = {"name": "relevance", "score.value": 0.5, "score.label": "fair"}
    bodies: dict[str, Any] = {}
    for content_type, request in requests.items():
        [record] = request.resource_logs[0].scope_logs[0].log_records
        record.event_name = "gen_ai.evaluation.result"
        record.attributes.extend(pairs({f"gen_ai.evaluation.{k}": v for k, v in result.items()}))
        bodies[content_type] = as_json(request) if content_type == JSON else request
    for content_type, body in [*bodies.items()] * 2:
        response = await exporter.post(body, "/api/otlp/v1/logs", content_type)
        assert response.status_code == 200, response.text
    for request in requests.values():
        trace_id = request.resource_logs[0].scope_logs[0].log_records[0].trace_id.hex()
        [signal] = await person.data("GET", "/signals", params={"traceId": trace_id})
        assert (signal["signalName"], signal["value"]) == ("relevance", 0.5)
        assert signal["metadata"] == {"label": "fair"}
        [log] = await person.data("GET", "/logs", params={"traceId": trace_id})
        assert log["message"] == "hello"
