"""Signals: record, list and summarize."""

from collections.abc import Sequence
from dataclasses import replace

from spanwise.ingest.receiver import Receiver
from spanwise.ingest.rest_bodies import NewSignal, parse_signal, parse_signals
from spanwise.model.accounts import Sender
from spanwise.model.api_model import utc_now
from spanwise.model.errors import NotFound
from spanwise.model.page import Listing, PageRequest
from spanwise.model.telemetry.filters import RowFilter, equal
from spanwise.model.telemetry.signals import Signal, SignalHistogram, SignalSummary
from spanwise.model.times import Granularity, TimeRange
from spanwise.services.agents import AgentDirectory
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.signals import signal_queries as stored
from spanwise.storage.telemetry.signals.histograms import count_values
from spanwise.storage.telemetry.signals.summaries import summarize_signals
from spanwise.storage.telemetry.traces.trace_queries import is_known_trace

SUMMARY_DAYS = 30


class Signals:
    def __init__(self, engine: Engine, receiver: Receiver, agents: AgentDirectory) -> None:
        self._engine = engine
        self._receiver = receiver
        self._agents = agents

    async def record(self, sender: Sender, body: bytes) -> Signal:
        """Store one signal; return it with its id and times filled in."""
        signal = await self._receiver.read_json(sender, body, parse_signal)
        return (await self.record_all(sender, [signal]))[0]

    async def record_batch(self, sender: Sender, body: bytes) -> list[Signal]:
        """Store 1 to 1000 signals, all or none."""
        signals = await self._receiver.read_json(sender, body, parse_signals)
        return await self.record_all(sender, signals)

    async def record_all(self, sender: Sender, new: Sequence[NewSignal]) -> list[Signal]:
        """Store parsed signals, all or none."""
        ids = await self._agents.ids_by_name(sender.workspace)
        names = {agent_id: name for name, agent_id in ids.items()}
        named = [
            signal.model_copy(update={"agent_id": names.get(signal.agent_id, signal.agent_id)})
            if signal.agent_id
            else signal
            for signal in new
        ]
        recorded = await self._receiver.receive_signals(sender, named)
        return [
            signal.model_copy(update={"agent_id": ids.get(signal.agent_id, signal.agent_id)})
            if signal.agent_id
            else signal
            for signal in recorded
        ]

    async def find(self, workspace: str, filters: RowFilter, page: PageRequest) -> Listing[Signal]:
        filters = await self._agents.resolve_filter(workspace, filters)
        ids = await self._agents.ids_by_name(workspace)
        return await stored.find_signals(self._engine, workspace, filters, page, ids)

    async def find_of_trace(
        self, workspace: str, trace_id: str, page: PageRequest
    ) -> Listing[Signal]:
        """List a trace's signals; raises NotFound if nothing is stored for the trace."""
        filters = RowFilter(conditions=equal(trace_id=trace_id))
        listing = await self.find(workspace, filters, page)
        if not listing.total and not await is_known_trace(self._engine, workspace, trace_id):
            raise NotFound("trace not found")
        return listing

    async def summarize(
        self, workspace: str, filters: RowFilter, granularity: Granularity
    ) -> list[SignalSummary]:
        """Summarize the signals of a period, by default the last 30 days, by name."""
        period = filters.period.or_last_days(SUMMARY_DAYS, utc_now())
        buckets = period.buckets(granularity)
        filters = await self._agents.resolve_filter(workspace, filters)
        filters = replace(filters, period=TimeRange(period.start, period.end))
        return await summarize_signals(self._engine, workspace, filters, granularity, buckets)

    async def count_values(
        self, workspace: str, signal_name: str, filters: RowFilter, bins: int
    ) -> SignalHistogram:
        """Count the values of a signal in a period, by default the last 30 days."""
        period = filters.period.or_last_days(SUMMARY_DAYS, utc_now())
        filters = await self._agents.resolve_filter(workspace, filters)
        filters = replace(filters, period=TimeRange(period.start, period.end))
        return await count_values(self._engine, workspace, signal_name, filters, bins)
