"""Builds ingest: the journal in front of the telemetry store."""

import asyncio
from contextlib import AsyncExitStack

from spanwise.ingest.commit.batches import Sink
from spanwise.ingest.commit.journal import Journal
from spanwise.ingest.commit.meter import IngestMeter, MeteredStore
from spanwise.ingest.commit.pipeline import Pipeline
from spanwise.services.telemetry.agents import AgentDirectory
from spanwise.settings import Settings
from spanwise.storage.catalog import Catalog
from spanwise.storage.telemetry.engine.engine import yield_to_readers
from spanwise.storage.telemetry.writer import Writer


def open_agents(stack: AsyncExitStack, catalog: Catalog) -> AgentDirectory:
    agents = AgentDirectory(catalog)
    stack.push_async_callback(agents.close)
    return agents


def open_pipeline(
    settings: Settings,
    journal: Journal,
    writer: Writer,
    agents: AgentDirectory,
    meter: IngestMeter,
) -> Pipeline:
    """Put ingest together: the journal in front, the engine behind it."""
    loop = asyncio.get_running_loop()
    sink = Sink(
        writer,
        settings.data_dir / "refused",
        on_agents=lambda seen: agents.register_seen(seen, loop),
    )
    # Enough for four bodies of the largest size; a longer queue would only answer later.
    queue_bytes = min(settings.memory_limit_mb * 2**20 // 16, 64 * 2**20)
    min_free_bytes = settings.min_free_disk_mb * 2**20
    return Pipeline(
        journal,
        MeteredStore(sink, meter),
        queue_bytes,
        min_free_bytes,
        agents.has_pending,
        yield_to_readers,
    )
