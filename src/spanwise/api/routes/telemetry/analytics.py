"""Routes for analytics: metrics, series and breakdowns of the traces of a period."""

from collections.abc import AsyncIterator
from dataclasses import replace
from enum import StrEnum
from typing import Annotated, Any

from fastapi import Depends, Query, Request
from starlette.responses import StreamingResponse

from spanwise.api.auth import ClientAddress, Reader
from spanwise.api.freshness import Fresh
from spanwise.api.http.envelope import Success, SuccessPage, succeed, succeed_page
from spanwise.api.requests.parameters import Filtered, Paged, Period, Text
from spanwise.api.routing import PrefixRouter, reject_in_batch
from spanwise.api.services import Use, UseTelemetry
from spanwise.model.analytics import (
    DEFAULT_DAYS,
    Costs,
    ErrorRatePoint,
    ErrorsByType,
    ExportFormat,
    LatencyBucket,
    Metrics,
    Outcomes,
    PercentilesPoint,
    Question,
    RequestsPoint,
    TokensPoint,
    ToolUsage,
)
from spanwise.model.api_model import utc_now
from spanwise.model.dashboards.queries import AnalyticsQuery, AttributeCount, QueryResult
from spanwise.model.page import MAX_SKIP, PageRequest
from spanwise.model.telemetry.coding_agents import CodingAgentsReport
from spanwise.model.telemetry.filters import Order, TraceSort
from spanwise.model.telemetry.spans import Trace
from spanwise.model.times import BoundedRange, Granularity, TimeRange
from spanwise.services.audit import record_action

router = PrefixRouter("analytics", "/analytics")

MAX_LIST_LIMIT = 1000


class Compare(StrEnum):
    PREVIOUS = "previous"


async def _question(filters: Filtered) -> Question:
    period = filters.period.or_last_days(DEFAULT_DAYS, utc_now())
    return Question(period, replace(filters, period=TimeRange(period.start, period.end)))


Asked = Annotated[Question, Depends(_question)]


async def _series(
    question: Asked,
    granularity: Annotated[Granularity, Query(description="Step of the series.")] = (
        Granularity.DAILY
    ),
) -> Question:
    series = replace(question, granularity=granularity)
    # Raises before anything is read if the series would have too many buckets.
    _ = series.buckets
    return series


AskedSeries = Annotated[Question, Depends(_series)]


@router.get("/metrics", response_model_exclude_none=True)
async def get_metrics(
    caller: Reader,
    telemetry: UseTelemetry,
    question: Asked,
    _fresh: Fresh,
    compare: Annotated[
        Compare | None, Query(description="Also return the metrics of the preceding period.")
    ] = None,
) -> Success[Metrics]:
    """Key metrics: traces, success, latency, agents, alerts, tokens and cost."""
    metrics = await telemetry.analytics.metrics(
        caller.workspace_id, question, compare=compare is Compare.PREVIOUS
    )
    return succeed(metrics)


@router.get("/traces/success-failure")
async def get_success_failure(
    caller: Reader, telemetry: UseTelemetry, question: AskedSeries, _fresh: Fresh
) -> Success[Outcomes]:
    """Successful and failed traces, in total and over time."""
    return succeed(await telemetry.analytics.outcomes(caller.workspace_id, question))


@router.get("/traces/requests-over-time")
async def get_requests_over_time(
    caller: Reader, telemetry: UseTelemetry, question: AskedSeries, _fresh: Fresh
) -> Success[list[RequestsPoint]]:
    """Traces over time, by agent."""
    return succeed(await telemetry.analytics.requests(caller.workspace_id, question))


@router.get("/traces/latency-percentiles")
async def get_latency_percentiles(
    caller: Reader, telemetry: UseTelemetry, question: AskedSeries, _fresh: Fresh
) -> Success[list[PercentilesPoint]]:
    """Latency percentiles over time in milliseconds; null for buckets without traces."""
    return succeed(await telemetry.analytics.percentiles(caller.workspace_id, question))


@router.get("/traces/latency-distribution")
async def get_latency_distribution(
    caller: Reader, telemetry: UseTelemetry, question: Asked, _fresh: Fresh
) -> Success[list[LatencyBucket]]:
    """Traces by latency, in six buckets."""
    return succeed(await telemetry.analytics.latencies(caller.workspace_id, question))


@router.get("/traces/token-usage")
async def get_token_usage(
    caller: Reader, telemetry: UseTelemetry, question: AskedSeries, _fresh: Fresh
) -> Success[list[TokensPoint]]:
    """Tokens over time."""
    return succeed(await telemetry.analytics.tokens(caller.workspace_id, question))


@router.get("/costs")
async def get_costs(
    caller: Reader, telemetry: UseTelemetry, question: AskedSeries, _fresh: Fresh
) -> Success[Costs]:
    """Cost in total, by model and over time, and the models without a price."""
    return succeed(await telemetry.analytics.costs(caller.workspace_id, question))


