"""Spans as tests send them: only what a test is about has to be said."""

import secrets
from typing import Any

NOON = "2026-03-10T12:00:00Z"


def new_trace_id() -> str:
    return secrets.token_hex(16)


def new_span_id() -> str:
    return secrets.token_hex(8)


def make_span(trace_id: str | None = None, **fields: Any) -> dict[str, Any]:
    """A root span of half a second at noon, unless told otherwise."""
    return {
        "traceId": trace_id or new_trace_id(),
        "spanId": new_span_id(),
        "name": "answer",
        "startTime": NOON,
        "durationMs": 500,
        **fields,
    }
