"""Events, webhook subscriptions, and the outbox of notifications."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from spanwise.model.events import Delivery, DeliveryStatus, Event, EventType, OutboxMessage, Webhook
from spanwise.model.page import Listing, PageRequest
from spanwise.model.times import TimeRange
from spanwise.storage.catalog.database import Transaction
from spanwise.storage.catalog.tables import deliveries, events, webhooks


async def add_events(tx: Transaction, workspace_id: str, added: Sequence[Event]) -> None:
    rows = [{**event.model_dump(by_alias=False), "workspace_id": workspace_id} for event in added]
    await tx.execute(insert(events), rows)


async def has_event(tx: Transaction, workspace_id: str, event_type: EventType) -> bool:
    """Return whether the workspace has an event of this type."""
    condition = and_(events.c.workspace_id == workspace_id, events.c.type == event_type)
    return (await tx.execute(select(events.c.id).where(condition).limit(1))).first() is not None


async def list_events(
    tx: Transaction,
    workspace_id: str,
    period: TimeRange,
    event_type: EventType | None,
    page: PageRequest,
) -> Listing[Event]:
    condition = and_(
        events.c.workspace_id == workspace_id,
        *([events.c.at >= period.start] if period.start else []),
        *([events.c.at < period.end] if period.end else []),
        *([events.c.type == event_type] if event_type else []),
    )
    total = await tx.execute(select(func.count()).select_from(events).where(condition))
    rows = await tx.execute(
        select(events)
        .where(condition)
        .order_by(events.c.at.desc(), events.c.id.desc())
        .limit(page.limit)
        .offset(page.skip)
    )
    return Listing([Event.model_validate(dict(row._mapping)) for row in rows], total.scalar_one())


async def add_webhook(tx: Transaction, workspace_id: str, webhook: Webhook, secret: str) -> None:
    values = webhook.model_dump(by_alias=False, exclude={"secret"})
    await tx.execute(insert(webhooks).values(**values, workspace_id=workspace_id, secret=secret))


async def count_webhooks(tx: Transaction, workspace_id: str) -> int:
    in_workspace = webhooks.c.workspace_id == workspace_id
    return (
        await tx.execute(select(func.count()).select_from(webhooks).where(in_workspace))
    ).scalar_one()


async def list_webhooks(tx: Transaction, workspace_id: str, page: PageRequest) -> Listing[Webhook]:
    rows = await tx.execute(
        select(webhooks)
        .where(webhooks.c.workspace_id == workspace_id)
        .order_by(webhooks.c.id.desc())
        .limit(page.limit)
        .offset(page.skip)
    )
    found = [Webhook.model_validate(dict(row._mapping)) for row in rows]
    return Listing(found, await count_webhooks(tx, workspace_id))


async def find_webhook(
    tx: Transaction, workspace_id: str, webhook_id: str
) -> tuple[Webhook, str] | None:
    """Return a webhook with its secret."""
    row = (
        await tx.execute(
            select(webhooks).where(
                webhooks.c.workspace_id == workspace_id, webhooks.c.id == webhook_id
            )
        )
    ).one_or_none()
    return None if row is None else (Webhook.model_validate(dict(row._mapping)), row.secret)


async def find_subscribers(
    tx: Transaction, workspace_id: str, event_type: EventType
) -> list[tuple[Webhook, str]]:
    """Return the webhooks subscribed to this type of event, with their secrets."""
    rows = await tx.execute(select(webhooks).where(webhooks.c.workspace_id == workspace_id))
    return [
        (Webhook.model_validate(dict(row._mapping)), row.secret)
        for row in rows
        if not row.types or event_type in row.types
    ]


async def delete_webhook(tx: Transaction, workspace_id: str, webhook_id: str, at: datetime) -> bool:
    """Delete a webhook; its pending deliveries fail."""
    await tx.execute(
        update(deliveries)
        .where(
            deliveries.c.workspace_id == workspace_id,
            deliveries.c.webhook_id == webhook_id,
            deliveries.c.status == DeliveryStatus.PENDING,
        )
        .values(
            status=DeliveryStatus.FAILED,
            next_attempt_at=None,
            finished_at=at,
            error="the webhook was deleted",
        )
    )
    removed = await tx.execute(
        delete(webhooks).where(webhooks.c.workspace_id == workspace_id, webhooks.c.id == webhook_id)
    )
    return removed.rowcount > 0


async def add_message(tx: Transaction, message: OutboxMessage, once_key: str) -> bool:
    """Add a message to the outbox; False when one with the same key exists."""
    try:
        async with tx.begin_nested():
            await add_messages(tx, [(message, once_key)])
    except IntegrityError:
        return False
    return True


async def add_messages(tx: Transaction, messages: Sequence[tuple[OutboxMessage, str]]) -> None:
    """Add messages to the outbox, each with its deduplication key."""
    rows = [
        {
            **message.delivery.model_dump(by_alias=False),
            "workspace_id": message.workspace_id,
            "content": message.content,
            "secret": message.secret,
            "once_key": once_key,
        }
        for message, once_key in messages
    ]
    await tx.execute(insert(deliveries), rows)


async def find_due_messages(tx: Transaction, now: datetime, limit: int) -> list[OutboxMessage]:
    """Return messages of all workspaces whose next attempt is due; for internal jobs only."""
    rows = await tx.execute(
        select(deliveries)
        .where(deliveries.c.next_attempt_at <= now)
        .order_by(deliveries.c.next_attempt_at, deliveries.c.id)
        .limit(limit)
    )
    return [_to_message(row) for row in rows]


async def claim_message(tx: Transaction, message: OutboxMessage, until: datetime) -> bool:
    """Claim a message until a time; False when another replica was faster."""
    taken = await tx.execute(
        update(deliveries)
        .where(
            deliveries.c.id == message.delivery.id,
            deliveries.c.status == DeliveryStatus.PENDING,
            deliveries.c.attempts == message.delivery.attempts,
        )
        .values(attempts=deliveries.c.attempts + 1, next_attempt_at=until)
    )
    return taken.rowcount > 0


async def finish_attempt(
    tx: Transaction,
    delivery_id: str,
    *,
    status: DeliveryStatus,
    next_attempt_at: datetime | None,
    response_status: int | None,
    error: str | None,
    response: str | None,
    now: datetime,
) -> None:
    await tx.execute(
        update(deliveries)
        .where(deliveries.c.id == delivery_id, deliveries.c.status == DeliveryStatus.PENDING)
        .values(
            status=status,
            next_attempt_at=next_attempt_at,
            response_status=response_status,
            error=error,
            response=response,
            finished_at=None if status is DeliveryStatus.PENDING else now,
        )
    )


async def release_claims(tx: Transaction, now: datetime) -> None:
    """Make attempts due again that a dead process had started."""
    await tx.execute(
        update(deliveries)
        .where(
            deliveries.c.status == DeliveryStatus.PENDING,
            deliveries.c.attempts > 0,
            deliveries.c.next_attempt_at > now,
        )
        .values(next_attempt_at=now)
    )


async def list_deliveries(
    tx: Transaction,
    workspace_id: str,
    page: PageRequest,
    *,
    webhook_id: str | None = None,
    subject: str | None = None,
    status: DeliveryStatus | None = None,
) -> Listing[Delivery]:
    conditions: list[ColumnElement[bool]] = [deliveries.c.workspace_id == workspace_id]
    if webhook_id is not None:
        conditions.append(deliveries.c.webhook_id == webhook_id)
    if subject is not None:
        conditions.append(deliveries.c.subject == subject)
    if status is not None:
        conditions.append(deliveries.c.status == status)
    condition = and_(*conditions)
    total = await tx.execute(select(func.count()).select_from(deliveries).where(condition))
    rows = await tx.execute(
        select(deliveries)
        .where(condition)
        .order_by(deliveries.c.id.desc())
        .limit(page.limit)
        .offset(page.skip)
    )
    return Listing([_to_message(row).delivery for row in rows], total.scalar_one())


async def find_delivery(tx: Transaction, delivery_id: str) -> Delivery:
    row = (await tx.execute(select(deliveries).where(deliveries.c.id == delivery_id))).one()
    return _to_message(row).delivery


async def count_pending(tx: Transaction) -> int:
    pending = deliveries.c.status == DeliveryStatus.PENDING
    return (
        await tx.execute(select(func.count()).select_from(deliveries).where(pending))
    ).scalar_one()


async def delete_finished(tx: Transaction, before: datetime) -> None:
    """Delete deliveries that finished before a time."""
    await tx.execute(delete(deliveries).where(deliveries.c.finished_at < before))


def _to_message(row: Row[Any]) -> OutboxMessage:
    values = dict(row._mapping)
    delivery = Delivery.model_validate({name: values[name] for name in Delivery.model_fields})
    return OutboxMessage(delivery, row.workspace_id, row.content, row.secret)
