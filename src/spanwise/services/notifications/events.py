"""Records events in the transaction of the change, and enqueues messages to subscribed webhooks."""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from spanwise.model.api_model import new_id, utc_now
from spanwise.model.events import (
    Channel,
    Delivery,
    DeliveryStatus,
    Event,
    EventType,
    OutboxMessage,
)
from spanwise.storage.catalog import Transaction
from spanwise.storage.catalog import events as stored

_MAX_SUBJECT = 320


async def record_event(
    tx: Transaction,
    workspace_id: str,
    event_type: EventType,
    *,
    actor: str,
    subject: str,
    at: datetime | None = None,
    **data: Any,  # noqa: ANN401 -- details of the event
) -> Event:
    """Add an event and enqueue it for every webhook that subscribes to its type."""
    event = new_event(event_type, actor=actor, subject=subject, at=at, **data)
    await record_events(tx, workspace_id, [event])
    return event


def new_event(
    event_type: EventType,
    *,
    actor: str,
    subject: str,
    at: datetime | None = None,
    **data: Any,  # noqa: ANN401 -- details of the event
) -> Event:
    return Event(
        id=new_id("evt"),
        type=event_type,
        at=at or utc_now(),
        actor=actor,
        subject=subject[:_MAX_SUBJECT],
        data=data,
    )


async def record_events(tx: Transaction, workspace_id: str, events: Sequence[Event]) -> None:
    """Add events of one type and enqueue them for every webhook that subscribes to it."""
    await stored.add_events(tx, workspace_id, events)
    messages = [
        (
            new_outbox_message(
                workspace_id,
                Channel.WEBHOOK,
                webhook.url,
                event.type,
                event.subject,
                describe_event(event),
                event.at,
                secret=secret,
                webhook_id=webhook.id,
            ),
            deduplication_key(event.id, webhook.id),
        )
        for webhook, secret in await stored.find_subscribers(tx, workspace_id, events[0].type)
        for event in events
    ]
    if messages:
        await stored.add_messages(tx, messages)


def describe_event(event: Event) -> dict[str, Any]:
    """Return the webhook payload of an event, in the format of Standard Webhooks."""
    return {
        "type": event.type,
        "timestamp": event.model_dump(mode="json")["at"],
        "data": {"actor": event.actor, "subject": event.subject, **event.data},
    }


def new_outbox_message(
    workspace_id: str,
    channel: Channel,
    target: str,
    message_type: str,
    subject: str,
    content: dict[str, Any],
    now: datetime,
    *,
    secret: str | None = None,
    webhook_id: str | None = None,
) -> OutboxMessage:
    """Return a pending message that is due immediately."""
    delivery = Delivery(
        id=new_id("msg"),
        channel=channel,
        target=target,
        webhook_id=webhook_id,
        type=message_type,
        subject=subject,
        status=DeliveryStatus.PENDING,
        attempts=0,
        next_attempt_at=now,
        response_status=None,
        error=None,
        created_at=now,
        finished_at=None,
    )
    return OutboxMessage(delivery, workspace_id, content, secret)


def deduplication_key(*parts: str) -> str:
    """Hash what identifies a message and its receiver, so that it is enqueued only once."""
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()
