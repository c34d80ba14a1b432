"""Writes the title and description of an alert."""

from datetime import datetime

from spanwise.model.alerts import AlertRule, Condition, Metric

_NAMES = {
    Metric.ERROR_RATE: "error rate",
    Metric.P95_LATENCY: "p95 latency",
    Metric.AVG_LATENCY: "mean latency",
    Metric.COST: "cost",
    Metric.TOTAL_TOKENS: "tokens",
    Metric.REQUEST_COUNT: "requests",
}


def metric_name(rule: AlertRule) -> str:
    return _NAMES.get(rule.metric) or f"signal {rule.signal_name}"


def format_value(metric: Metric, value: float) -> str:
    """Format a value with its unit."""
    match metric:
        case Metric.ERROR_RATE:
            return f"{value * 100:.1f} %"
        case Metric.P95_LATENCY | Metric.AVG_LATENCY:
            return f"{value:,.0f} ms"
        case Metric.COST:
            return f"${value:,.4f}" if value < 1 else f"${value:,.2f}"
        case Metric.TOTAL_TOKENS | Metric.REQUEST_COUNT:
            return f"{value:,.0f}"
        case Metric.SIGNAL:
            return f"{value:g}"


def write_title(agent: str, rule: AlertRule, value: float, baseline: float | None) -> str:
    formatted = format_value(rule.metric, value)
    if rule.condition is Condition.ANOMALY:
        usual = "" if baseline is None else f" (usually {format_value(rule.metric, baseline)})"
        return f"{agent}: {metric_name(rule)} is unusual at {formatted}{usual}"
    limit = format_value(rule.metric, rule.threshold or 0.0)
    return f"{agent}: {metric_name(rule)} {formatted} is {rule.condition} {limit}"


def write_description(rule: AlertRule, samples: int, end: datetime) -> str:
    measured = "signals" if rule.metric is Metric.SIGNAL else "traces"
    heading = f"Rule “{rule.name}”. " if rule.name else ""
    duration = f", for at least {rule.for_minutes} minutes" if rule.for_minutes else ""
    return (
        f"{heading}Measured over {rule.window_minutes} minutes up to {end:%Y-%m-%d %H:%M:%S} UTC, "
        f"in {samples:,} {measured}{duration}."
    )
