"""Results of arbitrary sums: nothing raises, and every number is finite or missing."""

import math
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanwise.analysis.comparison import ALPHA, Arm
from spanwise.analysis.experiments import Measured, check_sample_ratio, compare, measure
from spanwise.analysis.verdicts import Facts, decide, forecast, name_metrics
from spanwise.model.experiments.definition import (
    Direction,
    ExperimentMetric,
    ExperimentStatus,
    MetricSource,
    TraceMetric,
    Variant,
)
from spanwise.model.experiments.results import MetricResult
from spanwise.model.experiments.sums import ClusterSums, MetricSums

VARIANTS = [Variant(key=key, name=key, weight=1, config={}) for key in ("a", "b", "c")]
DAY = date(2026, 1, 1)


def metric(key: TraceMetric = TraceMetric.COST, *, primary: bool = True) -> ExperimentMetric:
    return ExperimentMetric(
        key=key,
        source=MetricSource.TRACE,
        metric=key,
        signal_name=None,
        direction=Direction.INCREASE,
        primary=primary,
    )


def judge(measured: list[Measured], counts: list[int]) -> list[MetricResult]:
    """Run all computations on measured metrics and check that every number is finite."""
    results = compare(measured, VARIANTS)
    srm = check_sample_ratio(counts, [variant.weight for variant in VARIANTS])
    ahead = forecast(measured, sum(counts), 3.0)
    verdict = decide(Facts(ExperimentStatus.RUNNING, sum(counts), srm, results, ahead))
    shown: list[Any] = [r.model_dump() for r in results]
    shown += [srm.model_dump(), verdict.model_dump(), ahead and ahead.model_dump()]
    assert all(map(math.isfinite, numbers(shown)))
    assert verdict.reason
    return results


def numbers(value: Any) -> Iterator[float]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from numbers(item)
    elif isinstance(value, int | float):
        yield value


extremes = st.sampled_from([0.0, 5e-324, 1e-300, 1e-9, 0.1, 1.0, 1e9, 1e15, 1e60, 1e300, 1.7e308])
any_value = extremes | extremes.map(lambda v: -v) | st.floats(allow_nan=False, allow_infinity=False)
any_size = extremes | st.floats(min_value=0, allow_nan=False, allow_infinity=False)
any_units = st.sampled_from([0, 1, 2, 29, 30, 31, 1000, 10**9])
any_arm = st.builds(Arm, any_units, any_value, any_size, any_value)
any_sums = st.builds(
    ClusterSums,
    units=any_units,
    history=any_units,
    **dict.fromkeys(("y", "x", "yd", "yx", "ye", "dx", "xe", "yyy", "yyd", "ydd"), any_value),
    **dict.fromkeys(("yy", "xx"), any_size),
    **dict.fromkeys(("d", "e", "dd", "ee", "de", "ddd"), st.integers(0, 10**12).map(float)),
)
# Realistic values: close to each other or all zero, at any magnitude.
unit_values = st.tuples(
    st.sampled_from([0.0, 1e-12, 1.0, 1e9, 1e15]),
    st.lists(st.sampled_from([0.0, 0.0, 1.0, -1.0, 1e-6]), min_size=0, max_size=60),
).map(lambda pair: [pair[0] * (1 + value) for value in pair[1]])


def sums_of(values: list[float]) -> ClusterSums:
    """Sums of units with one outcome each, before and after assignment."""
    n = len(values)
    y, yy, yyy = sum(values), sum(v * v for v in values), sum(v * v * v for v in values)
    past = {"x": y, "xx": yy, "yx": yy, "xe": y, "ye": y, "dx": y, "e": n, "ee": n, "de": n}
    return ClusterSums(
        units=n, history=n, y=y, d=n, yy=yy, dd=n, yd=y, yyy=yyy, yyd=yy, ydd=y, ddd=n, **past
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(any_arm, min_size=3, max_size=3))
def test_any_arms_have_finite_results(arms: list[Arm]) -> None:
    judge([Measured(metric(), arms)], [arm.units for arm in arms])


