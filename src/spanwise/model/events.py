"""What happened in a workspace, and who was told of it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from spanwise.model.record import Noun, UtcTime

# Who acted, when it was the service by itself.
SERVICE = "spanwise"


class EventType(StrEnum):
    AGENT_CREATED = "agent.created"
    AGENT_DELETED = "agent.deleted"
    AGENTS_LIMIT_REACHED = "agents.limit_reached"
    ALERT_TRIGGERED = "alert.triggered"
    ALERT_ACKNOWLEDGED = "alert.acknowledged"
    ALERT_REOPENED = "alert.reopened"
    ALERT_RESOLVED = "alert.resolved"
    EXPERIMENT_CREATED = "experiment.created"
    EXPERIMENT_STARTED = "experiment.started"
    EXPERIMENT_PAUSED = "experiment.paused"
    EXPERIMENT_STOPPED = "experiment.stopped"
    EXPERIMENT_DELETED = "experiment.deleted"
    KEY_ROTATED = "key.rotated"
    KEY_REVOKED = "key.revoked"


class Event(Noun):
    """`subject` is the id of what it happened to, `actor` a user, a key or `spanwise` itself."""

    id: str
    type: EventType
    at: UtcTime
    actor: str
    subject: str
    data: dict[str, Any]


class Webhook(Noun):
    """A subscription: events of these types are posted to the URL; no types means all."""

    id: str
    url: str
    types: list[EventType]
    created_at: UtcTime


class WebhookWithSecret(Webhook):
    """The only record that holds the signing secret: the answer of create."""

    secret: str


class Channel(StrEnum):
    MAIL = "mail"
    WEBHOOK = "webhook"


class DeliveryStatus(StrEnum):
    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"


class Delivery(Noun):
    """One message to one receiver, and how far it has got."""

    id: str
    channel: Channel
    target: str
    webhook_id: str | None
    type: str
    subject: str
    status: DeliveryStatus
    attempts: int
    next_attempt_at: UtcTime | None
    response_status: int | None
    error: str | None
    created_at: UtcTime
    finished_at: UtcTime | None


@dataclass(frozen=True)
class OutboxMessage:
    """A delivery with what is inside; it stays within the service."""

    delivery: Delivery
    workspace_id: str
    content: dict[str, Any]
    secret: str | None
