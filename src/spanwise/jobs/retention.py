"""Removes telemetry older than `SPANWISE_RETENTION_DAYS`, once an hour and at start."""

import asyncio
from contextlib import suppress
from datetime import datetime, timedelta

import structlog

from spanwise.model.record import utc_now
from spanwise.services.accounts import audit
from spanwise.storage.catalog import Catalog
from spanwise.storage.telemetry.engine.engine import Engine
from spanwise.storage.telemetry.rollup.rollup import Rollup
from spanwise.storage.telemetry.spans.retention import remove_expired, summarize_cut_traces
from spanwise.storage.telemetry.writer import Writer

log = structlog.get_logger()

EVERY_SECONDS = 3600.0
_CLIENT_SETTINGS = {"max_execution_time": 600, "max_threads": 1}


class Retention:
    """Several replicas may do it at once: what is gone already is not there to remove."""

    def __init__(
        self, engine: Engine, writer: Writer, rollup: Rollup, catalog: Catalog, days: int
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
                await asyncio.wait_for(self._stopping.wait(), EVERY_SECONDS)

    async def remove(self) -> dict[str, int]:
        """Remove what is too old by now; returns how many rows of which tables."""
        return await self.remove_before(oldest_kept(utc_now(), self._days))

    async def remove_before(self, before: datetime) -> dict[str, int]:
        """Remove what lies before a whole hour, and what was remembered of it."""
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
            self._engine.drop_client(client)
        if "spans" in removed:
            self._writer.exclusively(lambda own: summarize_cut_traces(own, before))
        return removed


def oldest_kept(now: datetime, days: int) -> datetime:
    """Whole days: so the rows of a month are looked at once a day, and days stay complete."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight - timedelta(days=days)
