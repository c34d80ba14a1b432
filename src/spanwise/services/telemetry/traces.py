"""Traces: list, read and delete."""

import asyncio
from collections.abc import Awaitable
from dataclasses import replace

from spanwise.ingest.commit.pipeline import Pipeline
from spanwise.ingest.records.rows import encode_deletion
from spanwise.model.accounts import Sender
from spanwise.model.analytics import Question
from spanwise.model.errors import NotFound
from spanwise.model.freshness import Freshness
from spanwise.model.page import Listing, PageRequest
from spanwise.model.telemetry.conventions import USAGE_KINDS
from spanwise.model.telemetry.conversation.messages import EXCEPTION_EVENTS
from spanwise.model.telemetry.filters import (
    Operator,
    Order,
    RowFilter,
    SpanSort,
    TraceFilter,
    TraceSort,
)
from spanwise.model.telemetry.signals import Signal
from spanwise.model.telemetry.spans import (
    ListedSpan,
    Neighbours,
    Span,
    SpanFields,
    SpanKind,
    SpanMatches,
    SpanStatus,
    Trace,
    TraceFilters,
    TraceStatus,
    WholeTrace,
)
from spanwise.model.times import TimeRange
from spanwise.services.agents import AgentDirectory
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.rollup.queries import STATUS_COUNTS
from spanwise.storage.telemetry.rollup.rollup import Rollup
from spanwise.storage.telemetry.rollup.source import can_use_rollup
from spanwise.storage.telemetry.rows.error_names import NO_NAME
from spanwise.storage.telemetry.rows.locations import TraceLocation, find_location
from spanwise.storage.telemetry.signals.signal_queries import find_signals_of_trace
from spanwise.storage.telemetry.spans import span_queries as stored_spans
from spanwise.storage.telemetry.spans.emitted_messages import LoggedMessages, find_messages
from spanwise.storage.telemetry.spans.span_list import list_spans
from spanwise.storage.telemetry.traces import trace_queries as stored
from spanwise.storage.telemetry.traces.filter_values import filter_values
from spanwise.storage.telemetry.traces.neighbours import find_neighbours
from spanwise.storage.telemetry.traces.trace_search import search_spans

# Words of a search in one trace; more are ignored.
MAX_WORDS = 16


class Traces:
    def __init__(
        self, engine: Engine, pipeline: Pipeline, agents: AgentDirectory, rollup: Rollup
    ) -> None:
        self._rollup = rollup
        self._engine = engine
        self._pipeline = pipeline
        self._agents = agents

    async def find(
        self,
        workspace: str,
        filters: TraceFilter,
        page: PageRequest,
        sort: TraceSort,
        order: Order,
        *,
        with_error_names: bool = False,
    ) -> Listing[Trace]:
        ids = await self._agents.ids_by_name(workspace)
        filters = await self._agents.resolve_filter(workspace, filters)
        return await stored.find_traces(
            self._engine,
            workspace,
            filters,
            page,
            ids,
            sort,
            order,
            self._count(workspace, filters),
            with_error_names=with_error_names,
        )

    def _count(self, workspace: str, filters: TraceFilter) -> Awaitable[int] | None:
        """Count with the rollup: millions of traces one by one would take most of the time.

        The rollup has no traces by status, but it knows how many failed.
        """
        statuses = [c for c in filters.conditions if c.field == "status"]
        others = tuple(c for c in filters.conditions if c.field != "status")
        counted = replace(filters, conditions=others)
        if not can_use_rollup(counted) or any(c.op is not Operator.EQ for c in statuses):
            return None

        async def count() -> int:
            question = Question(counted.period.or_all(), counted)
            counts = await self._rollup.answer(workspace, question, STATUS_COUNTS)
            return sum(
                count
                for status, count in counts.items()
                if all(c.value == status for c in statuses)
            )

        return count()

    async def get(self, workspace: str, trace_id: str) -> WholeTrace:
        ids = await self._agents.ids_by_name(workspace)
        location = TraceLocation(workspace, trace_id)
        columns, trace, (signal_count, log_count) = await asyncio.gather(
            stored_spans.read_spans(self._engine, location),
            stored.find_trace(self._engine, location, ids),
            stored.count_signals_and_logs(self._engine, location),
        )
        signals: list[Signal] = []
        if signal_count:
            signals = await find_signals_of_trace(self._engine, workspace, trace_id, ids)
        messages: dict[str, LoggedMessages] = {}
        if log_count:
            messages = await find_messages(self._engine, workspace, trace_id)
        spans = await stored_spans.to_spans(columns, trace_id, messages, ids)
        if not spans:
            raise NotFound("trace not found")
        if trace is not None and trace.experiment_id is None:
            trace = bind_to_experiment(trace, spans)
        trace = trace or describe_rootless_trace(spans)
        if trace.status is TraceStatus.ERROR:
            trace = trace.model_copy(update={"error_name": find_error_name(spans)})
        return WholeTrace(trace, spans, signals, log_count)

    async def find_neighbours(
        self, workspace: str, trace_id: str, filters: TraceFilter, sort: TraceSort, order: Order
    ) -> Neighbours:
        """Return the traces before and after one in the list of those that match."""
        filters = await self._agents.resolve_filter(workspace, filters)
        location = TraceLocation(workspace, trace_id)
        neighbours = await find_neighbours(self._engine, location, filters, sort, order)
        if neighbours is None:
            await self._find_location(workspace, trace_id)
        return neighbours or Neighbours(previous=None, next=None)

    async def search_spans(self, workspace: str, trace_id: str, search: str) -> SpanMatches:
        """Return the spans of a trace that contain all words; a search without words finds none."""
        location = await self._find_location(workspace, trace_id)
        words = search.split()[:MAX_WORDS]
        span_ids = await search_spans(self._engine, location, words) if words else []
        return SpanMatches(span_ids=span_ids)

    async def list_spans(
        self,
        workspace: str,
        filters: RowFilter,
        page: PageRequest,
        sort: SpanSort,
        order: Order,
    ) -> Listing[ListedSpan]:
        """Return one page of single spans of all traces."""
        ids = await self._agents.ids_by_name(workspace)
        filters = await self._agents.resolve_filter(workspace, filters)
        return await list_spans(self._engine, workspace, filters, page, ids, sort, order)

    async def get_span(self, workspace: str, trace_id: str, span_id: str) -> Span:
        ids = await self._agents.ids_by_name(workspace)
        location = TraceLocation(workspace, trace_id)
        span = await stored_spans.find_span(self._engine, location, span_id, ids)
        if span is None:
            await self._find_location(workspace, trace_id)
            raise NotFound("span not found")
        return span

    async def _find_location(self, workspace: str, trace_id: str) -> TraceLocation:
        """Return where a trace is; raises NotFound if the workspace has no span of it."""
        location = await find_location(self._engine, workspace, trace_id)
        if location is None:
            raise NotFound("trace not found")
        return location

    async def find_filters(self, workspace: str, period: TimeRange) -> TraceFilters:
        """Return the distinct filter values in the traces of a period."""
        ids = await self._agents.ids_by_name(workspace)
        question = Question(period.or_all(), TraceFilter(period))
        return await self._rollup.answer(workspace, question, filter_values(ids))

    async def delete(self, sender: Sender, trace_id: str) -> None:
        """Delete a trace with its signals and logs; durable once this returns."""
        workspace = sender.workspace
        if not await stored.is_known_trace(self._engine, workspace, trace_id):
            await self._pipeline.wait_until_visible(Freshness(workspace))
            if not await stored.is_known_trace(self._engine, workspace, trace_id):
                raise NotFound("trace not found")
        await self._pipeline.submit(sender, [encode_deletion(workspace, trace_id)])