@settings(max_examples=60, deadline=None)
@given(st.lists(any_sums, min_size=6, max_size=6), any_value)
def test_any_sums_have_finite_results(sums: list[ClusterSums], origin: float) -> None:
    by_day = {(n % 3, DAY + timedelta(days=n // 3)): s for n, s in enumerate(sums)}
    judge([measure(metric(), VARIANTS, MetricSums(origin, by_day))], [10, 10, 10])


@settings(max_examples=40, deadline=None)
@given(st.lists(unit_values, min_size=3, max_size=3))
def test_any_values_have_finite_results(values: list[list[float]]) -> None:
    by_day = {(place, DAY): sums_of(of_units) for place, of_units in enumerate(values)}
    judge([measure(metric(), VARIANTS, MetricSums(0.0, by_day))], [len(v) for v in values])


@given(st.lists(st.integers(0, 10**9), min_size=3, max_size=3))
def test_any_counts_have_a_sample_ratio(counts: list[int]) -> None:
    for weights in ([1, 1, 1], [0, 0, 1], [1e-320, 1, 1e9], [0, 1, 1]):
        found = check_sample_ratio(counts, weights)
        assert found.p_value is None or 0 <= found.p_value <= 1


def test_a_variant_that_never_succeeds_is_worse() -> None:
    control, broken = Arm(1000, 0.95, 0.0475, -0.9), Arm(1000, 0.0, 0.0)
    [result] = judge([Measured(metric(), [control, broken, control])], [1000, 1000, 1000])
    found = result.variants[1]
    assert found.significant
    assert found.lift == -1
    assert found.lift_ci is not None
    assert found.lift_ci.upper < -0.9


def test_too_few_units_have_a_lift_and_a_reason_but_no_interval() -> None:
    arms = [Arm(29, 1.0, 0.0001), Arm(2000, 2.0, 0.0001), Arm(2000, 1.0, 0.0001)]
    [result] = judge([Measured(metric(), arms)], [29, 2000, 2000])
    found = result.variants[1]
    assert found.lift == pytest.approx(1.0)
    assert (found.lift_ci, found.p_value, found.chance_to_win) == (None, None, None)
    assert not found.significant
    assert "at least 30 units" in (found.reason or "")


def test_a_variant_can_win_against_a_control_of_zero_without_a_lift() -> None:
    arms = [Arm(1000, 0.0, 0.0), Arm(1000, 0.9, 0.09, -0.8), Arm(1000, 0.0, 0.0)]
    measured = [Measured(metric(), arms)]
    results = judge(measured, [1000, 1000, 1000])
    found = results[0].variants[1]
    assert found.significant
    assert (found.lift, found.lift_ci) == (None, None)
    srm = check_sample_ratio([1000] * 3, [1.0] * 3)
    verdict = decide(Facts(ExperimentStatus.RUNNING, 3000, srm, results, None))
    assert (verdict.decision, verdict.variant) == ("ship", "b")
    assert "0 → 0.9" in verdict.reason


def test_a_verdict_writes_a_loss_with_a_minus_sign() -> None:
    arms = [Arm(5000, 1.0, 0.01), Arm(5000, 0.9, 0.01)]
    results = compare([Measured(metric(), arms)], VARIANTS[:2])
    srm = check_sample_ratio([5000] * 2, [1.0] * 2)
    verdict = decide(Facts(ExperimentStatus.RUNNING, 10_000, srm, results, None))
    assert "\N{MINUS SIGN}10.0%" in verdict.reason


def test_a_verdict_is_a_sentence_that_names_its_metric() -> None:
    custom = metric(TraceMetric.P95_LATENCY).model_copy(update={"key": "primary.key"})
    arms = [Arm(5000, 1.0, 0.01), Arm(5000, 1.1, 0.01)]
    results = compare([Measured(custom, arms)], VARIANTS[:2])
    srm = check_sample_ratio([5000] * 2, [1.0] * 2)
    names = name_metrics([custom])
    verdict = decide(Facts(ExperimentStatus.RUNNING, 10_000, srm, results, None, names))
    assert verdict.reason.startswith("Variant b is better on p95 latency: +10.0% (")
    assert verdict.reason.endswith(", and no other metric is significantly worse.")


def test_a_result_that_is_not_significant_after_adjustment_has_a_reason() -> None:
    """One of many comparisons: the interval excludes zero, but the adjusted p-value is high."""
    edge = Arm(5000, 1.0, 1.0), Arm(5000, 1.065, 1.0)
    same = Arm(5000, 1.0, 1.0)
    keys = (TraceMetric.COST, TraceMetric.TOKENS, TraceMetric.LATENCY)
    measured = [
        Measured(
            metric(key, primary=key is TraceMetric.COST),
            [edge[0], edge[1] if key is TraceMetric.COST else same, same],
        )
        for key in keys
    ]
    found = judge(measured, [5000] * 3)[0].variants[1]
    assert found.p_value is not None
    assert found.adjusted_p_value is not None
    assert found.p_value <= ALPHA < found.adjusted_p_value
    assert not found.significant
    assert "all comparisons" in (found.reason or "")
