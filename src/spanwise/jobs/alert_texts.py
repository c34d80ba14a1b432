"""What an alert says: one line for the list, a few sentences for the one who looks."""

from datetime import datetime

from spanwise.model.alerts import AlertMetric, AlertRule, Condition

_NAMES = {
    AlertMetric.ERROR_RATE: "error rate",
    AlertMetric.P95_LATENCY: "p95 latency",
    AlertMetric.AVG_LATENCY: "mean latency",
    AlertMetric.COST: "cost",
    AlertMetric.TOTAL_TOKENS: "tokens",
    AlertMetric.REQUEST_COUNT: "requests",
}


def name_metric(rule: AlertRule) -> str:
    return _NAMES.get(rule.metric) or f"signal {rule.signal_name}"


def show_value(metric: AlertMetric, value: float) -> str:
    """Write a value with its unit."""
    match metric:
        case AlertMetric.ERROR_RATE:
            return f"{value * 100:.1f} %"
        case AlertMetric.P95_LATENCY | AlertMetric.AVG_LATENCY:
            return f"{value:,.0f} ms"
        case AlertMetric.COST:
            return f"${value:,.4f}" if value < 1 else f"${value:,.2f}"
        case AlertMetric.TOTAL_TOKENS | AlertMetric.REQUEST_COUNT:
            return f"{value:,.0f}"
        case AlertMetric.SIGNAL:
            return f"{value:g}"


def write_title(agent: str, rule: AlertRule, value: float, baseline: float | None) -> str:
    shown = show_value(rule.metric, value)
    if rule.condition is Condition.ANOMALY:
        usual = "" if baseline is None else f" (usually {show_value(rule.metric, baseline)})"
        return f"{agent}: {name_metric(rule)} is unusual at {shown}{usual}"
    limit = show_value(rule.metric, rule.threshold or 0.0)
    return f"{agent}: {name_metric(rule)} {shown} is {rule.condition} {limit}"


def write_description(rule: AlertRule, samples: int, end: datetime) -> str:
    what = "signals" if rule.metric is AlertMetric.SIGNAL else "traces"
    named = f"Rule “{rule.name}”. " if rule.name else ""
    lasted = f", for at least {rule.for_minutes} minutes" if rule.for_minutes else ""
    return (
        f"{named}Measured over {rule.window_minutes} minutes up to {end:%Y-%m-%d %H:%M:%S} UTC, "
        f"in {samples:,} {what}{lasted}."
    )
