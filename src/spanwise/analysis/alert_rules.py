"""Evaluates an alert rule at one point in time, from a measured window and the rule's state.

Nothing here reads a clock or a store, so a backtest gives the same results as the service.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from spanwise.analysis.baseline import (
    FIRE_SCORE,
    MIN_POINTS,
    RECENT_BUCKETS,
    RECOVER_SCORE,
    Baseline,
    History,
    Quantity,
    is_firing,
)
from spanwise.model.alerts import (
    AlertRule,
    Condition,
    RuleState,
    Sensitivity,
    Window,
)
from spanwise.model.measures import Unit, measure_named

# An alert resolves when the value is better than the threshold by this share of it ...
RECOVER_SHARE = 0.1
# ... or has been better than the threshold for this long.
CLEAR_FOR = timedelta(minutes=15)
# An anomaly that lasts this long becomes the new baseline.
NEW_NORMAL_AFTER = timedelta(hours=24)

HOUR_SECONDS = 3600
DAY_SECONDS = 24 * HOUR_SECONDS
WEEK_SECONDS = 7 * DAY_SECONDS
REFERENCE_WEEKS = 4

_FIRE_AT = {None: FIRE_SCORE, Sensitivity.LOW: 6.0, Sensitivity.MEDIUM: 4.0, Sensitivity.HIGH: 3.0}


class Verdict(StrEnum):
    """What happens to the alert of a rule; REST: there is none, HOLD: it stays open."""

    REST = "rest"
    FIRE = "fire"
    HOLD = "hold"
    RESOLVE = "resolve"


@dataclass(frozen=True)
class Evaluation:
    verdict: Verdict
    state: RuleState
    value: float | None = None
    breaches: bool = False
    baseline: float | None = None
    note: str | None = None


def measured_value(rule: AlertRule, window: Window) -> float | None:
    """Return the value that the rule compares; None when there are too few samples."""
    if rule.measured == "count":
        return float(window.samples)
    value = window.values.get(rule.measured)
    if measure_named(rule.measured).is_sum and rule.condition is Condition.ABOVE:
        return value or 0.0
    return None if window.samples < max(rule.min_samples, _min_samples(rule)) else value


def _min_samples(rule: AlertRule) -> int:
    if rule.condition is not Condition.ANOMALY or _quantity(rule) is Quantity.RATE:
        return 1
    # With fewer than twenty samples the 95th percentile is the maximum, which is too noisy.
    return 20 if rule.measured in {"p95", "p99"} else 10


def _quantity(rule: AlertRule) -> Quantity:
    if rule.measured == "count":
        return Quantity.COUNT
    is_share = measure_named(rule.measured).unit is Unit.SHARE
    return Quantity.RATE if is_share else Quantity.AMOUNT


def _is_two_sided(rule: AlertRule) -> bool:
    """Return whether low values are anomalous too; few errors and a low cost are fine."""
    is_score = measure_named(rule.measured).unit is Unit.SCORE
    return is_score or rule.measured in {"count", "users", "sessions"}


def evaluate(
    rule: AlertRule,
    state: RuleState,
    window: Window,
    history: History | None,
    at: datetime,
    open_since: datetime | None,
) -> Evaluation:
    """Evaluate one rule. `open_since` is when its open alert was triggered, if there is one."""
    value = measured_value(rule, window)
    if rule.condition is Condition.ANOMALY:
        return _evaluate_anomaly(rule, state, value, window.samples, history, at, open_since)
    if value is None or rule.threshold is None:
        return _keep_state(state, open_since)
    sign = 1 if rule.condition is Condition.ABOVE else -1
    over = sign * (value - rule.threshold)
    recovered = over <= -RECOVER_SHARE * abs(rule.threshold)
    return _decide(rule, state, at, open_since, value, breaches=over > 0, recovered=recovered)


def _evaluate_anomaly(
    rule: AlertRule,
    state: RuleState,
    value: float | None,
    samples: int,
    history: History | None,
    at: datetime,
    open_since: datetime | None,
) -> Evaluation:
    minute = at.replace(second=0, microsecond=0)
    if state.scored_at is not None and state.scored_at >= minute:
        return _keep_state(state, open_since)
    baseline = None if history is None else history.baseline(_quantity(rule), samples)
    score = None if value is None or baseline is None else _score(rule, baseline, value)
    # Scores from before a downtime of the service are outdated.
    is_outdated = state.scored_at is None or minute - state.scored_at > timedelta(
        minutes=RECENT_BUCKETS
    )
    scores = (*(() if is_outdated else state.scores), score)[-RECENT_BUCKETS:]
    state = replace(state, scored_at=minute, scores=scores)
    if open_since is not None and at - open_since >= NEW_NORMAL_AFTER:
        learned = RuleState(learns_since=open_since)
        note = "this has lasted for 24 hours and is the new normal"
        return Evaluation(Verdict.RESOLVE, learned, value, note=note)
    if score is None or value is None or baseline is None:
        return _keep_state(state, open_since)
    started = is_firing(scores)
    breaches = score > FIRE_SCORE if open_since else started
    return replace(
        _decide(
            rule,
            state,
            at,
            open_since,
            value,
            breaches=breaches,
            recovered=score < RECOVER_SCORE,
            holds=score >= RECOVER_SCORE,
        ),
        baseline=baseline.center,
    )


def _score(rule: AlertRule, baseline: Baseline, value: float) -> float:
    """Return the anomaly score, scaled so that every sensitivity fires at 4."""
    score = baseline.score(value)
    if _is_two_sided(rule):
        score = abs(score)
    score *= FIRE_SCORE / _FIRE_AT[rule.sensitivity]
    # Low scores become 0, so that the stored state of a quiet rule does not change.
    return 0.0 if score < RECOVER_SCORE else round(min(score, 1e6), 3)


def find_band(
    rule: AlertRule, history: History | None, samples: int
) -> tuple[float | None, float | None]:
    """Return the range in which an anomaly rule does not fire; None for an unbounded side."""
    baseline = None if history is None else history.baseline(_quantity(rule), samples)
    if baseline is None or rule.condition is not Condition.ANOMALY:
        return None, None
    edge = _FIRE_AT[rule.sensitivity]
    return baseline.at(-edge) if _is_two_sided(rule) else None, baseline.at(edge)


def _keep_state(state: RuleState, open_since: datetime | None) -> Evaluation:
    """Return an evaluation that changes nothing, because data is missing."""
    return Evaluation(Verdict.REST if open_since is None else Verdict.HOLD, state)


def _decide(
    rule: AlertRule,
    state: RuleState,
    at: datetime,
    open_since: datetime | None,
    value: float,
    *,
    breaches: bool,
    recovered: bool,
    holds: bool = False,
) -> Evaluation:
    if open_since is None:
        if not breaches:
            return Evaluation(Verdict.REST, replace(state, breaching_since=None), value)
        since = state.breaching_since or at
        fires = at - since >= timedelta(minutes=rule.for_minutes)
        verdict = Verdict.FIRE if fires else Verdict.REST
        return Evaluation(verdict, replace(state, breaching_since=since), value, breaches=True)
    if breaches or holds:
        breached_at = state.breaching_since or (at if breaches else None)
        kept = replace(state, breaching_since=breached_at, clear_since=None)
        return Evaluation(Verdict.HOLD, kept, value, breaches=breaches)
    clear_since = state.clear_since or at
    # A reopened alert must breach again or stay clear for a while before it resolves.
    is_recovered = recovered and state.breaching_since is not None
    if is_recovered or at - clear_since >= CLEAR_FOR:
        cleared = RuleState(scored_at=state.scored_at, learns_since=state.learns_since)
        return Evaluation(Verdict.RESOLVE, cleared, value)
    return Evaluation(Verdict.HOLD, replace(state, clear_since=clear_since), value)


def collect_reference(
    rule: AlertRule,
    buckets: Mapping[int, Window],
    hour: int,
    first_seen: int,
    *,
    excluded: Sequence[tuple[int, int]] = (),
    learns_since: int = 0,
) -> list[float]:
    """Collect the past values that a window in this hour is compared with (Unix seconds).

    These are the windows at the same hour of the week in the last four weeks, plus one window from
    each of the last 24 hours; while the weeks give fewer than twelve values, all windows of the
    last day. Windows in which the rule was firing are excluded. An agent first seen less than a day
    ago has no reference.
    """
    since = max(first_seen, learns_since)
    if hour - first_seen < DAY_SECONDS:
        return []
    seconds = rule.window_minutes * 60
    firing = [(start, end) for start, end in excluded if start > learns_since]

    def value_at(start: int) -> float | None:
        if start < since or any(begin < start + seconds and start < end for begin, end in firing):
            return None
        return measured_value(rule, buckets.get(start, _EMPTY_WINDOW))

    weeks = [hour - week * WEEK_SECONDS for week in range(1, REFERENCE_WEEKS + 1)]
    reference = _values(value_at, weeks, seconds)
    day = [hour - hours * HOUR_SECONDS for hours in range(24, 0, -1)]
    if len(reference) < MIN_POINTS:
        return reference + _values(value_at, day, seconds)
    firsts = (_values(value_at, [start], seconds, at_most=1) for start in day)
    return reference + [value for values in firsts for value in values]


_EMPTY_WINDOW = Window()


def _values(
    value_at: Callable[[int], float | None], hours: Sequence[int], seconds: int, at_most: int = 60
) -> list[float]:
    found = (
        value_at(hour + number * seconds)
        for hour in hours
        for number in range(HOUR_SECONDS // seconds)
    )
    return [value for value in found if value is not None][: at_most * len(hours)]


def reference_periods(hour: int) -> list[tuple[int, int]]:
    """Return the time ranges that `collect_reference` reads (Unix seconds)."""
    weeks = [hour - week * WEEK_SECONDS for week in range(REFERENCE_WEEKS, 0, -1)]
    return [*((start, start + HOUR_SECONDS) for start in weeks), (hour - DAY_SECONDS, hour)]
