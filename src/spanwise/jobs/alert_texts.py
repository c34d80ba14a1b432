"""Writes the title and description of an alert."""

from datetime import datetime

from spanwise.model.alerts import AlertMetric, AlertRule, Condition

_NAMES = {
    AlertMetric.ERROR_RATE: "error rate",
    AlertMetric.P95_LATENCY: "p95 latency",
    AlertMetric.AVG_LATENCY: "mean latency",
    AlertMetric.COST: "cost",
    AlertMetric.TOTAL_TOKENS: "tokens",
    AlertMetric.UNPRICED_TOKENS: "tokens without a price",
    AlertMetric.REQUEST_COUNT: "requests",
}


def metric_name(rule: AlertRule) -> str:
    return _NAMES.get(rule.metric) or f"signal {rule.signal_name}"


def format_value(metric: AlertMetric, value: float) -> str:
    """Format a value with its unit."""
    match metric:
        case AlertMetric.ERROR_RATE:
            return f"{value * 100:.1f} %"
        case AlertMetric.P95_LATENCY | AlertMetric.AVG_LATENCY:
            return f"{value:,.0f} ms"
        case AlertMetric.COST:
            return f"${value:,.4f}" if value < 1 else f"${value:,.2f}"
        case AlertMetric.TOTAL_TOKENS | AlertMetric.UNPRICED_TOKENS | AlertMetric.REQUEST_COUNT:
            return f"{value:,.0f}"
        case AlertMetric.SIGNAL:
            return f"{value:g}"


def write_title(agent: str, rule: AlertRule, value: float, baseline: float | None) -> str:
    formatted = format_value(rule.metric, value)
    if rule.condition is Condition.ANOMALY:
        usual = "" if baseline is None else f" (usually {format_value(rule.metric, baseline)})"
        return f"{agent}: {metric_name(rule)} is unusual at {formatted}{usual}"
    limit = format_value(rule.metric, rule.threshold or 0.0)
    return f"{agent}: {metric_name(rule)} {formatted} is {rule.condition} {limit}"


def write_description(rule: AlertRule, samples: int, end: datetime) -> str:
    measured = "signals" if rule.metric is AlertMetric.SIGNAL else "traces"
    heading = f"Rule “{rule.name}”. " if rule.name else ""
    duration = f", for at least {rule.for_minutes} minutes" if rule.for_minutes else ""
    return (
        f"{heading}Measured over {rule.window_minutes} minutes up to {end:%Y-%m-%d %H:%M:%S} UTC, "
        f"in {samples:,} {measured}{duration}."
    )
