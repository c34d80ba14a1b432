"""Checks alert rules for fields that are missing or contradict each other."""

from collections.abc import Sequence

from spanwise.model.alerts import MAX_ANOMALY_MINUTES, AlertMetric, AlertRule, Condition
from spanwise.model.dashboards.queries import wrong_entity
from spanwise.model.errors import FieldProblem, Invalid
from spanwise.model.measures import Unit, measure_named

_WITHOUT_FILTERS = {AlertMetric.SIGNAL, AlertMetric.NEW_FAILURE_GROUP}


def check_rules(rules: Sequence[AlertRule]) -> None:
    """Raise Invalid for incomplete or contradictory rules, naming rule and field."""
    problems = []
    seen: set[str] = set()
    for number, rule in enumerate(rules):
        prefix = f"rule {rule.name!r}: " if rule.name else ""
        for field, message in (*_problems_of(rule), *_metric_problems_of(rule)):
            problems.append(FieldProblem(field=f"rules.{number}.{field}", message=prefix + message))
        if rule.id is not None and rule.id in seen:
            problems.append(
                FieldProblem(
                    field=f"rules.{number}.id", message=f"{prefix}another rule has this id"
                )
            )
        seen.add(rule.id or "")
    raise_if_any(problems)


def _problems_of(rule: AlertRule) -> list[tuple[str, str]]:
    problems = []
    is_anomaly = rule.condition is Condition.ANOMALY
    if is_anomaly and rule.threshold is not None:
        problems.append(("threshold", "must be empty for the condition anomaly; it is learned"))
    if not is_anomaly and rule.threshold is None:
        problems.append(("threshold", f"is required when the condition is {rule.condition}"))
    if not is_anomaly and rule.sensitivity is not None:
        problems.append(("sensitivity", "is allowed only when the condition is anomaly"))
    if is_anomaly and rule.window_minutes > MAX_ANOMALY_MINUTES:
        problems.append(
            (
                "windowMinutes",
                f"must be at most {MAX_ANOMALY_MINUTES} when the condition is anomaly",
            )
        )
    return problems


def _metric_problems_of(rule: AlertRule) -> list[tuple[str, str]]:
    problems = []
    if (rule.metric is AlertMetric.SIGNAL) != (rule.signal_name is not None):
        rule_of_field = "is required" if rule.signal_name is None else "is allowed only"
        problems.append(("signalName", f"{rule_of_field} when the metric is signal"))
    if (rule.metric is AlertMetric.QUERY) != (rule.measure is not None):
        rule_of_field = "is required" if rule.measure is None else "is allowed only"
        problems.append(("measure", f"{rule_of_field} when the metric is query"))
    if rule.measure and (entity := wrong_entity(rule.measure, rule.of)) is not None:
        problems.append(("of", f"must be {entity} when the measure is {rule.measure}"))
    if rule.filters and rule.metric in _WITHOUT_FILTERS:
        problems.append(("filters", f"are not allowed when the metric is {rule.metric}"))
    if rule.metric is AlertMetric.NEW_FAILURE_GROUP and rule.condition is not Condition.ABOVE:
        problems.append(("condition", "must be above when the metric is newFailureGroup"))
    threshold = rule.threshold
    if threshold is not None:
        unit = measure_named(rule.measured).unit
        if unit is Unit.SHARE and not 0 <= threshold <= 1:
            problems.append(("threshold", "an error rate must be between 0 and 1"))
        elif threshold < 0 and unit is not Unit.SCORE:
            problems.append(("threshold", "must not be negative"))
    return problems


def raise_if_any(problems: Sequence[FieldProblem]) -> None:
    if problems:
        raise Invalid(f"{problems[0].field}: {problems[0].message}", problems)
