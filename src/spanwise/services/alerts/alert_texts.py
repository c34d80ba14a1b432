"""Writes the title and description of an alert."""

from collections.abc import Sequence
from datetime import datetime

from spanwise.model.alerts import ALL_AGENTS, Alert, AlertMetric, AlertRule, Condition
from spanwise.model.dashboards.queries import FIRST_TOKEN_MEASURES, SIGNAL
from spanwise.model.telemetry.failures import FailureGroup, FailureStatus
from spanwise.model.telemetry.filters import FilterCondition, Operator

_NAMES = {
    AlertMetric.ERROR_RATE: "error rate",
    AlertMetric.P95_LATENCY: "p95 latency",
    AlertMetric.AVG_LATENCY: "mean latency",
    AlertMetric.COST: "cost",
    AlertMetric.TOTAL_TOKENS: "tokens",
    AlertMetric.UNPRICED_TOKENS: "tokens without a price",
    AlertMetric.REQUEST_COUNT: "requests",
    AlertMetric.NEW_FAILURE_GROUP: "new failures",
}
_MEASURE_NAMES = {
    "count": "number",
    "errors": "errors",
    "errorRate": "error rate",
    "cost": "cost",
    "inputTokens": "input tokens",
    "outputTokens": "output tokens",
    "cachedTokens": "cached tokens",
    "avgLatency": "mean latency",
    "p50": "p50 latency",
    "p95": "p95 latency",
    "p99": "p99 latency",
    "avgTimeToFirstToken": "mean time to first token",
    "p50TimeToFirstToken": "p50 time to first token",
    "p95TimeToFirstToken": "p95 time to first token",
    "users": "users",
    "sessions": "sessions",
}
_SIGNS = {
    Operator.EQ: "is",
    Operator.NE: "is not",
    Operator.IN: "is one of",
    Operator.GT: ">",
    Operator.GTE: "≥",
    Operator.LT: "<",
    Operator.LTE: "≤",
    Operator.CONTAINS: "contains",
}
_RATES = {"errorRate"}
_DURATIONS = {"p95Latency", "avgLatency", "p50", "p95", "p99", *FIRST_TOKEN_MEASURES}


_MS_PER_SECOND, _SECONDS_PER_MINUTE, _MINUTES_PER_HOUR, _HOURS_PER_DAY = 1000, 60, 60, 24


def format_duration(ms: float) -> str:
    """Format a duration as the dashboard does: 812 ms, 3.57 s, 12.4 s, 2m 03s, 1h 05m."""
    if round(ms) < _MS_PER_SECOND:
        return f"{ms:.0f} ms"
    seconds = ms / _MS_PER_SECOND
    if round(seconds, 1) < _SECONDS_PER_MINUTE:
        text = f"{seconds:.2f}" if round(seconds, 2) < 10 else f"{seconds:.1f}"  # noqa: PLR2004
        return f"{text.removesuffix('.00').removesuffix('.0')} s"
    minutes, rest = divmod(round(seconds), _SECONDS_PER_MINUTE)
    if minutes < _MINUTES_PER_HOUR:
        return f"{minutes}m {rest:02}s" if rest else f"{minutes}m"
    hours, rest = divmod(minutes, _MINUTES_PER_HOUR)
    return f"{hours}h {rest:02}m" if rest else f"{hours}h"


def format_minutes(minutes: int) -> str:
    """Format a window as the dashboard does: 5 min, 6 h, 1 day, 7 days."""
    hours, rest = divmod(minutes, _MINUTES_PER_HOUR)
    days, rest_of_day = divmod(hours, _HOURS_PER_DAY)
    if rest or not hours:
        return f"{minutes} min"
    if rest_of_day:
        return f"{hours} h"
    return f"{days} day" if days == 1 else f"{days} days"


def metric_name(rule: AlertRule) -> str:
    if rule.metric is AlertMetric.QUERY:
        measure = rule.measure or ""
        name = _MEASURE_NAMES.get(measure) or f"mean {measure.removeprefix(SIGNAL)}"
        return f"{name} of {rule.of}"
    return _NAMES.get(rule.metric) or f"signal {rule.signal_name}"


def format_value(of: AlertRule | Alert, value: float) -> str:
    """Format a value of a rule or an alert with its unit."""
    unit = str(of.measure if of.metric is AlertMetric.QUERY else of.metric)
    if unit in _RATES:
        return f"{value * 100:.1f}%"
    if unit in _DURATIONS:
        return format_duration(value)
    if unit == AlertMetric.COST:
        return f"${value:,.4f}" if value < 1 else f"${value:,.2f}"
    if unit == AlertMetric.SIGNAL or unit.startswith(SIGNAL):
        return f"{value:g}"
    return f"{value:,.0f}"


def write_title(agent: str | None, rule: AlertRule, value: float, baseline: float | None) -> str:
    formatted, scope = format_value(rule, value), agent or ALL_AGENTS
    if rule.condition is Condition.ANOMALY:
        usual = "" if baseline is None else f" (usually {format_value(rule, baseline)})"
        return f"{scope}: {metric_name(rule)} is unusual at {formatted}{usual}"
    limit = format_value(rule, rule.threshold or 0.0)
    return f"{scope}: {metric_name(rule)} {formatted} is {rule.condition} {limit}"


def write_failure_title(agent: str | None, groups: Sequence[FailureGroup]) -> str:
    """Name the most frequent of the failures that appeared or came back."""
    first = groups[0]
    what = "failure is back" if first.status is FailureStatus.REGRESSED else "new failure"
    others = f" and {len(groups) - 1} more" if len(groups) > 1 else ""
    return f"{agent or first.agent_name or ALL_AGENTS}: {what}: {first.title}{others}"


def write_description(rule: AlertRule, samples: int, end: datetime) -> str:
    heading = f"Rule “{rule.name}”. " if rule.name else ""
    duration = f", for at least {format_minutes(rule.for_minutes)}" if rule.for_minutes else ""
    span = f"{format_minutes(rule.window_minutes)} up to {end:%Y-%m-%d %H:%M:%S} UTC"
    if rule.metric is AlertMetric.NEW_FAILURE_GROUP:
        return f"{heading}Failures that are new or came back in the {span}{duration}."
    filters = " and ".join(map(_describe, rule.filters))
    where = f" where {filters}" if filters else ""
    counted = f"{samples:,} {_samples_of(rule)}{where}"
    return f"{heading}Measured over {span}, in {counted}{duration}."


def _samples_of(rule: AlertRule) -> str:
    if rule.metric is AlertMetric.QUERY:
        return str(rule.of)
    return "signals" if rule.metric is AlertMetric.SIGNAL else "traces"


def _describe(condition: FilterCondition) -> str:
    field = condition.attribute or condition.field
    if condition.op is Operator.EXISTS:
        return f"{field} {'does not exist' if condition.value is False else 'exists'}"
    return f"{field} {_SIGNS[condition.op]} {', '.join(map(str, condition.values))}"
