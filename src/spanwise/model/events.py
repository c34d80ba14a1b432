"""Workspace events, webhook subscriptions and deliveries."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from spanwise.model.api_model import ApiModel, UtcTime

# Actor of events caused by the service itself.
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


class Event(ApiModel):
    """`subject` is the id of the affected object, `actor` a user id, a key id or `spanwise`."""

    id: str
    type: EventType
    at: UtcTime
    actor: str
    subject: str
    data: dict[str, Any]


class Webhook(ApiModel):
    """A subscription: events of these types are posted to the URL; no types means all events.

    The URL may be a secret: those who may not manage webhooks see its host and last characters.
    """

    id: str
    url: str
    types: list[EventType]
    created_at: UtcTime


class WebhookWithSecret(Webhook):
    """Returned only on creation: the only response with the signing secret."""

    secret: str


class Channel(StrEnum):
    MAIL = "mail"
    WEBHOOK = "webhook"
    SLACK = "slack"
    TEAMS = "teams"
    PAGERDUTY = "pagerduty"


class DeliveryStatus(StrEnum):
    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"


class Delivery(ApiModel):
    """One message to one receiver, with its delivery status.

    The `target` of a webhook is shortened for those who may not manage webhooks.
    `response` is the beginning of what a chat or an on-call service answered.
    """

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
    response: str | None = None
    created_at: UtcTime
    finished_at: UtcTime | None


@dataclass(frozen=True)
class OutboxMessage:
    """A delivery with its content and signing secret; never returned by the API."""

    delivery: Delivery
    workspace_id: str
    content: dict[str, Any]
    secret: str | None
