"""OTLP responses: export messages, and google.rpc.Status for errors."""

from google.protobuf import json_format
from google.protobuf.message import Message
from google.rpc import code_pb2
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from starlette.responses import Response

from spanwise.api.http.errors import SERVICE_UNAVAILABLE, STATUS
from spanwise.api.http.headers import parse_media_type
from spanwise.ingest.compression import TooLarge
from spanwise.ingest.otlp.prepare import Prepared
from spanwise.ingest.records.record import Kind
from spanwise.model.errors import Code, RateLimited, SpanwiseError, Unavailable

PROTOBUF = "application/x-protobuf"
JSON = "application/json"
_MEDIA_TYPES = {PROTOBUF: PROTOBUF, "application/protobuf": PROTOBUF, JSON: JSON}

_RPC_CODES = {
    Code.VALIDATION_ERROR: code_pb2.INVALID_ARGUMENT,
    Code.UNAUTHORIZED: code_pb2.UNAUTHENTICATED,
    Code.FORBIDDEN: code_pb2.PERMISSION_DENIED,
    Code.NOT_FOUND: code_pb2.NOT_FOUND,
    Code.RATE_LIMITED: code_pb2.RESOURCE_EXHAUSTED,
    Code.INTERNAL_ERROR: code_pb2.INTERNAL,
}
_CONTENT_TOO_LARGE = 413
# An export response without `partial_success` is an empty message.
ACCEPTED_PROTOBUF = b""

_RESPONSES: dict[Kind, tuple[type[Message], str]] = {
    Kind.TRACES: (ExportTraceServiceResponse, "rejected_spans"),
    Kind.LOGS: (ExportLogsServiceResponse, "rejected_log_records"),
    Kind.METRICS: (ExportMetricsServiceResponse, "rejected_data_points"),
}


def export_message(kind: Kind, prepared: Prepared) -> Message:
    """Build the export response; `partial_success` is set only when something was rejected."""
    message, rejected_field = _RESPONSES[kind]
    if not prepared.rejected:
        return message()
    partial = {rejected_field: prepared.rejected, "error_message": prepared.reason}
    return message(partial_success=partial)


def otlp_response(message: Message, media_type: str, status: int = 200) -> Response:
    body = (
        json_format.MessageToJson(message, indent=None).encode()
        if media_type == JSON
        else message.SerializeToString()
    )
    return Response(body, status, media_type=media_type)


def otlp_error_response(error: SpanwiseError, content_type: str) -> Response:
    """Encode an error in the request's format, or as JSON when that format is unknown.

    Exporters drop data on 400 and retry on 429 and 503, so invalid data is never 5xx and a
    temporary failure is always 503.
    """
    media_type = parse_otlp_media_type(content_type) or JSON
    status = STATUS[error.code]
    if isinstance(error, TooLarge):
        status = _CONTENT_TOO_LARGE
    elif isinstance(error, Unavailable):
        status = SERVICE_UNAVAILABLE
    message = Status(code=to_rpc_code(error), message=error.message)
    response = otlp_response(message, media_type, status)
    if isinstance(error, RateLimited | Unavailable):
        response.headers["Retry-After"] = str(error.retry_after_seconds)
    return response


def crash_error() -> SpanwiseError:
    """Return the error sent to an exporter after an unexpected exception."""
    return SpanwiseError("internal error; the server log has the details")


def to_rpc_code(error: SpanwiseError) -> int:
    return int(code_pb2.UNAVAILABLE if isinstance(error, Unavailable) else _RPC_CODES[error.code])


def parse_otlp_media_type(content_type: str) -> str | None:
    """Return the request's encoding, JSON or protobuf; None when it is neither."""
    return _MEDIA_TYPES.get(parse_media_type(content_type))
