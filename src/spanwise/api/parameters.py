"""Query parameters that many routes share: pages and dates."""

from typing import Annotated, Any

from fastapi import Depends, Path, Query

from spanwise.model.page import MAX_SKIP, PageRequest
from spanwise.model.times import TimeRange

MAX_LIMIT = 100

_DATE: dict[str, Any] = {
    "anyOf": [{"type": "string", "format": "date"}, {"type": "string", "format": "date-time"}],
    "examples": ["2026-01-31", "2026-01-31T12:00:00Z"],
}


def _page(
    limit: Annotated[
        int, Query(ge=1, description="Page size; above 100 it is lowered to 100.")
    ] = 50,
    skip: Annotated[int, Query(ge=0, le=MAX_SKIP, description="Items to skip.")] = 0,
) -> PageRequest:
    return PageRequest(min(limit, MAX_LIMIT), skip)


def _period(
    start_date: Annotated[
        str | None,
        Query(
            alias="startDate",
            description="Start, inclusive: YYYY-MM-DD or ISO 8601 time.",
            json_schema_extra=_DATE,
        ),
    ] = None,
    end_date: Annotated[
        str | None,
        Query(
            alias="endDate",
            description="End: a date includes that whole day, a time is exclusive.",
            json_schema_extra=_DATE,
        ),
    ] = None,
) -> TimeRange:
    return TimeRange.parse(start_date, end_date)


TraceId = Annotated[str, Path(pattern="^[0-9a-fA-F]{32}$")]
SpanId = Annotated[str, Path(pattern="^[0-9a-fA-F]{16}$")]
Text = Annotated[str | None, Query(max_length=512)]
AgentId = Annotated[
    str | None, Query(alias="agentId", max_length=512, description="An agent's id or name.")
]
Paged = Annotated[PageRequest, Depends(_page)]
Period = Annotated[TimeRange, Depends(_period)]
