"""Routes for recording spans and reading traces."""

from typing import Annotated

from fastapi import Path, Query, Request, Response

from spanwise.api.auth import ClientAddress, Ingester, Reader, Writer
from spanwise.api.freshness import Fresh
from spanwise.api.http.envelope import (
    Accepted,
    Deleted,
    Success,
    SuccessPage,
    succeed,
    succeed_page,
    success_response,
)
from spanwise.api.openapi.document import describe_body
from spanwise.api.requests.parameters import Filtered, Filters, Paged, Period, SpanId, TraceId
from spanwise.api.requests.raw_bodies import json_body
from spanwise.api.routing import PrefixRouter
from spanwise.api.services import Use, UseIngest, UseTelemetry
from spanwise.ingest.rest_bodies import NewSpan
from spanwise.model.api_model import ApiModel
from spanwise.model.telemetry.filters import (
    Order,
    RowFilter,
    SpanSort,
    TraceSort,
    parse_conditions,
)
from spanwise.model.telemetry.spans import (
    ListedSpan,
    Neighbours,
    Span,
    SpanMatches,
    Trace,
    TraceFilters,
    TraceWithSpans,
)
from spanwise.services.audit import record_action

router = PrefixRouter("spans", "/spans")


class NewSpans(ApiModel):
    spans: list[NewSpan]


@router.post(
    "",
    status_code=201,
    openapi_extra=describe_body(NewSpan | NewSpans),
    response_model_exclude_none=True,
)
async def add_spans(caller: Ingester, ingest: UseIngest, request: Request) -> Success[Accepted]:
    """Store one span, or many under `spans`. Sending the same span again changes nothing."""
    async with json_body(request) as body:
        parsed = await ingest.receiver.receive_spans(caller.sender, body)
    return succeed(Accepted.describe(parsed))


@router.get("")
async def list_spans(
    caller: Reader,
    telemetry: UseTelemetry,
    page: Paged,
    period: Period,
    _fresh: Fresh,
    filters: Filters = None,
    sort: SpanSort = SpanSort.START_TIME,
    order: Order = Order.DESC,
) -> SuccessPage[ListedSpan]:
    """List single spans of all traces, newest first unless sorted otherwise."""
    row_filter = RowFilter(period, parse_conditions(filters))
    listing = await telemetry.traces.list_spans(caller.workspace_id, row_filter, page, sort, order)
    return succeed_page(page, listing)


@router.get("/traces")
async def list_traces(
    caller: Reader,
    telemetry: UseTelemetry,
    page: Paged,
    filters: Filtered,
    _fresh: Fresh,
    sort: TraceSort = TraceSort.START_TIME,
    order: Order = Order.DESC,
    error_names: Annotated[bool, Query(alias="errorNames")] = False,
) -> SuccessPage[Trace]:
    """List traces, newest first unless sorted otherwise. With `errorNames`, failed ones have the
    name of their exception."""
    listing = await telemetry.traces.find(
        caller.workspace_id, filters, page, sort, order, with_error_names=error_names
    )
    return succeed_page(page, listing)


@router.get("/traces/{traceId}", response_model=Success[TraceWithSpans])
async def get_trace(
    trace_id: Annotated[TraceId, Path(alias="traceId")],
    caller: Reader,
    telemetry: UseTelemetry,
    _fresh: Fresh,
) -> Response:
    """Get one trace with its spans in start order, its signals and its number of logs."""
    detail = await telemetry.traces.get(caller.workspace_id, trace_id.lower())
    data = {
        **detail.trace.model_dump(),
        "spans": detail.spans,
        "signals": [signal.model_dump() for signal in detail.signals],
        "logCount": detail.log_count,
    }
    return success_response(data)


@router.get("/traces/{traceId}/neighbours")
async def get_neighbours(
    trace_id: Annotated[TraceId, Path(alias="traceId")],
    caller: Reader,
    telemetry: UseTelemetry,
    filters: Filtered,
    _fresh: Fresh,
    sort: TraceSort = TraceSort.START_TIME,
    order: Order = Order.DESC,
) -> Success[Neighbours]:
    """Get the traces before and after one in the list with these filters and this order."""
    neighbours = await telemetry.traces.find_neighbours(
        caller.workspace_id, trace_id.lower(), filters, sort, order
    )
    return succeed(neighbours)


@router.get("/traces/{traceId}/matches")
async def search_trace(
    trace_id: Annotated[TraceId, Path(alias="traceId")],
    caller: Reader,
    telemetry: UseTelemetry,
    _fresh: Fresh,
    search: Annotated[str, Query(max_length=512, description="Words that must all occur.")],
) -> Success[SpanMatches]:
    """Find the spans of a trace with all words in name, input, output, attributes or error."""
    matches = await telemetry.traces.search_spans(caller.workspace_id, trace_id.lower(), search)
    return succeed(matches)


@router.get("/traces/{traceId}/spans/{spanId}")
async def get_span(
    trace_id: Annotated[TraceId, Path(alias="traceId")],
    span_id: Annotated[SpanId, Path(alias="spanId")],
    caller: Reader,
    telemetry: UseTelemetry,
    _fresh: Fresh,
) -> Success[Span]:
    """Get one span with its full input and output."""
    span = await telemetry.traces.get_span(caller.workspace_id, trace_id.lower(), span_id.lower())
    return succeed(span)


@router.delete("/traces/{traceId}")
async def delete_trace(
    trace_id: Annotated[TraceId, Path(alias="traceId")],
    caller: Writer,
    telemetry: UseTelemetry,
    use: Use,
    address: ClientAddress,
) -> Success[Deleted]:
    """Delete a trace with its spans, signals and logs. Spans sent later create it again."""
    await telemetry.traces.delete(caller.sender, trace_id.lower())
    async with use.catalog.write() as tx:
        await record_action(tx, caller, "trace.deleted", trace_id.lower(), address)
    return succeed(Deleted(id=trace_id.lower()))


@router.get("/filters")
async def list_filters(
    caller: Reader, telemetry: UseTelemetry, period: Period, _fresh: Fresh
) -> Success[TraceFilters]:
    """List the distinct values in traces, for filter menus; by default over all time."""
    return succeed(await telemetry.traces.find_filters(caller.workspace_id, period))
