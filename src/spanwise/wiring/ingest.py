"""Builds the commit pipeline of ingest, which writes to the telemetry engine."""

import asyncio
from contextlib import AsyncExitStack

from spanwise.ingest.commit.counters import CountingStore, IngestCounters
from spanwise.ingest.commit.engine_store import EngineStore
from spanwise.ingest.commit.journal import Journal
from spanwise.ingest.commit.pipeline import Pipeline
from spanwise.services.agents import AgentDirectory
from spanwise.settings import Settings
from spanwise.storage.catalog import Catalog
from spanwise.storage.telemetry.engine.client_pool import lower_thread_priority
from spanwise.storage.telemetry.write.writer import TelemetryWriter


def open_agents(stack: AsyncExitStack, catalog: Catalog) -> AgentDirectory:
    agents = AgentDirectory(catalog)
    stack.push_async_callback(agents.close)
    return agents


def open_pipeline(
    settings: Settings,
    journal: Journal,
    writer: TelemetryWriter,
    agents: AgentDirectory,
    counters: IngestCounters,
) -> Pipeline:
    """Return a pipeline that is not started yet. Call on the running event loop."""
    loop = asyncio.get_running_loop()
    store = EngineStore(
        writer,
        settings.data_dir / "refused",
        on_agents=lambda seen: agents.register_seen(seen, loop),
    )
    # Room for four bodies of the largest size; a longer queue would only add latency.
    max_waiting_bytes = min(settings.memory_limit_mb * 2**20 // 16, 64 * 2**20)
    return Pipeline(
        journal,
        CountingStore(store, counters),
        max_waiting_bytes,
        min_free_bytes=settings.min_free_disk_mb * 2**20,
        has_pending=agents.has_pending,
        on_store_thread=lower_thread_priority,
    )
