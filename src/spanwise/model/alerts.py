"""Alerts: the rules that an agent is watched by, and what they have found."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints

from spanwise.model.record import Noun, UtcTime, without_nul

MAX_RULES = 50
MAX_EMAILS = 20
MAX_WEBHOOKS = 10
MAX_WINDOW_MINUTES = 1440
# An anomaly is judged by the hour of the week, so its window is at most an hour.
MAX_ANOMALY_MINUTES = 60


class Metric(StrEnum):
    ERROR_RATE = "errorRate"
    P95_LATENCY = "p95Latency"
    AVG_LATENCY = "avgLatency"
    COST = "cost"
    TOTAL_TOKENS = "totalTokens"
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


# Amounts that are zero, not unknown, when nothing has happened.
SUMS = frozenset({Metric.COST, Metric.TOTAL_TOKENS, Metric.REQUEST_COUNT})


_Text = Annotated[
    str,
    StringConstraints(strict=True, min_length=1, max_length=200, strip_whitespace=True),
    AfterValidator(without_nul),
]
_RuleId = Annotated[str, StringConstraints(strict=True, pattern="^[A-Za-z0-9_.:-]{1,80}$")]
_Minutes = Annotated[int, Field(strict=True)]


class AlertRule(Noun):
    """When to raise an alert. What needs another field to be judged is checked in one place."""

    id: _RuleId | None = None
    name: _Text | None = None
    metric: Metric
    signal_name: Annotated[_Text, Field(max_length=128)] | None = None
    condition: Condition
    threshold: Annotated[float, Field(strict=True)] | None = None
    sensitivity: Sensitivity | None = None
    window_minutes: Annotated[_Minutes, Field(ge=1, le=MAX_WINDOW_MINUTES)] = 5
    for_minutes: Annotated[_Minutes, Field(ge=0, le=MAX_WINDOW_MINUTES)] = 0
    min_samples: Annotated[_Minutes, Field(ge=0, le=1_000_000)] = 1
    severity: Severity = Severity.WARNING

    @property
    def watches(self) -> tuple[str, str | None, str]:
        """What the rule is about; a rule that changes this is another rule."""
        return self.metric, self.signal_name, self.condition


class NotifyWebhook(Noun):
    """Where alerts of an agent are posted. The secret is shown when settings are written only."""

    url: str
    secret: str | None = None


class Notify(Noun):
    emails: list[str] = Field(default=[])
    webhooks: list[NotifyWebhook] = Field(default=[])


class AlertSettings(Noun):
    enabled: bool = True
    rules: list[AlertRule] = Field(default=[])
    notify: Notify = Notify()

    def without_secrets(self) -> "AlertSettings":
        webhooks = [NotifyWebhook(url=webhook.url) for webhook in self.notify.webhooks]
        notify = self.notify.model_copy(update={"webhooks": webhooks})
        return self.model_copy(update={"notify": notify})


class AlertMove(Noun):
    """One change of an alert's status. `by` is a user, a key, or `spanwise` itself."""

    at: UtcTime
    from_: Annotated[AlertStatus | None, Field(alias="from")]
    to: AlertStatus
    by: str
    note: str | None


class Alert(Noun):
    id: str
    agent_id: str
    agent_name: str
    rule_id: str
    metric: Metric
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


class AgentAlertCounts(Noun):
    agent_id: str
    agent_name: str
    active: int
    acknowledged: int
    resolved: int
    last_triggered_at: UtcTime


class AlertSummary(Noun):
    total: int
    active: int
    acknowledged: int
    resolved: int
    by_severity: dict[Severity, int]
    by_agent: list[AgentAlertCounts]


class Firing(Noun):
    """One time that a rule would have fired, in a back-test."""

    start: UtcTime
    end: UtcTime | None
    value: float
    baseline: float | None


class BacktestPoint(Noun):
    """What a rule saw in an hour: its most telling value, and the band it would have fired outside
    of. A threshold has no band, and a side that is no alert has no edge."""

    at: UtcTime
    value: float | None
    lower: float | None
    upper: float | None


class RuleBacktest(Noun):
    rule_id: str | None
    name: str | None
    fired: int
    firings: list[Firing]
    points: list[BacktestPoint]


class Backtest(Noun):
    start: UtcTime
    end: UtcTime
    rules: list[RuleBacktest]


@dataclass(frozen=True)
class Window:
    """What was measured of one agent, or of one of its signals, in a stretch of time."""

    samples: int = 0
    error_rate: float | None = None
    avg_latency: float | None = None
    p95_latency: float | None = None
    cost: float = 0.0
    tokens: float = 0.0
    signal: float | None = None

    def value(self, metric: Metric) -> float | None:  # noqa: PLR0911 -- one for each metric
        """The value of a metric; None when nothing was there to measure."""
        match metric:
            case Metric.ERROR_RATE:
                return self.error_rate
            case Metric.AVG_LATENCY:
                return self.avg_latency
            case Metric.P95_LATENCY:
                return self.p95_latency
            case Metric.COST:
                return self.cost
            case Metric.TOTAL_TOKENS:
                return self.tokens
            case Metric.REQUEST_COUNT:
                return float(self.samples)
            case Metric.SIGNAL:
                return self.signal


@dataclass(frozen=True)
class RuleState:
    """What a rule remembers from one evaluation to the next."""

    breaching_since: datetime | None = None
    clear_since: datetime | None = None
    scored_at: datetime | None = None
    scores: tuple[float | None, ...] = ()
    learns_since: datetime | None = None


@dataclass(frozen=True)
class WatchedRule:
    """A rule with the agent that it watches."""

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


def settings_from(stored: Any) -> AlertSettings:  # noqa: ANN401 -- JSON out of the catalog
    return AlertSettings() if stored is None else AlertSettings.model_validate(stored)
