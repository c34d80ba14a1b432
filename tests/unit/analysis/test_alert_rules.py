"""Rules fire on lasting breaches, recover with a margin, and keep their state without data."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from spanwise.analysis.alert_rules import Evaluation, Verdict, evaluate, measured_value
from spanwise.model.alerts import AlertRule, RuleState, Window

START = datetime(2026, 1, 5, 12, tzinfo=UTC)


def make_rule(**fields: Any) -> AlertRule:
    return AlertRule(**{"metric": "errorRate", "condition": "above", "threshold": 0.1, **fields})


class Watch:
    """One rule, evaluated once per minute."""

    def __init__(self, rule: AlertRule) -> None:
        self.rule = rule
        self.state = RuleState()
        self.now = START
        self.open_since: datetime | None = None

    def evaluate(self, value: float | None, samples: int = 100) -> Evaluation:
        self.now += timedelta(minutes=1)
        window = Window() if value is None else Window(samples, {"errorRate": value})
        evaluation = evaluate(self.rule, self.state, window, None, self.now, self.open_since)
        self.state = evaluation.state
        if evaluation.verdict is Verdict.FIRE:
            self.open_since = self.now
        if evaluation.verdict is Verdict.RESOLVE:
            self.open_since = None
        return evaluation

    def verdicts(self, *values: float | None) -> list[Verdict]:
        return [self.evaluate(value).verdict for value in values]


REST, FIRE, HOLD, RESOLVE = Verdict.REST, Verdict.FIRE, Verdict.HOLD, Verdict.RESOLVE


def test_a_breach_fires_immediately_without_a_minimum_duration() -> None:
    assert Watch(make_rule()).verdicts(0.1, 0.11) == [REST, FIRE]
    lasting = Watch(make_rule(for_minutes=2))
    assert lasting.verdicts(0.2, 0.2, 0.05, 0.2, 0.2, 0.2) == [REST, REST, REST, REST, REST, FIRE]


def test_recovery_needs_a_margin_or_a_quarter_of_an_hour() -> None:
    watch = Watch(make_rule())
    assert watch.verdicts(0.2, 0.095, 0.12, 0.09) == [FIRE, HOLD, HOLD, RESOLVE]
    watch = Watch(make_rule())
    near = watch.verdicts(0.2, *[0.095] * 16)
    assert near == [FIRE, *[HOLD] * 15, RESOLVE]


def test_missing_data_keeps_the_last_state() -> None:
    watch = Watch(make_rule(for_minutes=2))
    assert watch.verdicts(0.2, None, 0.2, None, None) == [REST, REST, FIRE, HOLD, HOLD]
    few = Watch(make_rule(min_samples=50))
    assert few.evaluate(1.0, samples=49).verdict is REST
    assert few.evaluate(1.0, samples=50).verdict is FIRE
    assert few.evaluate(0.0, samples=49).verdict is HOLD


def test_below_is_the_mirror_of_above() -> None:
    watch = Watch(make_rule(condition="below", threshold=0.5))
    assert watch.verdicts(0.5, 0.49, 0.52, 0.55) == [REST, FIRE, HOLD, RESOLVE]


def test_an_alert_with_a_threshold_of_zero_resolves() -> None:
    assert Watch(make_rule(threshold=0)).verdicts(0.0, 0.01, 0.0) == [REST, FIRE, RESOLVE]


def test_a_threshold_whose_margin_is_out_of_range_resolves_by_time() -> None:
    watch = Watch(make_rule(condition="below", threshold=0.97))
    assert watch.verdicts(0.9, *[1.0] * 15)[-1] is HOLD
    assert watch.evaluate(1.0).verdict is RESOLVE


def test_a_reopened_alert_must_breach_again_before_it_resolves_immediately() -> None:
    watch = Watch(make_rule())
    watch.open_since = START
    assert watch.verdicts(0.0, 0.0) == [HOLD, HOLD]
    assert watch.verdicts(0.2, 0.0) == [HOLD, RESOLVE]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"metric": "requestCount"}, 0.0),
        ({"metric": "cost"}, 0.0),
        ({"metric": "totalTokens", "condition": "below"}, None),
        ({"metric": "p95Latency"}, None),
        ({"metric": "signal", "signal_name": "rating"}, None),
    ],
)
def test_an_empty_window_is_zero_for_sums_and_unknown_for_means(
    fields: dict[str, Any], expected: float | None
) -> None:
    assert measured_value(make_rule(**fields), Window()) == expected
