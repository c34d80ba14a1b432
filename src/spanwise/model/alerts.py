"""Alert rules of agents and workspaces, and the alerts they raise."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, StringConstraints

from spanwise.model.api_model import ApiModel, UtcTime, without_nul
from spanwise.model.dashboards.queries import Entity, Measure
from spanwise.model.measures import NEW_FAILURES, SIGNAL
from spanwise.model.telemetry.filters import Conditions

MAX_RULES = 50
MAX_EMAILS = 20
MAX_WEBHOOKS = 10
MAX_CHANNELS = 10
MAX_WINDOW_MINUTES = 1440
# Baselines are learned per hour of the week, so an anomaly window is at most one hour.
MAX_ANOMALY_MINUTES = 60
# The agent name in alerts of workspace rules.
ALL_AGENTS = "All agents"
# Replaces most of a secret.
MASK = "…"
# No part of a shorter secret is shown.
_MIN_SHOWN = 16


class AlertMetric(StrEnum):
    # Keeps the schema name of the OpenAPI document.
    __qualname__ = "Metric"

    ERROR_RATE = "errorRate"
    P95_LATENCY = "p95Latency"
    AVG_LATENCY = "avgLatency"
    COST = "cost"
    TOTAL_TOKENS = "totalTokens"
    UNPRICED_TOKENS = "unpricedTokens"
    REQUEST_COUNT = "requestCount"
    SIGNAL = "signal"
    NEW_FAILURE_GROUP = "newFailureGroup"
    QUERY = "query"


class Condition(StrEnum):
    ABOVE = "above"
    BELOW = "below"
    ANOMALY = "anomaly"


class Sensitivity(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Severity(StrEnum):
    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"


class AlertStatus(StrEnum):
    ACTIVE = "active"
    ACKNOWLEDGED = "acknowledged"
    RESOLVED = "resolved"


_MEASURES = {
    AlertMetric.ERROR_RATE: "errorRate",
    AlertMetric.P95_LATENCY: "p95",
    AlertMetric.AVG_LATENCY: "avgLatency",
    AlertMetric.COST: "cost",
    AlertMetric.TOTAL_TOKENS: "totalTokens",
    AlertMetric.UNPRICED_TOKENS: "unpricedTokens",
    AlertMetric.REQUEST_COUNT: "count",
    AlertMetric.NEW_FAILURE_GROUP: NEW_FAILURES.name,
}


_Text = Annotated[
    str,
    StringConstraints(strict=True, min_length=1, max_length=200, strip_whitespace=True),
    AfterValidator(without_nul),
]
_RuleId = Annotated[str, StringConstraints(strict=True, pattern="^[A-Za-z0-9_.:-]{1,80}$")]
_Minutes = Annotated[int, Field(strict=True)]


class AlertRule(ApiModel):
    """When to raise an alert. Constraints across fields are checked on write.

    Only traces that meet all `filters` count. The metric `query` is a measure of
    `POST /analytics/query`, of traces or spans.
    """

    id: _RuleId | None = None
    name: _Text | None = None
    enabled: Annotated[bool, Field(strict=True)] = True
    metric: AlertMetric
    measure: Measure | None = None
    of: Entity = Entity.TRACES
    filters: Conditions = Field(default=[])
    signal_name: Annotated[_Text, Field(max_length=128)] | None = None
    condition: Condition
    threshold: Annotated[float, Field(strict=True)] | None = None
    sensitivity: Sensitivity | None = None
    window_minutes: Annotated[_Minutes, Field(ge=1, le=MAX_WINDOW_MINUTES)] = 5
    for_minutes: Annotated[_Minutes, Field(ge=0, le=MAX_WINDOW_MINUTES)] = 0
    min_samples: Annotated[_Minutes, Field(ge=0, le=1_000_000)] = 1
    severity: Severity = Severity.WARNING

    @property
    def measured(self) -> str:
        """The name of the measure that the rule compares."""
        return measured_by(self.metric, self.measure, self.signal_name)


def measured_by(metric: AlertMetric, measure: str | None, signal_name: str | None = None) -> str:
    """Return the measure of a metric, which is a measure of traces except for a query."""
    if metric is AlertMetric.QUERY:
        return measure or "count"
    return f"{SIGNAL}{signal_name}" if metric is AlertMetric.SIGNAL else _MEASURES[metric]


class NotifyWebhook(ApiModel):
    """A URL that receives an agent's alerts. The secret is returned only by a settings change.

    The URL may be a secret too: those who may not change the settings see it shortened.
    """

    url: str
    secret: str | None = None


class ChannelType(StrEnum):
    SLACK = "slack"
    TEAMS = "teams"
    PAGERDUTY = "pagerduty"


class NotifyChannel(ApiModel):
    """A chat or an on-call service. `url` of a chat and `routingKey` are secret, and masked.

    For PagerDuty `url` is the address of the Events API, by default that of the US region.
    """

    id: str
    type: ChannelType
    url: str | None = None
    routing_key: str | None = None

    @property
    def secret(self) -> str:
        is_key = self.type is ChannelType.PAGERDUTY
        return (self.routing_key if is_key else self.url) or ""

    @property
    def masked_secret(self) -> str:
        return mask_secret(self.secret)

    def without_secrets(self) -> "NotifyChannel":
        field = "routing_key" if self.type is ChannelType.PAGERDUTY else "url"
        return self.model_copy(update={field: self.masked_secret})


def mask_secret(secret: str) -> str:
    """Return the host of a URL and the last four characters; nothing of a short secret."""
    parts = urlsplit(secret)
    origin = f"{parts.scheme}://{parts.netloc}/" if parts.scheme and parts.netloc else ""
    shown = secret[-4:] if len(secret) - len(origin) >= _MIN_SHOWN else ""
    return f"{origin}{MASK}{shown}"


class Notify(ApiModel):
    emails: list[str] = Field(default=[])
    webhooks: list[NotifyWebhook] = Field(default=[])
    channels: list[NotifyChannel] = Field(default=[])


class AlertSettings(ApiModel):
    enabled: bool = True
    rules: list[AlertRule] = Field(default=[])
    notify: Notify = Notify()

    @property
    def enabled_rules(self) -> list[AlertRule]:
        return [rule for rule in self.rules if self.enabled and rule.enabled]

    def without_secrets(self, *, shortens_webhooks: bool) -> "AlertSettings":
        shown = mask_secret if shortens_webhooks else str
        webhooks = [NotifyWebhook(url=shown(webhook.url)) for webhook in self.notify.webhooks]
        notify = self.notify.model_copy(update={"webhooks": webhooks})
        return self.model_copy(update={"notify": notify}).with_masked_channels()

    def with_masked_channels(self) -> "AlertSettings":
        channels = [channel.without_secrets() for channel in self.notify.channels]
        notify = self.notify.model_copy(update={"channels": channels})
        return self.model_copy(update={"notify": notify})


class AlertMove(ApiModel):
    """One change of an alert's status, or a comment, which does not change it.

    `by` is a user id, a key id, or `spanwise`.
    """

    at: UtcTime
    from_: Annotated[AlertStatus | None, Field(alias="from")]
    to: AlertStatus
    by: str
    note: str | None


class Alert(ApiModel):
    """`agentId` is null for an alert of a workspace rule. `rule` is as it was when it fired.

    `silencedUntil` is set while notifications of an open alert are muted.
    """

    id: str
    agent_id: str | None
    agent_name: str
    rule_id: str
    metric: AlertMetric
    measure: str | None
    condition: Condition
    severity: Severity
    status: AlertStatus
    title: str
    description: str
    value: float
    threshold: float | None
    baseline: float | None
    window_start: UtcTime
    window_end: UtcTime
    triggered_at: UtcTime
    acknowledged_at: UtcTime | None
    acknowledged_by: str | None
    reopened_at: UtcTime | None
    resolved_at: UtcTime | None
    occurrences: int
    example_trace_ids: list[str]
    failure_id: str | None
    rule: AlertRule
    silenced_until: UtcTime | None = None
    history: list[AlertMove]


class Silence(ApiModel):
    """Mutes the notifications of a rule, of an agent, or of the whole workspace for a time.

    Without `ruleId` all rules are muted: of the agent or, without `agentId`, of the workspace and
    all agents. A rule without an agent is one of the workspace.
    """

    id: str
    agent_id: str | None
    rule_id: str | None
    reason: str | None
    created_by: str
    starts_at: UtcTime
    ends_at: UtcTime

    def mutes(self, alert: Alert) -> bool:
        if self.rule_id is not None:
            return (self.agent_id, self.rule_id) == (alert.agent_id, alert.rule_id)
        return self.agent_id is None or self.agent_id == alert.agent_id


def find_silence_end(alert: Alert, active: Sequence[Silence]) -> datetime | None:
    """Return until when an alert is muted; `active` has the silences that end last first."""
    return next((silence.ends_at for silence in active if silence.mutes(alert)), None)


class NewSilence(ApiModel):
    agent_id: Annotated[str, Field(max_length=512)] | None = None
    rule_id: _RuleId | None = None
    reason: Annotated[str, Field(max_length=2000), AfterValidator(without_nul)] | None = None
    ends_at: UtcTime


class RuleEntry(ApiModel):
    """A rule in the list of all rules; `enabled` says whether it is evaluated."""

    agent_id: str | None
    agent_name: str
    enabled: bool
    rule: AlertRule
    last_alert_id: str | None = None
    last_alert_at: UtcTime | None = None
    last_alert_status: AlertStatus | None = None


class AgentAlertCounts(ApiModel):
    agent_id: str | None
    agent_name: str
    active: int
    acknowledged: int
    resolved: int
    last_triggered_at: UtcTime


class AlertSummary(ApiModel):
    total: int
    active: int
    acknowledged: int
    resolved: int
    by_severity: dict[Severity, int]
    by_agent: list[AgentAlertCounts]


class Firing(ApiModel):
    """One period in which a rule would have fired, in a backtest."""

    start: UtcTime
    end: UtcTime | None
    value: float
    baseline: float | None


class BacktestPoint(ApiModel):
    """One hour of a backtest: the most extreme value, the baseline and the band of normal values.

    Threshold rules have no baseline and no band; a direction that never alerts has no bound.
    """

    at: UtcTime
    value: float | None
    baseline: float | None
    lower: float | None
    upper: float | None


class RuleBacktest(ApiModel):
    """`skipped` of the `windows` had too few samples to be evaluated."""

    rule_id: str | None
    name: str | None
    fired: int
    windows: int
    skipped: int
    firings: list[Firing]
    points: list[BacktestPoint]


class Backtest(ApiModel):
    start: UtcTime
    end: UtcTime
    rules: list[RuleBacktest]


@dataclass(frozen=True)
class Window:
    """What the rules of an agent or a workspace measure over a time window, by measure."""

    samples: int = 0
    values: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True)
class RuleState:
    """State of a rule between evaluations."""

    breaching_since: datetime | None = None
    clear_since: datetime | None = None
    scored_at: datetime | None = None
    scores: tuple[float | None, ...] = ()
    learns_since: datetime | None = None


# The id of the agent or, for its own rules, of the workspace; and the id of the rule.
RuleKey = tuple[str, str]


@dataclass(frozen=True)
class WatchedRule:
    """A rule with the agent it applies to; without one it applies to the whole workspace."""

    workspace_id: str
    agent_id: str | None
    agent_name: str | None
    first_seen_at: datetime | None
    rule: AlertRule

    @property
    def rule_id(self) -> str:
        return self.rule.id or ""

    @property
    def key(self) -> RuleKey:
        return self.agent_id or self.workspace_id, self.rule_id


@dataclass(frozen=True)
class AlertFilter:
    start: datetime | None = None
    end: datetime | None = None
    status: AlertStatus | None = None
    severity: Severity | None = None
    agent: str | None = None


def settings_from(stored: Any) -> AlertSettings:  # noqa: ANN401 -- JSON from the catalog
    return AlertSettings() if stored is None else AlertSettings.model_validate(stored)