@router.get("/traces/errors-by-type")
async def get_errors_by_type(
    caller: Reader, telemetry: UseTelemetry, question: Asked, _fresh: Fresh
) -> Success[ErrorsByType]:
    """Failed traces by error type, most frequent first."""
    return succeed(await telemetry.analytics.errors(caller.workspace_id, question))


@router.get("/traces/error-rate")
async def get_error_rate(
    caller: Reader, telemetry: UseTelemetry, question: AskedSeries, _fresh: Fresh
) -> Success[list[ErrorRatePoint]]:
    """Share of failed traces over time."""
    return succeed(await telemetry.analytics.error_rate(caller.workspace_id, question))


@router.get("/traces/tool-usage")
async def get_tool_usage(
    caller: Reader, telemetry: UseTelemetry, question: Asked, _fresh: Fresh
) -> Success[ToolUsage]:
    """Number of tool calls by agent and tool."""
    return succeed(await telemetry.analytics.tools(caller.workspace_id, question))


@router.get("/coding-agents")
async def get_coding_agents(
    caller: Reader, telemetry: UseTelemetry, period: Period, _fresh: Fresh
) -> Success[CodingAgentsReport]:
    """Use of coding agents: cost and tokens by person, repository and model, edits, sessions."""
    bounded = period.or_last_days(DEFAULT_DAYS, utc_now())
    return succeed(await telemetry.coding_agents.report(caller.workspace_id, bounded))


@router.post("/query")
async def query(
    body: AnalyticsQuery, caller: Reader, telemetry: UseTelemetry, _fresh: Fresh
) -> Success[QueryResult]:
    """Measure traces or spans: in groups, over time, with filters."""
    return succeed(await telemetry.analytics.query(caller.workspace_id, body))


@router.get("/attributes")
async def list_attributes(
    caller: Reader,
    telemetry: UseTelemetry,
    period: Period,
    page: Paged,
    _fresh: Fresh,
    key: Annotated[
        str | None,
        Query(min_length=1, max_length=256, description="List the values of this attribute."),
    ] = None,
    search: Annotated[Text, Query(description="Only names that contain this.")] = None,
) -> SuccessPage[AttributeCount]:
    """List the attributes of spans, or the values of one, by the number of spans."""
    listing = await telemetry.analytics.attributes(caller.workspace_id, period, key, search, page)
    return succeed_page(page, listing)


async def _list_page(
    limit: Annotated[
        int, Query(ge=1, description="Page size; above 1000 it is lowered to 1000.")
    ] = 50,
    skip: Annotated[int, Query(ge=0, le=MAX_SKIP, description="Items to skip.")] = 0,
) -> PageRequest:
    return PageRequest(min(limit, MAX_LIST_LIMIT), skip)


_MEDIA_TYPES = {
    ExportFormat.CSV: "text/csv; charset=utf-8",
    ExportFormat.JSONL: "application/x-ndjson",
    ExportFormat.PARQUET: "application/vnd.apache.parquet",
}
_DOWNLOADS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "One page; with `format`, a file of all traces, without the envelope.",
        "content": {
            media.partition(";")[0]: {"schema": {"type": "string", "format": "binary"}}
            for media in _MEDIA_TYPES.values()
        },
    }
}


@router.get("/traces/list", response_model=SuccessPage[Trace], responses=_DOWNLOADS)
async def list_analyzed_traces(
    caller: Reader,
    telemetry: UseTelemetry,
    use: Use,
    question: Asked,
    _fresh: Fresh,
    page: Annotated[PageRequest, Depends(_list_page)],
    address: ClientAddress,
    request: Request,
    sort: TraceSort = TraceSort.START_TIME,
    order: Order = Order.DESC,
    form: Annotated[
        ExportFormat | None,
        Query(alias="format", description="Download all traces as a file, newest first."),
    ] = None,
) -> StreamingResponse | SuccessPage[Trace]:
    """List the traces of the period, or download them as a file."""
    if form is not None:
        reject_in_batch(request, "a download cannot be part of a batch")
        chunks = await telemetry.analytics.export(caller.workspace_id, question.filters, form)
        async with use.catalog.write() as tx:
            await record_action(tx, caller, "traces.exported", None, address, format=form)
        return _download(chunks, question.period, form)
    listing = await telemetry.traces.find(caller.workspace_id, question.filters, page, sort, order)
    return succeed_page(page, listing)


def _download(
    chunks: AsyncIterator[bytes], period: BoundedRange, form: ExportFormat
) -> StreamingResponse:
    name = f"spanwise-traces-{period.start:%Y%m%d}-{period.end:%Y%m%d}.{form}"
    return StreamingResponse(
        chunks,
        media_type=_MEDIA_TYPES[form],
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )
