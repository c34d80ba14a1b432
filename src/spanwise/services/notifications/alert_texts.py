"""Writes the title and description of an alert."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

from spanwise.model.alerts import (
    ALL_AGENTS,
    Alert,
    AlertMetric,
    AlertRule,
    Condition,
    measured_by,
)
from spanwise.model.measures import Unit, measure_named
from spanwise.model.telemetry.failures import FailureGroup, FailureStatus
from spanwise.model.telemetry.filters import FilterCondition, Operator

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
_SECONDS_PER_MINUTE, _MINUTES_PER_HOUR, _HOURS_PER_DAY, _DAYS_SHOWN_AS_HOURS = 60, 60, 24, 2
_MS_PER_SECOND = 1000
# Below a limit in milliseconds: the unit in milliseconds, its name and the digits shown.
_SHORT_DURATIONS = (
    (0.095, 1, "ms", 2),
    (9.95, 1, "ms", 1),
    (999.5, 1, "ms", 0),
    (9_995, _MS_PER_SECOND, "s", 2),
    (59_950, _MS_PER_SECOND, "s", 1),
)
# Values that differ only in later digits look the same.
_MAX_EXTRA_DIGITS = 9


def format_duration(ms: float) -> str:
    """Format a duration as the dashboard does: 0.4 ms, 812 ms, 3.57 s, 2m 03s, 1h 05m, 2d 02h."""
    for limit, size, unit, digits in _SHORT_DURATIONS:
        if ms < limit:
            return f"{_trim(ms / size, digits)} {unit}"
    minutes, seconds = divmod(round(ms / _MS_PER_SECOND), _SECONDS_PER_MINUTE)
    hours, rest_of_hour = divmod(minutes, _MINUTES_PER_HOUR)
    if not hours:
        return _join_units(f"{minutes}m", seconds, "s")
    days, rest_of_day = divmod(hours, _HOURS_PER_DAY)
    if days < _DAYS_SHOWN_AS_HOURS:
        return _join_units(f"{hours}h", rest_of_hour, "m")
    return _join_units(f"{days}d", rest_of_day, "h")


def _join_units(large: str, small: int, unit: str) -> str:
    return f"{large} {small:02}{unit}" if small else large


def _trim(value: float, digits: int) -> str:
    """Format a number without a fraction that is zero."""
    return re.sub(r"\.0+$", "", f"{value:,.{digits}f}")


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
    if rule.metric is AlertMetric.SIGNAL:
        return f"signal {rule.signal_name}"
    if rule.metric is AlertMetric.REQUEST_COUNT:
        return "requests"
    name = measure_named(rule.measured).text
    return f"{name} of {rule.of}" if rule.metric is AlertMetric.QUERY else name


def format_value(of: AlertRule | Alert, value: float, extra_digits: int = 0) -> str:
    """Format a value of a rule or an alert with its unit."""
    unit = measure_named(measured_by(of.metric, of.measure)).unit
    if unit is Unit.SHARE:
        return f"{value * 100:.{1 + extra_digits}f}%"
    if unit is Unit.MILLISECONDS:
        return _format_exactly(value, extra_digits) if extra_digits else format_duration(value)
    if unit is Unit.USD:
        return f"${value:,.{(4 if value < 1 else 2) + extra_digits}f}"
    if unit is Unit.SCORE:
        return f"{value:.{6 + extra_digits}g}"
    return f"{value:,.{extra_digits}f}"


def _format_exactly(ms: float, digits: int) -> str:
    if ms < _MS_PER_SECOND:
        return f"{_trim(ms, digits)} ms"
    return f"{_trim(ms / _MS_PER_SECOND, digits)} s"


def format_apart(of: AlertRule | Alert, value: float, other: float) -> tuple[str, str]:
    """Format two values with as many digits as it takes to tell them apart."""
    shown, other_shown = format_value(of, value), format_value(of, other)
    for extra in range(1, _MAX_EXTRA_DIGITS + 1):
        if shown != other_shown or value == other:
            break
        shown, other_shown = format_value(of, value, extra), format_value(of, other, extra)
    return shown, other_shown


def write_title(agent: str | None, rule: AlertRule, value: float, baseline: float | None) -> str:
    heading = f"{agent or ALL_AGENTS}: {metric_name(rule)}"
    if rule.condition is not Condition.ANOMALY:
        shown, limit = format_apart(rule, value, rule.threshold or 0.0)
        return f"{heading} {shown} is {rule.condition} {limit}"
    if baseline is None:
        return f"{heading} is unusual at {format_value(rule, value)}"
    shown, usual = format_apart(rule, value, baseline)
    return f"{heading} is unusual at {shown} (usually {usual})"


def write_failure_title(agent: str | None, groups: Sequence[FailureGroup]) -> str:
    """Name the most frequent of the failures that appeared or came back."""
    first = groups[0]
    what = "failure is back" if first.status is FailureStatus.REGRESSED else "new failure"
    others = f" and {len(groups) - 1} more" if len(groups) > 1 else ""
    return f"{agent or first.agent_name or ALL_AGENTS}: {what}: {first.title}{others}"


def write_description(rule: AlertRule, value: float, samples: int, end: datetime) -> str:
    """Say what was measured when: 3 of 15 traces failed between 00:45 and 06:45."""
    heading = f"Rule “{rule.name}”. " if rule.name else ""
    duration = f", for at least {format_minutes(rule.for_minutes)}" if rule.for_minutes else ""
    span = f"between {_format_window(rule, end)}"
    if rule.metric is AlertMetric.NEW_FAILURE_GROUP:
        return f"{heading}Failures that are new or came back {span}{duration}."
    filters = " and ".join(map(_describe, rule.filters))
    where = f" where {filters}" if filters else ""
    counted = f"{samples:,} {_samples_of(rule, samples)}{where}"
    if rule.metric is AlertMetric.ERROR_RATE or rule.measure == "errorRate":
        return f"{heading}{round(value * samples):,} of {counted} failed {span}{duration}."
    return f"{heading}Measured in {counted} {span}{duration}."


def _format_window(rule: AlertRule, end: datetime) -> str:
    start = end - timedelta(minutes=rule.window_minutes)
    if start.date() == end.date():
        return f"{start:%H:%M} and {end:%H:%M} UTC on {end:%Y-%m-%d}"
    return f"{start:%Y-%m-%d %H:%M} and {end:%Y-%m-%d %H:%M} UTC"


def _samples_of(rule: AlertRule, samples: int) -> str:
    names = str(rule.of) if rule.metric is AlertMetric.QUERY else "traces"
    names = "signals" if rule.metric is AlertMetric.SIGNAL else names
    return names.removesuffix("s") if samples == 1 else names


def _describe(condition: FilterCondition) -> str:
    field = condition.attribute or condition.field
    if condition.op is Operator.EXISTS:
        return f"{field} {'does not exist' if condition.value is False else 'exists'}"
    return f"{field} {_SIGNS[condition.op]} {', '.join(map(str, condition.values))}"
