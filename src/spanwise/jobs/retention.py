"""Removes telemetry older than `SPANWISE_RETENTION_DAYS`, at start and every hour."""

import asyncio
from contextlib import suppress
from datetime import datetime, timedelta

import structlog

from spanwise.model.api_model import utc_now
from spanwise.services.accounts import audit
from spanwise.storage.catalog import Catalog
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.rollup.rollup import Rollup
from spanwise.storage.telemetry.spans.retention import recompute_truncated_traces, remove_expired
from spanwise.storage.telemetry.writer import TelemetryWriter

log = structlog.get_logger()

INTERVAL_SECONDS = 3600.0
_CLIENT_SETTINGS = {"max_execution_time": 600, "max_threads": 1}


class Retention:
    """Safe on several replicas at once: removing twice changes nothing."""

    def __init__(
        self, engine: Engine, writer: TelemetryWriter, rollup: Rollup, catalog: Catalog, days: int
    ) -> None:
        self._engine = engine
        self._writer = writer
        self._rollup = rollup
        self._catalog = catalog
        self._days = days
        self._stopping = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        if self._days:
            self._task = asyncio.create_task(self._loop(), name="retention")

    async def stop(self) -> None:
        self._stopping.set()
        if self._task is not None:
            await self._task

    async def _loop(self) -> None:
        while not self._stopping.is_set():
            try:
                await self.remove()
            except Exception:
                log.exception("job_failed", job="retention")
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), INTERVAL_SECONDS)

    async def remove(self) -> dict[str, int]:
        """Remove expired telemetry; returns the number of rows by table."""
        return await self.remove_before(retention_cutoff(utc_now(), self._days))

    async def remove_before(self, before: datetime) -> dict[str, int]:
        """Remove telemetry before a whole hour, and clear the caches derived from it."""
        removed = await asyncio.to_thread(self._remove, before)
        if removed:
            self._rollup.clear_cache()
            log.info("telemetry_expired", before=before.isoformat(), **removed)
            async with self._catalog.write() as tx:
                await audit.record(
                    tx, "telemetry.expired", before=before.isoformat(), removedRows=removed
                )
        return removed

    def _remove(self, before: datetime) -> dict[str, int]:
        client = self._engine.new_client(_CLIENT_SETTINGS)
        try:
            with self._rollup.maintenance.paused():
                removed = remove_expired(client, before, self._stopping.is_set)
        finally:
            self._engine.close_client(client)
        if "spans" in removed:
            self._writer.run_exclusively(lambda own: recompute_truncated_traces(own, before))
        return removed


def retention_cutoff(now: datetime, days: int) -> datetime:
    """Return midnight of the oldest day to keep, so that rows are removed once a day."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight - timedelta(days=days)
