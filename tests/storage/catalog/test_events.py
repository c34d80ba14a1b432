"""Webhooks and their deliveries in the catalog."""

from datetime import UTC, datetime, timedelta

from sqlalchemy import func, select

from spanwise.model.events import Channel, Webhook
from spanwise.services.notifications.events import new_outbox_message
from spanwise.storage.catalog import Catalog
from spanwise.storage.catalog import events as stored
from spanwise.storage.catalog.tables import deliveries

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)


async def test_deliveries_of_a_deleted_webhook_are_cleaned_up(catalog: Catalog) -> None:
    webhook = Webhook(id="whk_1", url="https://example.com/hook", types=[], created_at=NOW)
    message = new_outbox_message(
        "wsp_1", Channel.WEBHOOK, webhook.url, "key.revoked", "key_1", {}, NOW, webhook_id="whk_1"
    )
    async with catalog.write() as tx:
        await stored.add_webhook(tx, "wsp_1", webhook, "whsec_1")
        assert await stored.add_message(tx, message, "once")
    async with catalog.write() as tx:
        assert await stored.delete_webhook(tx, "wsp_1", "whk_1", NOW)
        assert await stored.count_pending(tx) == 0
    async with catalog.write() as tx:
        await stored.delete_finished(tx, NOW + timedelta(seconds=1))
        assert await tx.scalar(select(func.count()).select_from(deliveries)) == 0
