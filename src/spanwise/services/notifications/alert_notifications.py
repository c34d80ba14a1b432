"""Alert notifications: enqueued in the outbox in the transaction that changes the alert."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from spanwise.model.alerts import (
    Alert,
    ChannelType,
    Notify,
    NotifyChannel,
    NotifyWebhook,
    Silence,
)
from spanwise.model.events import Channel, EventType, OutboxMessage
from spanwise.services.notifications.events import deduplication_key, new_outbox_message
from spanwise.storage.catalog import Transaction
from spanwise.storage.catalog import events as stored
from spanwise.storage.catalog.alerting.silences import find_active_silences

# A reminder, not an event: the alert is still active.
REPEATED = "alert.repeated"
TEST = "alert.test"


@dataclass(frozen=True)
class Notification:
    """A status change of an alert, with the receivers to notify."""

    workspace_id: str
    alert: Alert
    transition: str
    notify: Notify

    def key(self, at: datetime) -> str:
        return f"{self.alert.id} {self.transition} {at.isoformat()}"


async def enqueue_notifications(
    tx: Transaction, notifications: Iterable[Notification], at: datetime
) -> None:
    """Enqueue a message per webhook, channel and alert, and a mail per address for all alerts.

    What is silenced is left out.
    """
    by_address: dict[tuple[str, str], list[Notification]] = defaultdict(list)
    for item in await _drop_silenced(tx, list(notifications), at):
        for address in item.notify.emails:
            by_address[item.workspace_id, address].append(item)
        for webhook in item.notify.webhooks:
            key = deduplication_key(item.key(at), webhook.url)
            await stored.add_message(tx, new_webhook_message(item, webhook, at), key)
        for channel in item.notify.channels:
            # An on-call service escalates by itself.
            if channel.type is ChannelType.PAGERDUTY and item.transition == REPEATED:
                continue
            key = deduplication_key(item.key(at), channel.id)
            await stored.add_message(tx, new_channel_message(item, channel, at), key)
    for (_, address), items in by_address.items():
        keys = sorted(item.key(at) for item in items)
        message = new_mail_message(items, address, at)
        await stored.add_message(tx, message, deduplication_key(*keys, address))


def new_webhook_message(item: Notification, webhook: NotifyWebhook, at: datetime) -> OutboxMessage:
    return new_outbox_message(
        item.workspace_id,
        Channel.WEBHOOK,
        webhook.url,
        item.transition,
        item.alert.id,
        _payload(item, at),
        at,
        secret=webhook.secret,
    )


def new_channel_message(item: Notification, channel: NotifyChannel, at: datetime) -> OutboxMessage:
    """Return a message to a channel; the delivery log shows its secret masked."""
    return new_outbox_message(
        item.workspace_id,
        Channel(channel.type),
        channel.masked_secret,
        item.transition,
        item.alert.id,
        {"channel": channel.model_dump(mode="json", by_alias=False), "event": _payload(item, at)},
        at,
    )


def new_mail_message(items: Sequence[Notification], address: str, at: datetime) -> OutboxMessage:
    """Return one mail about alerts of the same workspace."""
    first = items[0]
    return new_outbox_message(
        first.workspace_id,
        Channel.MAIL,
        address,
        first.transition,
        first.alert.id,
        {"alerts": [_mail_entry(item) for item in items]},
        at,
    )


async def _drop_silenced(
    tx: Transaction, notifications: Sequence[Notification], at: datetime
) -> list[Notification]:
    workspaces = {item.workspace_id for item in notifications}
    silences = await find_active_silences(tx, workspaces, at) if workspaces else {}
    return [
        item
        for item in notifications
        if not any(
            silence.mutes(item.alert) and not _was_announced(item, silence)
            for silence in silences.get(item.workspace_id, [])
        )
    ]


def _was_announced(item: Notification, silence: Silence) -> bool:
    """Return whether this resolves an alert that was raised before the silence."""
    is_resolved = item.transition == EventType.ALERT_RESOLVED
    return is_resolved and item.alert.triggered_at < silence.starts_at


def _payload(item: Notification, at: datetime) -> dict[str, Any]:
    alert = item.alert.model_dump(mode="json", by_alias=True)
    stamp = at.isoformat().replace("+00:00", "Z")
    return {"type": item.transition, "timestamp": stamp, "data": alert}


def _mail_entry(item: Notification) -> dict[str, str]:
    return {
        "id": item.alert.id,
        "transition": item.transition,
        "severity": item.alert.severity,
        "title": item.alert.title,
        "description": item.alert.description,
    }


LABELS: dict[str, str] = {
    EventType.ALERT_TRIGGERED: "Triggered",
    EventType.ALERT_REOPENED: "Reopened",
    EventType.ALERT_RESOLVED: "Resolved",
    REPEATED: "Still active",
    TEST: "Test",
}


def write_mail(content: dict[str, Any], public_address: str) -> tuple[str, str]:
    """Return subject and text of a mail about one or more alerts."""
    entries: list[dict[str, str]] = content["alerts"]
    paragraphs = [
        f"{LABELS[entry['transition']]} ({entry['severity']}): {entry['title']}\n"
        f"{entry['description']}\n{public_address}/alerts?alert={entry['id']}"
        for entry in entries
    ]
    first = entries[0]
    subject = f"{LABELS[first['transition']]}: {first['title']}"
    if len(entries) > 1:
        subject = f"{len(entries)} alerts, the first: {first['title']}"
    # A line break in a name must not inject mail headers.
    return " ".join(subject.split())[:200], "\n\n".join(paragraphs) + "\n"
