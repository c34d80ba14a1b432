"""Alert rules of an agent, and the alerts they raise."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints

from spanwise.model.api_model import ApiModel, UtcTime, without_nul

MAX_RULES = 50
MAX_EMAILS = 20
MAX_WEBHOOKS = 10
MAX_WINDOW_MINUTES = 1440
# Baselines are learned per hour of the week, so an anomaly window is at most one hour.
MAX_ANOMALY_MINUTES = 60


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


# Metrics that are 0 without data; the others are unknown.
SUMS = frozenset(
    {
        AlertMetric.COST,
        AlertMetric.TOTAL_TOKENS,
        AlertMetric.UNPRICED_TOKENS,
        AlertMetric.REQUEST_COUNT,
    }
)


_Text = Annotated[
    str,
    StringConstraints(strict=True, min_length=1, max_length=200, strip_whitespace=True),
    AfterValidator(without_nul),
]
_RuleId = Annotated[str, StringConstraints(strict=True, pattern="^[A-Za-z0-9_.:-]{1,80}$")]
_Minutes = Annotated[int, Field(strict=True)]


class AlertRule(ApiModel):
    """When to raise an alert. Constraints across fields are checked on write."""

    id: _RuleId | None = None
    name: _Text | None = None
    metric: AlertMetric
    signal_name: Annotated[_Text, Field(max_length=128)] | None = None
    condition: Condition
    threshold: Annotated[float, Field(strict=True)] | None = None
    sensitivity: Sensitivity | None = None
    window_minutes: Annotated[_Minutes, Field(ge=1, le=MAX_WINDOW_MINUTES)] = 5
    for_minutes: Annotated[_Minutes, Field(ge=0, le=MAX_WINDOW_MINUTES)] = 0
    min_samples: Annotated[_Minutes, Field(ge=0, le=1_000_000)] = 1
    severity: Severity = Severity.WARNING


class NotifyWebhook(ApiModel):
    """A URL that receives an agent's alerts. The secret is returned only by a settings change."""

    url: str
    secret: str | None = None


class Notify(ApiModel):
    emails: list[str] = Field(default=[])
    webhooks: list[NotifyWebhook] = Field(default=[])


class AlertSettings(ApiModel):
    enabled: bool = True
    rules: list[AlertRule] = Field(default=[])
    notify: Notify = Notify()

    def without_secrets(self) -> "AlertSettings":
        webhooks = [NotifyWebhook(url=webhook.url) for webhook in self.notify.webhooks]
        notify = self.notify.model_copy(update={"webhooks": webhooks})
        return self.model_copy(update={"notify": notify})


class AlertMove(ApiModel):
    """One change of an alert's status. `by` is a user id, a key id, or `spanwise`."""

    at: UtcTime
    from_: Annotated[AlertStatus | None, Field(alias="from")]
    to: AlertStatus
    by: str
    note: str | None


class Alert(ApiModel):
    id: str
    agent_id: str
    agent_name: str
    rule_id: str
    metric: AlertMetric
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
    history: list[AlertMove]


class AgentAlertCounts(ApiModel):
    agent_id: str
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
    """One hour of a backtest: the most extreme value and the band of normal values.

    Threshold rules have no band; a direction that never alerts has no bound.
    """

    at: UtcTime
    value: float | None
    lower: float | None
    upper: float | None


class RuleBacktest(ApiModel):
    rule_id: str | None
    name: str | None
    fired: int
    firings: list[Firing]
    points: list[BacktestPoint]


class Backtest(ApiModel):
    start: UtcTime
    end: UtcTime
    rules: list[RuleBacktest]


@dataclass(frozen=True)
class Window:
    """Measurements of one agent, or of one of its signals, over a time window."""

    samples: int = 0
    error_rate: float | None = None
    avg_latency: float | None = None
    p95_latency: float | None = None
    cost: float = 0.0
    tokens: float = 0.0
    unpriced_tokens: float = 0.0
    signal: float | None = None

    def value(self, metric: AlertMetric) -> float | None:  # noqa: PLR0911 -- one per metric
        """Return the value of a metric; None without data."""
        match metric:
            case AlertMetric.ERROR_RATE:
                return self.error_rate
            case AlertMetric.AVG_LATENCY:
                return self.avg_latency
            case AlertMetric.P95_LATENCY:
                return self.p95_latency
            case AlertMetric.COST:
                return self.cost
            case AlertMetric.TOTAL_TOKENS:
                return self.tokens
            case AlertMetric.UNPRICED_TOKENS:
                return self.unpriced_tokens
            case AlertMetric.REQUEST_COUNT:
                return float(self.samples)
            case AlertMetric.SIGNAL:
                return self.signal


@dataclass(frozen=True)
class RuleState:
    """State of a rule between evaluations."""

    breaching_since: datetime | None = None
    clear_since: datetime | None = None
    scored_at: datetime | None = None
    scores: tuple[float | None, ...] = ()
    learns_since: datetime | None = None


@dataclass(frozen=True)
class WatchedRule:
    """A rule with the agent it applies to."""

    workspace_id: str
    agent_id: str
    agent_name: str
    first_seen_at: datetime | None
    rule: AlertRule

    @property
    def rule_id(self) -> str:
        return self.rule.id or ""

    @property
    def key(self) -> tuple[str, str]:
        return self.agent_id, self.rule_id


@dataclass(frozen=True)
class AlertFilter:
    start: datetime | None = None
    end: datetime | None = None
    status: AlertStatus | None = None
    severity: Severity | None = None
    agent: str | None = None


def settings_from(stored: Any) -> AlertSettings:  # noqa: ANN401 -- JSON from the catalog
    return AlertSettings() if stored is None else AlertSettings.model_validate(stored)
