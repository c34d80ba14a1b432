"""Event feed, webhook subscriptions and their deliveries."""

import secrets
from base64 import b64encode
from collections.abc import Awaitable, Callable, Sequence
from urllib.parse import urlsplit

from spanwise.model.accounts import Principal
from spanwise.model.alerts import mask_secret
from spanwise.model.api_model import new_id, utc_now
from spanwise.model.errors import Invalid, NotFound
from spanwise.model.events import (
    Channel,
    Delivery,
    DeliveryStatus,
    Event,
    EventType,
    OutboxMessage,
    Webhook,
    WebhookWithSecret,
)
from spanwise.model.page import Listing, PageRequest
from spanwise.model.times import TimeRange
from spanwise.model.workspaces import WorkspaceRole
from spanwise.services.audit import record_action
from spanwise.services.notifications.events import deduplication_key, new_outbox_message
from spanwise.services.notifications.webhook_guard import WebhookGuard
from spanwise.storage.catalog import Catalog
from spanwise.storage.catalog import events as stored

MAX_WEBHOOKS = 50
TEST = "webhook.test"


class Webhooks:
    def __init__(
        self,
        catalog: Catalog,
        guard: WebhookGuard,
        attempt: Callable[[OutboxMessage], Awaitable[bool]],
    ) -> None:
        self._catalog = catalog
        self._guard = guard
        self._attempt = attempt

    async def list_events(
        self, caller: Principal, period: TimeRange, event_type: EventType | None, page: PageRequest
    ) -> Listing[Event]:
        async with self._catalog.read() as tx:
            return await stored.list_events(tx, caller.workspace_id, period, event_type, page)

    async def list(self, caller: Principal, page: PageRequest) -> Listing[Webhook]:
        async with self._catalog.read() as tx:
            listing = await stored.list_webhooks(tx, caller.workspace_id, page)
        if _may_manage(caller):
            return listing
        return Listing(
            [one.model_copy(update={"url": mask_secret(one.url)}) for one in listing.items],
            listing.total,
        )

    async def create(
        self, caller: Principal, url: str, types: Sequence[EventType], address: str | None
    ) -> WebhookWithSecret:
        """Subscribe a URL; only this response contains the signing secret."""
        if problem := await self._guard.find_problem(url):
            raise Invalid.field("url", problem)
        webhook = Webhook(id=new_id("whk"), url=url, types=sorted(set(types)), created_at=utc_now())
        secret = new_webhook_secret()
        async with self._catalog.write() as tx:
            if await stored.count_webhooks(tx, caller.workspace_id) >= MAX_WEBHOOKS:
                raise Invalid(f"there are already {MAX_WEBHOOKS} webhooks; delete one first")
            await stored.add_webhook(tx, caller.workspace_id, webhook, secret)
            host = urlsplit(url).hostname
            await record_action(tx, caller, "webhook.created", webhook.id, address, host=host)
        return WebhookWithSecret(**webhook.model_dump(), secret=secret)

    async def delete(self, caller: Principal, webhook_id: str, address: str | None) -> None:
        async with self._catalog.write() as tx:
            if not await stored.delete_webhook(tx, caller.workspace_id, webhook_id, utc_now()):
                raise NotFound("webhook not found")
            await record_action(tx, caller, "webhook.deleted", webhook_id, address)

    async def list_deliveries(
        self,
        caller: Principal,
        webhook_id: str | None,
        status: DeliveryStatus | None,
        page: PageRequest,
    ) -> Listing[Delivery]:
        async with self._catalog.read() as tx:
            if webhook_id is not None:
                row = await stored.find_webhook(tx, caller.workspace_id, webhook_id)
                if row is None:
                    raise NotFound("webhook not found")
            listing = await stored.list_deliveries(
                tx, caller.workspace_id, page, webhook_id=webhook_id, status=status
            )
        if _may_manage(caller):
            return listing
        return Listing([_shorten(delivery) for delivery in listing.items], listing.total)

    async def send_test(self, caller: Principal, webhook_id: str) -> Delivery:
        """Send a test message now and return its delivery."""
        now = utc_now()
        async with self._catalog.write() as tx:
            row = await stored.find_webhook(tx, caller.workspace_id, webhook_id)
            if row is None:
                raise NotFound("webhook not found")
            webhook, secret = row
            stamp = now.isoformat().replace("+00:00", "Z")
            message = new_outbox_message(
                caller.workspace_id,
                Channel.WEBHOOK,
                webhook.url,
                TEST,
                webhook.id,
                {"type": TEST, "timestamp": stamp, "data": {"webhookId": webhook.id}},
                now,
                secret=secret,
                webhook_id=webhook.id,
            )
            await stored.add_message(tx, message, deduplication_key(message.delivery.id))
        await self._attempt(message)
        async with self._catalog.read() as tx:
            return await stored.find_delivery(tx, message.delivery.id)


def new_webhook_secret() -> str:
    """Return a signing secret in the format of Standard Webhooks."""
    return "whsec_" + b64encode(secrets.token_bytes(24)).decode()


def _may_manage(caller: Principal) -> bool:
    return caller.may_write(WorkspaceRole.ADMIN)


def _shorten(delivery: Delivery) -> Delivery:
    """Shorten the URL of a webhook, which may be a secret; those of chats are stored shortened."""
    if delivery.channel is not Channel.WEBHOOK:
        return delivery
    return delivery.model_copy(update={"target": mask_secret(delivery.target)})
