"""Builds spans for tests, with defaults for everything a test does not set."""

from typing import Any

from support.ids import new_span_id, new_trace_id

NOON = "2026-03-10T12:00:00Z"


def make_span(trace_id: str | None = None, **fields: Any) -> dict[str, Any]:
    """Return a root span of half a second at noon, unless given otherwise."""
    return {
        "traceId": trace_id or new_trace_id(),
        "spanId": new_span_id(),
        "name": "answer",
        "startTime": NOON,
        "durationMs": 500,
        **fields,
    }