def bind_to_experiment(trace: Trace, spans: list[SpanFields]) -> Trace:
    """Copy experiment and variant from the first span that has them."""
    for span in spans:
        if span["experimentId"] is not None:
            flag = {"experiment_id": span["experimentId"], "variant": span["variant"]}
            return trace.model_copy(update=flag)
    return trace


def find_error_name(spans: list[SpanFields]) -> str | None:
    """Return the first name of an exception, as `trace_error_names` does for a list of traces."""
    for span in spans:
        if span["status"] != SpanStatus.ERROR:
            continue
        events = (event for event in span["events"] if event["name"] in EXCEPTION_EVENTS)
        for attributes in (*(event["attributes"] for event in events), span["attributes"]):
            for key in ("exception.type", "error.type"):
                name = attributes.get(key)
                if isinstance(name, str) and name not in {"", NO_NAME}:
                    return name
    return None


def describe_rootless_trace(spans: list[SpanFields]) -> Trace:
    """Build a trace without a root span from its earliest span and its first agent."""
    first = spans[0]
    agent = next((span for span in spans if span["kind"] == SpanKind.AGENT), first)
    end = max(span["endTime"] for span in spans)
    errors = sum(span["status"] == SpanStatus.ERROR for span in spans)
    counted = [span for span in spans if span["kind"] in USAGE_KINDS and span["countedIn"] is None]
    return Trace(
        trace_id=first["traceId"],
        name=first["name"],
        agent_id=agent["agentId"],
        agent_name=agent["agentName"],
        status=TraceStatus.ERROR if first["status"] == SpanStatus.ERROR else TraceStatus.SUCCESS,
        error_type=first["errorType"],
        error_name=None,
        start_time=first["startTime"],
        end_time=end,
        duration_ms=(end - first["startTime"]).total_seconds() * 1000,
        span_count=len(spans),
        error_count=errors,
        models=sorted({span["model"] for span in counted if span["model"]}),
        tools=sorted({span["toolName"] for span in spans if span["toolName"]}),
        input_tokens=sum(span["inputTokens"] for span in counted),
        output_tokens=sum(span["outputTokens"] for span in counted),
        total_tokens=sum(span["totalTokens"] for span in counted),
        cost=sum(span["cost"] for span in counted),
        session_id=first["sessionId"],
        user_id=first["userId"],
        environment=first["environment"],
        experiment_id=first["experimentId"],
        variant=first["variant"],
        input_preview="",
        output_preview="",
    )
