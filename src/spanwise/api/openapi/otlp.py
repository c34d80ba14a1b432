"""The OTLP paths in the OpenAPI document; the messages are defined by OTLP itself."""

from typing import Any

from spanwise.api.auth import may_ingest
from spanwise.api.http.paths import NAMED_EXPORT_PATHS
from spanwise.api.otlp.responses import JSON, PROTOBUF

_ERRORS = {
    400: "The message is invalid; do not retry.",
    401: "Authentication is missing or invalid.",
    403: "The key lacks the scope `ingest`.",
    413: "The body is larger than 16 MiB after decompression.",
    429: "Too many requests; retry after `Retry-After` seconds.",
    500: "An internal error.",
    503: "The service is overloaded; retry after `Retry-After` seconds.",
}


def _message(description: str, name: str) -> dict[str, Any]:
    return {
        "description": description,
        "content": {
            JSON: {"schema": {"type": "object", "description": name}},
            PROTOBUF: {"schema": {"type": "string", "format": "binary", "description": name}},
        },
    }


def _operation(kind: str) -> dict[str, Any]:
    name = kind.title().removesuffix("s")
    package = f"opentelemetry.proto.collector.{kind}.v1.Export{name}Service"
    stored = "All valid items are stored; `partialSuccess` counts the rejected ones."
    responses = {"200": _message(stored, f"{package}Response")}
    for status, description in _ERRORS.items():
        responses[str(status)] = _message(description, "google.rpc.Status")
    return {
        "tags": ["otlp"],
        "summary": f"Export {kind}",
        "description": "OTLP over HTTP: protobuf or JSON, plain, gzip, deflate or zstd.",
        "operationId": f"export_{kind}",
        "requestBody": {"required": True, **_message("An export request.", f"{package}Request")},
        "responses": responses,
        **may_ingest.openapi,
    }


# The other paths are aliases for exporters configured for another product.
OTLP_PATHS = {
    path: {"post": _operation(kind.name.lower())}
    for path, kind in NAMED_EXPORT_PATHS.items()
    if path.startswith("/api/otlp/")
}
