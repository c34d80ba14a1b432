"""Retention of a workspace: checks it, and counts what it would remove."""

import asyncio
from datetime import datetime, timedelta

from spanwise.model.api_model import utc_now
from spanwise.model.errors import Invalid
from spanwise.model.workspaces import RetentionPreview
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.retention.contents import count_contents
from spanwise.storage.telemetry.retention.expired_rows import count_expired


class RetentionPreviews:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def count(
        self, workspace: str, days: int | None, content_days: int | None
    ) -> RetentionPreview:
        """Count what these settings would remove now."""
        return await asyncio.to_thread(self._count, workspace, days, content_days)

    def _count(
        self, workspace: str, days: int | None, content_days: int | None
    ) -> RetentionPreview:
        now = utc_now()
        with self._engine.client() as client:
            rows, emptied = {}, 0
            if days:
                rows = count_expired(client, retention_cutoff(now, days), workspace)
            if content_days:
                emptied = count_contents(client, retention_cutoff(now, content_days), workspace)
        return RetentionPreview(rows=rows, spans_without_contents=emptied)


def check_retention(days: int | None, content_days: int | None, installation_days: int) -> None:
    """Raise Invalid when a retention is longer than the one that contains it."""
    if installation_days and (days or installation_days) > installation_days:
        raise Invalid.field(
            "retentionDays", f"this installation keeps telemetry for {installation_days} days"
        )
    if content_days and days and content_days > days:
        raise Invalid.field("contentRetentionDays", "must not be longer than retentionDays")


def retention_cutoff(now: datetime, days: int) -> datetime:
    """Return midnight of the oldest day to keep, so that rows are removed once a day."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight - timedelta(days=days)
