"""Query parameters that many routes share: pagination, dates and trace filters."""

from typing import Annotated, Any

from fastapi import Depends, Path, Query

from spanwise.model.page import MAX_SKIP, PageRequest
from spanwise.model.telemetry.filters import (
    Operator,
    TraceFilter,
    compare,
    equal,
    parse_conditions,
)
from spanwise.model.telemetry.spans import ErrorType, TraceStatus
from spanwise.model.times import TimeRange

MAX_LIMIT = 100

DATE: dict[str, Any] = {
    "anyOf": [{"type": "string", "format": "date"}, {"type": "string", "format": "date-time"}],
    "examples": ["2026-01-31", "2026-01-31T12:00:00Z"],
}


async def _page(
    limit: Annotated[
        int, Query(ge=1, description="Page size; above 100 it is lowered to 100.")
    ] = 50,
    skip: Annotated[int, Query(ge=0, le=MAX_SKIP, description="Items to skip.")] = 0,
) -> PageRequest:
    return PageRequest(min(limit, MAX_LIMIT), skip)


async def _period(
    start_date: Annotated[
        str | None,
        Query(
            alias="startDate",
            description="Start, inclusive: YYYY-MM-DD or ISO 8601 time.",
            json_schema_extra=DATE,
        ),
    ] = None,
    end_date: Annotated[
        str | None,
        Query(
            alias="endDate",
            description="End: a date includes that whole day, a time is exclusive.",
            json_schema_extra=DATE,
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


FILTERS_EXAMPLE = '[{"field": "attribute:tenant", "op": "eq", "value": "acme"}]'
Filters = Annotated[
    str | None,
    Query(
        max_length=10_000,
        description="Conditions as a JSON list of {field, op, value}; all must hold.",
        examples=[FILTERS_EXAMPLE],
    ),
]


async def _trace_filter(
    period: Period,
    agent_id: AgentId = None,
    status: TraceStatus | None = None,
    model: Text = None,
    provider: Text = None,
    tool: Text = None,
    error_type: Annotated[ErrorType | None, Query(alias="errorType")] = None,
    session_id: Annotated[Text, Query(alias="sessionId")] = None,
    user_id: Annotated[Text, Query(alias="userId")] = None,
    environment: Text = None,
    experiment_id: Annotated[Text, Query(alias="experimentId")] = None,
    variant: Text = None,
    min_duration: Annotated[
        float | None, Query(alias="minDuration", ge=0, allow_inf_nan=False, description="ms")
    ] = None,
    max_duration: Annotated[
        float | None, Query(alias="maxDuration", ge=0, allow_inf_nan=False, description="ms")
    ] = None,
    min_cost: Annotated[
        float | None, Query(alias="minCost", ge=0, allow_inf_nan=False, description="US dollars")
    ] = None,
    search: Annotated[
        str | None,
        Query(
            max_length=512,
            description="Words that must all occur in a span; or a trace id, or part of a user or "
            "session id.",
        ),
    ] = None,
    filters: Filters = None,
) -> TraceFilter:
    conditions = equal(
        agent=agent_id,
        status=status,
        model=model,
        provider=provider,
        tool=tool,
        error_type=error_type,
        session_id=session_id,
        user_id=user_id,
        environment=environment,
        experiment=experiment_id,
        variant=variant,
    )
    conditions += compare("durationMs", Operator.GTE, min_duration)
    conditions += compare("durationMs", Operator.LTE, max_duration)
    conditions += compare("cost", Operator.GTE, min_cost)
    return TraceFilter(period, conditions + parse_conditions(filters), search)


Filtered = Annotated[TraceFilter, Depends(_trace_filter)]
