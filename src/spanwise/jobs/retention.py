"""Removes old telemetry, at start and every hour.

`SPANWISE_RETENTION_DAYS` holds for the installation; a workspace may keep less than that, and may
remove contents earlier than numbers. Telemetry of deleted workspaces is removed too.
"""

import asyncio
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

import structlog
from clickhouse_connect.driver.client import Client

from spanwise.jobs.periodic import Periodic
from spanwise.model.api_model import utc_now
from spanwise.model.workspaces import WorkspaceRetention
from spanwise.services import audit
from spanwise.services.workspaces.retention import retention_cutoff
from spanwise.storage.catalog import Catalog
from spanwise.storage.catalog.accounts.workspaces import (
    finish_removal,
    list_removals,
    list_retentions,
)
from spanwise.storage.telemetry.engine.client_pool import BACKGROUND_SETTINGS, Engine
from spanwise.storage.telemetry.retention.contents import remove_contents
from spanwise.storage.telemetry.retention.expired_rows import (
    recompute_truncated_traces,
    remove_expired,
)
from spanwise.storage.telemetry.rollup.rollup import Rollup
from spanwise.storage.telemetry.workspace_removal import remove_workspace
from spanwise.storage.telemetry.write.writer import TelemetryWriter

log = structlog.get_logger()

T = TypeVar("T")

INTERVAL_SECONDS = 3600.0
# A replica accepts the keys of a deleted workspace until its cache expires, and may be down with
# records of it in its journal.
REMOVAL_PERIOD = timedelta(days=1)


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
        self._stopping = threading.Event()
        self._job = Periodic(
            "retention", INTERVAL_SECONDS, self.run, runs_on_start=True, finishes=True
        )

    def start(self) -> None:
        self._job.start()

    def wake(self) -> None:
        """Run soon: a retention was changed or a workspace deleted."""
        self._job.wake()

    async def stop(self) -> None:
        self._stopping.set()
        await self._job.stop()

    async def run(self) -> None:
        """Remove everything that is due."""
        now = utc_now()
        if self._days:
            await self.remove_before(retention_cutoff(now, self._days))
        async with self._catalog.read() as tx:
            retentions = await list_retentions(tx)
            removals = await list_removals(tx)
        for retention in retentions:
            await self._apply(retention, now)
        for workspace, deleted_at in removals.items():
            await self._remove_workspace(workspace, is_last=now - deleted_at > REMOVAL_PERIOD)

    async def remove_before(self, before: datetime, workspace: str | None = None) -> dict[str, int]:
        """Remove telemetry before a whole hour, and clear the caches derived from it."""
        removed = await asyncio.to_thread(self._remove, before, workspace)
        if removed:
            self._rollup.clear_cache()
            log.info("telemetry_expired", before=before.isoformat(), **removed)
            await self._record("telemetry.expired", workspace, before, removed)
        return removed

    def _remove(self, before: datetime, workspace: str | None) -> dict[str, int]:
        removed = self._run_paused(
            partial(
                remove_expired,
                before=before,
                workspace=workspace,
                is_stopping=self._stopping.is_set,
            )
        )
        if "spans" in removed:
            self._writer.run_exclusively(
                lambda own: recompute_truncated_traces(own, before, workspace)
            )
        return removed

    async def _apply(self, retention: WorkspaceRetention, now: datetime) -> None:
        workspace = retention.workspace_id
        if retention.days:
            await self.remove_before(retention_cutoff(now, retention.days), workspace)
        if retention.content_days:
            before = retention_cutoff(now, retention.content_days)
            work = partial(remove_contents, before=before, workspace=workspace)
            removed = await asyncio.to_thread(self._run_paused, work)
            if removed:
                log.info("contents_expired", before=before.isoformat(), **removed)
                await self._record("contents.expired", workspace, before, removed)

    async def _remove_workspace(self, workspace: str, *, is_last: bool) -> None:
        work = partial(remove_workspace, workspace=workspace)
        removed = await asyncio.to_thread(self._run_paused, work)
        if removed:
            self._rollup.clear_cache()
            log.info("workspace_removed", workspace=workspace, **removed)
        if is_last:
            async with self._catalog.write() as tx:
                await finish_removal(tx, workspace)

    def _run_paused(self, work: Callable[[Client], T]) -> T:
        """Run work on its own client, while the rollup is not maintained."""
        client = self._engine.new_client(BACKGROUND_SETTINGS)
        try:
            with self._rollup.maintenance.paused():
                return work(client)
        finally:
            self._engine.close_client(client)

    async def _record(
        self, action: str, workspace: str | None, before: datetime, removed: dict[str, int]
    ) -> None:
        async with self._catalog.write() as tx:
            await audit.record(
                tx, action, workspace=workspace, before=before.isoformat(), removedRows=removed
            )
