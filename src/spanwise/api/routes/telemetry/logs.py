"""Routes for recording and listing logs."""

from typing import Annotated

from fastapi import Depends, Path, Query, Request

from spanwise.api.auth import Ingester, Reader
from spanwise.api.freshness import Fresh
from spanwise.api.http.envelope import Accepted, Success, SuccessPage, succeed, succeed_page
from spanwise.api.openapi.document import describe_body
from spanwise.api.requests.parameters import AgentId, Filters, Paged, Period, Text, TraceId
from spanwise.api.requests.raw_bodies import json_body
from spanwise.api.routing import PrefixRouter
from spanwise.api.services import UseTelemetry
from spanwise.ingest.rest_bodies import NewLog
from spanwise.model.api_model import ApiModel
from spanwise.model.telemetry.filters import (
    OF_LOGS,
    FilterCondition,
    Operator,
    Order,
    RowFilter,
    equal,
    parse_conditions,
)
from spanwise.model.telemetry.logs import Log, LogLevel

router = PrefixRouter("logs", "/logs")


class NewLogs(ApiModel):
    logs: list[NewLog]


async def _log_filter(
    period: Period,
    level: Annotated[LogLevel | None, Query(description="This level and above.")] = None,
    search: Annotated[Text, Query(description="Words that must all occur in the message.")] = None,
    trace_id: Annotated[Text, Query(alias="traceId")] = None,
    agent_id: AgentId = None,
    filters: Filters = None,
) -> RowFilter:
    conditions = equal(agent=agent_id, trace_id=trace_id and trace_id.lower())
    if level is not None:
        levels = [one for one in LogLevel if one.severity >= level.severity]
        conditions += (FilterCondition(field="level", op=Operator.IN, value=levels),)
    return RowFilter(period, conditions + parse_conditions(filters, OF_LOGS), search)


Filtered = Annotated[RowFilter, Depends(_log_filter)]


@router.post(
    "",
    status_code=201,
    openapi_extra=describe_body(NewLog | NewLogs),
    response_model_exclude_none=True,
)
async def record_logs(
    caller: Ingester, telemetry: UseTelemetry, request: Request
) -> Success[Accepted]:
    """Record one log, or many under `logs`. A log sent twice counts once."""
    async with json_body(request) as body:
        return succeed(Accepted.describe(await telemetry.logs.record(caller.sender, body)))


@router.get("")
async def list_logs(
    caller: Reader,
    telemetry: UseTelemetry,
    page: Paged,
    filters: Filtered,
    _fresh: Fresh,
    order: Order = Order.DESC,
) -> SuccessPage[Log]:
    """List logs, newest first unless `order=asc`."""
    listing = await telemetry.logs.find(caller.workspace_id, filters, page, order)
    return succeed_page(page, listing)


@router.get("/trace/{traceId}")
async def list_logs_of_trace(
    trace_id: Annotated[TraceId, Path(alias="traceId")],
    caller: Reader,
    telemetry: UseTelemetry,
    page: Paged,
    _fresh: Fresh,
    order: Order = Order.DESC,
) -> SuccessPage[Log]:
    """List the logs of one trace, newest first unless `order=asc`."""
    listing = await telemetry.logs.find_of_trace(caller.workspace_id, trace_id.lower(), page, order)
    return succeed_page(page, listing)
