"""Traces that tests send."""

from datetime import UTC, datetime, timedelta
from typing import Any

from support.ids import new_span_id, new_trace_id
from support.service import Person


def make_span(
    agent: str,
    *,
    start: datetime | None = None,
    duration_ms: float = 100,
    status: str = "ok",
    **fields: Any,
) -> dict[str, Any]:
    """A root span: a whole trace by itself."""
    start = start or datetime.now(UTC)
    return {
        "traceId": new_trace_id(),
        "spanId": new_span_id(),
        "name": "answer",
        "kind": "agent",
        "agentName": agent,
        "startTime": start.isoformat(),
        "endTime": (start + timedelta(milliseconds=duration_ms)).isoformat(),
        "status": status,
        **fields,
    }


async def send_trace(person: Person, agent: str, **fields: Any) -> str:
    """Send a trace of one span and return its id."""
    span = make_span(agent, **fields)
    await person.data("POST", "/spans", json=span)
    trace_id: str = span["traceId"]
    return trace_id


async def send_traces(person: Person, spans: list[dict[str, Any]]) -> None:
    await person.data("POST", "/spans", json={"spans": spans})
