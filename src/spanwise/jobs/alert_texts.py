"""What an alert says: one line for the list, a few sentences for the one who looks."""

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


def name_metric(rule: AlertRule) -> str:
    return _NAMES.get(rule.metric) or f"signal {rule.signal_name}"


def show_value(metric: Metric, value: float) -> str:
    """Write a value with its unit."""
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
    shown = show_value(rule.metric, value)
    if rule.condition is Condition.ANOMALY:
        usual = "" if baseline is None else f" (usually {show_value(rule.metric, baseline)})"
        return f"{agent}: {name_metric(rule)} is unusual at {shown}{usual}"
    limit = show_value(rule.metric, rule.threshold or 0.0)
    return f"{agent}: {name_metric(rule)} {shown} is {rule.condition} {limit}"


def write_description(rule: AlertRule, samples: int, end: datetime) -> str:
    what = "signals" if rule.metric is Metric.SIGNAL else "traces"
    named = f"Rule “{rule.name}”. " if rule.name else ""
    lasted = f", for at least {rule.for_minutes} minutes" if rule.for_minutes else ""
    return (
        f"{named}Measured over {rule.window_minutes} minutes up to {end:%Y-%m-%d %H:%M:%S} UTC, "
        f"in {samples:,} {what}{lasted}."
    )
