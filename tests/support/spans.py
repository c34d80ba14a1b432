"""Spans as a client sends them, for tests."""

import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

from support.service import Person

Body = dict[str, Any]


def iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def new_span(start: datetime, duration_ms: float = 100, **fields: Any) -> Body:
    """A span of a trace of its own unless `traceId` says otherwise."""
    return {
        "traceId": secrets.token_hex(16),
        "spanId": secrets.token_hex(8),
        "name": "a span",
        "startTime": iso(start),
        "endTime": iso(start + timedelta(milliseconds=duration_ms)),
        **fields,
    }


def child_of(root: Body, **fields: Any) -> Body:
    """A span below another one."""
    return {
        **new_span(datetime.fromisoformat(root["startTime"])),
        "traceId": root["traceId"],
        "parentSpanId": root["spanId"],
        **fields,
    }


async def send(person: Person, *spans: Body) -> None:
    await person.data("POST", "/spans", json={"spans": list(spans)})
