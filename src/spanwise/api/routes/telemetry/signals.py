"""Routes for recording, listing and summarizing signals."""

from typing import Annotated

from fastapi import Depends, Path, Query, Request
from pydantic import Field

from spanwise.api.auth import Ingester, Reader
from spanwise.api.freshness import Fresh
from spanwise.api.http.envelope import Success, SuccessPage, succeed, succeed_page
from spanwise.api.openapi.document import describe_body
from spanwise.api.requests.parameters import AgentId, Filters, Paged, Period, Text, TraceId
from spanwise.api.requests.raw_bodies import json_body
from spanwise.api.routing import PrefixRouter
from spanwise.api.services import UseTelemetry
from spanwise.ingest.rest_bodies import MAX_SIGNALS, NewSignal
from spanwise.model.api_model import ApiModel
from spanwise.model.telemetry.filters import OF_SIGNALS, RowFilter, equal, parse_conditions
from spanwise.model.telemetry.signals import Signal, SignalHistogram, SignalSummary
from spanwise.model.times import Granularity

router = PrefixRouter("signals", "/signals")


SignalList = Annotated[list[NewSignal], Field(min_length=1, max_length=MAX_SIGNALS)]


class NewSignals(ApiModel):
    signals: SignalList


class RecordedSignals(ApiModel):
    accepted: int
    ids: list[str]


async def _signal_filter(
    period: Period,
    signal_name: Annotated[Text, Query(alias="signalName")] = None,
    trace_id: Annotated[Text, Query(alias="traceId")] = None,
    agent_id: AgentId = None,
    session_id: Annotated[Text, Query(alias="sessionId")] = None,
    user_id: Annotated[Text, Query(alias="userId")] = None,
    experiment_id: Annotated[Text, Query(alias="experimentId")] = None,
    variant: Text = None,
    filters: Filters = None,
) -> RowFilter:
    conditions = equal(
        signal_name=signal_name,
        trace_id=trace_id and trace_id.lower(),
        agent=agent_id,
        session_id=session_id,
        user_id=user_id,
        experiment=experiment_id,
        variant=variant,
    )
    return RowFilter(period, conditions + parse_conditions(filters, OF_SIGNALS))


Filtered = Annotated[RowFilter, Depends(_signal_filter)]


@router.post("", status_code=201, openapi_extra=describe_body(NewSignal))
async def record_signal(
    caller: Ingester, telemetry: UseTelemetry, request: Request
) -> Success[Signal]:
    """Record one signal. With your own `id`, a signal sent twice counts once."""
    async with json_body(request) as body:
        return succeed(await telemetry.signals.record(caller.sender, body))


@router.post("/batch", status_code=201, openapi_extra=describe_body(NewSignals | SignalList))
async def record_signals(
    caller: Ingester, telemetry: UseTelemetry, request: Request
) -> Success[RecordedSignals]:
    """Record 1 to 1000 signals, all or none, under `signals` or as a bare array."""
    async with json_body(request) as body:
        recorded = await telemetry.signals.record_batch(caller.sender, body)
    ids = [signal.id for signal in recorded]
    return succeed(RecordedSignals(accepted=len(ids), ids=ids))


@router.get("")
async def list_signals(
    caller: Reader, telemetry: UseTelemetry, page: Paged, filters: Filtered, _fresh: Fresh
) -> SuccessPage[Signal]:
    """List signals, newest first."""
    listing = await telemetry.signals.find(caller.workspace_id, filters, page)
    return succeed_page(page, listing)


@router.get("/summary")
async def summarize_signals(
    caller: Reader,
    telemetry: UseTelemetry,
    filters: Filtered,
    _fresh: Fresh,
    granularity: Granularity = Granularity.DAILY,
) -> Success[list[SignalSummary]]:
    """Summarize signals by name, by default over the last 30 days."""
    summaries = await telemetry.signals.summarize(caller.workspace_id, filters, granularity)
    return succeed(summaries)


@router.get("/histogram")
async def count_signal_values(
    caller: Reader,
    telemetry: UseTelemetry,
    filters: Filtered,
    _fresh: Fresh,
    signal_name: Annotated[str, Query(alias="signalName", max_length=512)],
    bins: Annotated[int, Query(ge=2, le=50)] = 10,
) -> Success[SignalHistogram]:
    """Count the values of one signal in bins, by default over the last 30 days."""
    histogram = await telemetry.signals.count_values(
        caller.workspace_id, signal_name, filters, bins
    )
    return succeed(histogram)


@router.get("/trace/{traceId}")
async def list_signals_of_trace(
    trace_id: Annotated[TraceId, Path(alias="traceId")],
    caller: Reader,
    telemetry: UseTelemetry,
    page: Paged,
    _fresh: Fresh,
) -> SuccessPage[Signal]:
    """List the signals of one trace, newest first."""
    listing = await telemetry.signals.find_of_trace(caller.workspace_id, trace_id.lower(), page)
    return succeed_page(page, listing)
