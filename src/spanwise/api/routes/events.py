"""Routes for workspace events, webhooks and deliveries."""

from typing import Annotated

from fastapi import Path, Query
from pydantic import Field

from spanwise.api.auth import ClientAddress, Manager, Reader
from spanwise.api.http.envelope import Deleted, Success, SuccessPage, succeed, succeed_page
from spanwise.api.requests.parameters import Paged, Period
from spanwise.api.routing import PrefixRouter
from spanwise.api.services import UseAlerting
from spanwise.model.api_model import ApiModel
from spanwise.model.events import (
    Delivery,
    DeliveryStatus,
    Event,
    EventType,
    Webhook,
    WebhookWithSecret,
)

router = PrefixRouter("events", "/events")

WebhookId = Annotated[str, Path(alias="webhookId")]
Status = Annotated[DeliveryStatus | None, Query(description="Only deliveries with this status.")]


class NewWebhook(ApiModel):
    url: Annotated[str, Field(max_length=2000, json_schema_extra={"format": "uri"})]
    types: list[EventType] = Field(
        default=[], max_length=len(EventType), description="Empty means all."
    )


@router.get("")
async def list_events(
    caller: Reader,
    alerting: UseAlerting,
    page: Paged,
    period: Period,
    type: EventType | None = None,  # noqa: A002 -- the name in the query
) -> SuccessPage[Event]:
    """List events, newest first."""
    return succeed_page(page, await alerting.webhooks.list_events(caller, period, type, page))


@router.get("/deliveries")
async def list_deliveries(
    caller: Reader, alerting: UseAlerting, page: Paged, status: Status = None
) -> SuccessPage[Delivery]:
    """List the e-mails and webhook messages of the last 30 days with their outcome."""
    return succeed_page(page, await alerting.webhooks.list_deliveries(caller, None, status, page))


@router.get("/webhooks")
async def list_webhooks(caller: Reader, alerting: UseAlerting, page: Paged) -> SuccessPage[Webhook]:
    return succeed_page(page, await alerting.webhooks.list(caller, page))


@router.post("/webhooks", status_code=201)
async def create_webhook(
    body: NewWebhook, caller: Manager, alerting: UseAlerting, address: ClientAddress
) -> Success[WebhookWithSecret]:
    """Subscribe a URL to events. Only this response contains the signing secret."""
    return succeed(await alerting.webhooks.create(caller, body.url, body.types, address))


@router.delete("/webhooks/{webhookId}")
async def delete_webhook(
    webhook_id: WebhookId, caller: Manager, alerting: UseAlerting, address: ClientAddress
) -> Success[Deleted]:
    """Delete a webhook; its pending deliveries fail."""
    await alerting.webhooks.delete(caller, webhook_id, address)
    return succeed(Deleted(id=webhook_id))


@router.get("/webhooks/{webhookId}/deliveries")
async def list_webhook_deliveries(
    webhook_id: WebhookId, caller: Reader, alerting: UseAlerting, page: Paged, status: Status = None
) -> SuccessPage[Delivery]:
    """List the deliveries to one webhook, newest first."""
    deliveries = await alerting.webhooks.list_deliveries(caller, webhook_id, status, page)
    return succeed_page(page, deliveries)


@router.post("/webhooks/{webhookId}/test")
async def send_test(
    webhook_id: WebhookId, caller: Manager, alerting: UseAlerting
) -> Success[Delivery]:
    """Send a message of type `webhook.test` now and return its outcome."""
    return succeed(await alerting.webhooks.send_test(caller, webhook_id))
