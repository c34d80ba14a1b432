"""Traces and signals of an experiment's units."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from support.ids import new_span_id, new_trace_id
from support.service import Person


def make_trace(
    *, ago_seconds: float = 0, ms: float = 100, ok: bool = True, **fields: Any
) -> dict[str, Any]:
    """Return a trace of one span that starts now, or some seconds ago."""
    start = datetime.now(UTC) - timedelta(seconds=ago_seconds)
    return {
        "traceId": new_trace_id(),
        "spanId": new_span_id(),
        "name": "answer",
        "kind": "llm",
        "startTime": start.isoformat(),
        "durationMs": ms,
        "status": "ok" if ok else "error",
        **fields,
    }


async def send_traces(person: Person, traces: Sequence[dict[str, Any]]) -> None:
    for first in range(0, len(traces), 5000):
        await person.data("POST", "/spans", json={"spans": list(traces[first : first + 5000])})


async def send_signals(person: Person, signals: Sequence[dict[str, Any]]) -> None:
    for first in range(0, len(signals), 1000):
        body = {"signals": list(signals[first : first + 1000])}
        await person.data("POST", "/signals/batch", json=body)
