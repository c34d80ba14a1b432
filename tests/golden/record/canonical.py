"""Turns recorded exports into canonical OTLP/JSON and takes machine-specific values out."""

from __future__ import annotations

import base64
import getpass
import json
import re
import socket
from collections.abc import Callable, Sequence
from typing import Any

from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message import Message
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from receiver import Export

Json = dict[str, Any]

MESSAGES: dict[str, type[Message]] = {
    "traces": ExportTraceServiceRequest,
    "logs": ExportLogsServiceRequest,
    "metrics": ExportMetricsServiceRequest,
}
ID_FIELDS = {"traceId", "spanId", "parentSpanId"}
TOP_FIELDS = {"traces": "resourceSpans", "logs": "resourceLogs", "metrics": "resourceMetrics"}

# Values replaced whole, by attribute key.
NEUTRAL: dict[str, Json] = {
    "host.name": {"stringValue": "host-1"},
    "host.id": {"stringValue": "00000000000000000000000000000001"},
    "host.arch": {"stringValue": "amd64"},
    "process.pid": {"intValue": "4242"},
    "process.parent_pid": {"intValue": "4241"},
    "process.owner": {"stringValue": "app"},
    "process.executable.path": {"stringValue": "/usr/bin/app"},
    "process.executable.name": {"stringValue": "app"},
    "process.command": {"stringValue": "/app/main"},
    "process.command_line": {"stringValue": "/app/main"},
    "process.command_args": {"arrayValue": {"values": [{"stringValue": "/app/main"}]}},
    "service.instance.id": {"stringValue": "00000000-0000-4000-8000-000000000001"},
    "os.version": {"stringValue": "6.1.0"},
    "os.description": {"stringValue": "Linux"},
    "process.runtime.description": {"stringValue": "runtime"},
    "thread.id": {"intValue": "1"},
}
SITE = re.compile(r"(?:/[\w.+@-]+)*/(?:site-packages|node_modules)/")
STDLIB = re.compile(r"(?:/[\w.+@-]+)*/lib/(python3\.\d+)/(?!site-packages)")
PRIVATE = re.compile(r"(?:file://)?/(?:work|tmp|root|home)(?:/[\w.+@-]+)*/([\w.+@-]+)")


def _text(value: str) -> str:
    value = SITE.sub("/app/packages/", value)
    value = STDLIB.sub(r"/usr/lib/\1/", value)
    value = PRIVATE.sub(r"/app/\1", value)
    host = socket.gethostname()
    if len(host) > 3:
        value = value.replace(host, "host-1")
    user = getpass.getuser()
    if user != "root" and len(user) > 3:
        value = re.sub(rf"\b{re.escape(user)}\b", "app", value)
    # The loopback ports of a recording differ from run to run.
    return re.sub(r"(127\.0\.0\.1|localhost):\d{4,5}", r"\1:8080", value)


def scrub(node: Any) -> Any:
    """Replace host names, process ids, user names and paths of the recording machine."""
    if isinstance(node, list):
        return [scrub(item) for item in node]
    if isinstance(node, dict):
        if node.get("key") in NEUTRAL and "value" in node:
            return {"key": node["key"], "value": NEUTRAL[node["key"]]}
        if node.get("key") == "server.port":
            return {"key": "server.port", "value": {"intValue": "8080"}}
        return {key: scrub(value) for key, value in node.items()}
    return _text(node) if isinstance(node, str) else node


# Longer texts are instructions that a package ships with, or its source in stack traces.
LONGEST_TEXT = 300


def shorten(node: Any) -> Any:
    """Cut long texts, also inside JSON, whose structure stays as it was sent."""
    if isinstance(node, list):
        return [shorten(item) for item in node]
    if isinstance(node, dict):
        return {key: shorten(value) for key, value in node.items()}
    is_long = isinstance(node, str) and len(node) > LONGEST_TEXT
    return _shorten_text(node) if is_long else node


def _shorten_text(text: str) -> str:
    try:
        document = json.loads(text)
    except ValueError:
        document = None
    if not isinstance(document, dict | list):
        return f"{text[: LONGEST_TEXT // 2]}…"
    shorter = shorten(document)
    if shorter == document:
        return text
    separators = (", ", ": ") if '": ' in text else (",", ":")
    return json.dumps(shorter, ensure_ascii=False, separators=separators)


def _ids(node: Any, convert: Callable[[str], str]) -> Any:
    if isinstance(node, list):
        return [_ids(item, convert) for item in node]
    if isinstance(node, dict):
        return {
            key: convert(value)
            if key in ID_FIELDS and isinstance(value, str)
            else _ids(value, convert)
            for key, value in node.items()
        }
    return node


def to_json(message: Message) -> Json:
    decoded = MessageToDict(message, use_integers_for_enums=True)
    result: Json = _ids(decoded, lambda value: base64.b64decode(value).hex())
    return result


def merge(signal: str, exports: Sequence[Export]) -> tuple[Json, bytes | None]:
    """All exports of one signal as one request: the JSON, and the protobuf if it was sent.

    Protobuf messages merge by concatenation, so the joined bodies are one valid request.
    """
    top = TOP_FIELDS[signal]
    merged: Json = {top: []}
    raw: bytes | None = b""
    for export in exports:
        if export.is_json:
            merged[top] += json.loads(export.body).get(top, [])
            raw = None
        else:
            message = MESSAGES[signal]()
            message.ParseFromString(export.body)
            merged[top] += to_json(message).get(top, [])
            if raw is not None:
                raw += export.body
    return merged, raw


def to_protobuf(signal: str, document: Json) -> bytes:
    encoded = _ids(document, lambda value: base64.b64encode(bytes.fromhex(value)).decode())
    message = MESSAGES[signal]()
    ParseDict(encoded, message)
    return message.SerializeToString()


def dump(document: Any) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
