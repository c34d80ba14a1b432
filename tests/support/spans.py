"""Spans as a client sends them, for tests."""

from datetime import UTC, datetime, timedelta
from typing import Any

from support.ids import new_span_id, new_trace_id
from support.service import Person

Body = dict[str, Any]


def iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def new_span(start: datetime, duration_ms: float = 100, **fields: Any) -> Body:
    """Return a span in a new trace, unless `traceId` is given."""
    return {
        "traceId": new_trace_id(),
        "spanId": new_span_id(),
        "name": "a span",
        "startTime": iso(start),
        "endTime": iso(start + timedelta(milliseconds=duration_ms)),
        **fields,
    }


def child_of(root: Body, **fields: Any) -> Body:
    """Return a child of another span."""
    return {
        **new_span(datetime.fromisoformat(root["startTime"])),
        "traceId": root["traceId"],
        "parentSpanId": root["spanId"],
        **fields,
    }


async def send(person: Person, *spans: Body) -> None:
    await person.data("POST", "/spans", json={"spans": list(spans)})


def span(trace_id: str | None = None, parent: str | None = None, **fields: Any) -> dict[str, Any]:
    """Return a span of 100 ms with the given fields."""
    start = fields.pop("start", datetime.now(UTC) - timedelta(minutes=5))
    return {
        "traceId": trace_id or new_trace_id(),
        "spanId": new_span_id(),
        "parentSpanId": parent,
        "name": "step",
        "startTime": start.isoformat(),
        "endTime": (start + timedelta(milliseconds=100)).isoformat(),
        **fields,
    }


def llm_call(model: str, provider: str, tokens: dict[str, int], **fields: Any) -> dict[str, Any]:
    """Return a root span that is a model call, with OpenTelemetry token attributes."""
    names = {
        "input": "gen_ai.usage.input_tokens",
        "cached": "gen_ai.usage.cache_read.input_tokens",
        "cache_write": "gen_ai.usage.cache_creation.input_tokens",
        "output": "gen_ai.usage.output_tokens",
        "reasoning": "gen_ai.usage.reasoning.output_tokens",
    }
    attributes = {names[sort]: count for sort, count in tokens.items()}
    return span(kind="llm", model=model, provider=provider, attributes=attributes, **fields)
