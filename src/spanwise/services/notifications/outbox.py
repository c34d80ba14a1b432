"""Tells people about alerts: puts what is to be said into the outbox, beside the alert's change."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from spanwise.model.alerts import Alert, Notify
from spanwise.model.events import Channel, EventType
from spanwise.services.notifications.events import make_parcel, once_key
from spanwise.storage.catalog import Transaction
from spanwise.storage.catalog import events as stored

# Not an event, since nothing has happened: the alert is merely still active.
REPEATED = "alert.repeated"


@dataclass(frozen=True)
class News:
    """That something is to be said about an alert, and to whom."""

    workspace_id: str
    alert: Alert
    transition: str
    notify: Notify

    def key(self, at: datetime) -> str:
        return f"{self.alert.id} {self.transition} {at.isoformat()}"


async def announce(tx: Transaction, news: Iterable[News], at: datetime) -> None:
    """Put messages into the outbox: one a webhook and alert, one a mail address for all alerts."""
    by_address: dict[tuple[str, str], list[News]] = defaultdict(list)
    for item in news:
        for address in item.notify.emails:
            by_address[item.workspace_id, address].append(item)
        for webhook in item.notify.webhooks:
            parcel = make_parcel(
                item.workspace_id,
                Channel.WEBHOOK,
                webhook.url,
                item.transition,
                item.alert.id,
                _payload(item, at),
                at,
                secret=webhook.secret,
            )
            await stored.add_message(tx, parcel, once_key(item.key(at), webhook.url))
    for (workspace_id, address), items in by_address.items():
        first = items[0]
        parcel = make_parcel(
            workspace_id,
            Channel.MAIL,
            address,
            first.transition,
            first.alert.id,
            {"alerts": [_line(item) for item in items]},
            at,
        )
        keys = sorted(item.key(at) for item in items)
        await stored.add_message(tx, parcel, once_key(*keys, address))


def _payload(item: News, at: datetime) -> dict[str, Any]:
    alert = item.alert.model_dump(mode="json", by_alias=True)
    stamp = at.isoformat().replace("+00:00", "Z")
    return {"type": item.transition, "timestamp": stamp, "data": alert}


def _line(item: News) -> dict[str, str]:
    return {
        "id": item.alert.id,
        "transition": item.transition,
        "severity": item.alert.severity,
        "title": item.alert.title,
        "description": item.alert.description,
    }


_WORDS = {
    EventType.ALERT_TRIGGERED: "Triggered",
    EventType.ALERT_REOPENED: "Reopened",
    EventType.ALERT_RESOLVED: "Resolved",
    REPEATED: "Still active",
}


def write_mail(content: dict[str, Any], public_address: str) -> tuple[str, str]:
    """Write subject and text of a mail about one or several alerts."""
    lines: list[dict[str, str]] = content["alerts"]
    paragraphs = [
        f"{_WORDS[line['transition']]} ({line['severity']}): {line['title']}\n"
        f"{line['description']}\n{public_address}/alerts/{line['id']}"
        for line in lines
    ]
    first = lines[0]
    subject = f"{_WORDS[first['transition']]}: {first['title']}"
    if len(lines) > 1:
        subject = f"{len(lines)} alerts, the first: {first['title']}"
    # A name with a line break in it must not add headers to the mail.
    return " ".join(subject.split())[:200], "\n\n".join(paragraphs) + "\n"
