"""The statistics of experiments against published vectors, and where there is no answer."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.analysis.comparison import (
    ALPHA,
    Arm,
    Estimate,
    adjust_p_values,
    chance_to_win,
    critical_score_squared,
    cuped_theta,
    estimate,
    lift_interval,
    mean_interval,
    normal_cdf,
    sample_ratio_p_value,
    sequential_p_value,
    units_until_significant,
)


def near(expected: float, places: int = 5) -> object:
    return pytest.approx(expected, abs=0.6 * 10**-places)


def rate(units: int, successes: int) -> Arm:
    share = successes / units
    return Arm(units, share, share * (1 - share), 1 - 2 * share)


def compared(control: Arm, variant: Arm) -> Estimate:
    found = estimate(control, variant)
    assert found is not None
    return found


def test_the_confidence_sequence_matches_the_vector() -> None:
    """A standard error of 0.03386 with 6,461 units is an interval of ±0.10289 at every look."""
    width = 0.03386 * math.sqrt(critical_score_squared(6461, tuning=5000))
    assert width == pytest.approx(0.60675 - 0.50386, rel=1e-3)
    score = 0.50386 / 0.03386
    assert sequential_p_value(score**2, 6461, tuning=5000) == pytest.approx(5.17e-44, rel=0.05)


def test_the_lift_is_relative_to_the_control() -> None:
    assert compared(rate(3000, 1396), rate(3461, 2422)).lift == near(0.50386)
    assert compared(rate(28, 14), rate(30, 16)).lift == near(0.06667)


def test_with_many_units_the_interval_is_that_of_the_delta_method() -> None:
    """Fieller's interval and the delta method's differ by terms that vanish."""
    control, variant = rate(1_000_000, 300_000), rate(1_000_000, 303_000)
    interval = lift_interval(compared(control, variant))
    assert interval is not None
    error = math.sqrt(
        variant.variance / 1e6 / control.mean**2
        + control.variance / 1e6 * variant.mean**2 / control.mean**4
    )
    width = error * math.sqrt(critical_score_squared(2_000_000))
    assert interval.lower == pytest.approx(0.01 - width, abs=width / 100)
    assert interval.upper == pytest.approx(0.01 + width, abs=width / 100)


def test_six_events_against_one_are_no_difference() -> None:
    found = compared(rate(400, 6), rate(400, 1))
    assert sequential_p_value(found.score_squared(), found.units) > 0.5
    assert lift_interval(found) is None


def test_a_small_arm_without_an_event_is_no_difference() -> None:
    """Of 500 units with 1 % five events are expected, and none of them is not rare."""
    found = compared(rate(4500, 45), rate(500, 0))
    assert sequential_p_value(found.score_squared(), found.units) > ALPHA


def test_a_variant_that_always_fails_is_found_and_may_still_succeed_rarely() -> None:
    found = compared(rate(1000, 950), rate(1000, 0))
    interval = lift_interval(found)
    assert interval is not None
    assert sequential_p_value(found.score_squared(), found.units) < 1e-9
    assert interval.lower < -1 < interval.upper < -0.98


def test_arms_that_are_constant_and_differ_are_told_apart() -> None:
    found = compared(rate(500, 500), rate(500, 0))
    assert sequential_p_value(found.score_squared(), found.units) < ALPHA
    few = compared(rate(30, 30), rate(30, 0))
    assert sequential_p_value(few.score_squared(), few.units) > ALPHA


def test_a_control_of_zero_has_no_lift_but_a_difference() -> None:
    found = compared(rate(1000, 0), rate(1000, 900))
    assert found.lift is None
    assert lift_interval(found) is None
    assert sequential_p_value(found.score_squared(), found.units) < ALPHA


def test_a_negative_baseline_still_has_a_sign() -> None:
    found = compared(Arm(10_000, -2.0, 1.0), Arm(10_000, -1.0, 1.0))
    interval = lift_interval(found)
    assert interval is not None
    assert found.lift == pytest.approx(0.5)
    assert interval.lower < 0.5 < interval.upper
    assert interval.lower > 0


@pytest.mark.parametrize(
    ("control", "variant"),
    [
        (Arm(0, 0.0, 0.0), Arm(10, 0.5, 0.25)),
        (Arm(1, 3.0, 0.0), Arm(10, 0.5, 0.25)),
        (Arm(10, 1.0, 0.0), Arm(10, 1.0, 0.0)),
        (Arm(10, 0.0, 0.0), Arm(10, 0.0, 0.0)),
        # All costs are a tenth; the last digit is rounding.
        (Arm(10, 0.1, 0.0), Arm(10, 0.1 + 2e-17, 0.0)),
    ],
)
def test_degenerate_arms_are_not_compared(control: Arm, variant: Arm) -> None:
    assert estimate(control, variant) is None


def test_the_interval_of_a_mean_is_not_symmetric_in_what_it_misses() -> None:
    assert mean_interval(Arm(1, 1.0, 0.0)) is None
    assert mean_interval(Arm(100, 1.0, 0.0)) is None
    interval = mean_interval(rate(10_000, 3000))
    assert interval is not None
    assert interval.lower < 0.3 < interval.upper
    assert interval.upper - interval.lower < 0.05


def test_the_bayesian_chance_is_that_of_the_difference() -> None:
    found = compared(rate(100, 49), rate(100, 51))
    assert chance_to_win(found, higher_is_better=True) == near(0.61, 2)
    lost = chance_to_win(found, higher_is_better=False)
    assert lost == pytest.approx(1 - chance_to_win(found, higher_is_better=True))


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        # Computed with scipy.special.ndtr.
        (-40.0, 0.0),
        (-20.0, 2.753624118606155e-89),
        (-8.0, 6.22096057427174e-16),
        (-5.0, 2.8665157187919344e-07),
        (-3.0, 0.001349898031630093),
        (-1.96, 0.024997895148220435),
        (-0.5, 0.3085375387259869),
        (0.0, 0.5),
        (0.3, 0.6179114221889526),
        (1.6448536269514722, 0.95),
        (3.0, 0.9986501019683699),
        (8.5, 1.0),
        (math.inf, 1.0),
    ],
)
def test_the_normal_distribution_function_is_accurate_in_both_tails(
    score: float, expected: float
) -> None:
    assert normal_cdf(score) == pytest.approx(expected, rel=1e-12, abs=1e-300)


def test_a_smaller_lift_needs_more_units() -> None:
    found = compared(rate(1000, 300), rate(1000, 310))
    ten, five = units_until_significant(found, 0.1), units_until_significant(found, 0.05)
    assert ten is not None
    assert five is not None
    assert 4000 < ten < five
    assert units_until_significant(compared(rate(1000, 0), rate(1000, 9)), 0.1) is None


def test_a_sample_ratio_mismatch_is_found() -> None:
    found = sample_ratio_p_value([10_400, 9600], [0.5, 0.5])
    assert found is not None
    assert found < 0.001


def test_the_sample_ratio_is_the_inverse_bayes_factor() -> None:
    """Two arms and a beta prior: the beta-binomial likelihood against the fair coin's."""
    prior, heads, tails = 250.0, 30, 12

    def log_beta(a: float, b: float) -> float:
        return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)

    log_factor = log_beta(prior + heads, prior + tails) - log_beta(prior, prior)
    log_factor += (heads + tails) * math.log(2)
    assert sample_ratio_p_value([heads, tails], [1, 1]) == pytest.approx(math.exp(-log_factor))


def test_the_sample_ratio_of_an_even_split_is_fine() -> None:
    assert sample_ratio_p_value([5003, 4997], [50, 50]) == 1


@pytest.mark.parametrize(
    ("counts", "weights"),
    [([0, 0], [1, 1]), ([5], [1]), ([5, 0], [1, 0]), ([5, 5], [1e-320, 1e9])],
)
def test_a_ratio_of_nothing_has_no_p_value(counts: list[int], weights: list[float]) -> None:
    assert sample_ratio_p_value(counts, weights) is None


def test_a_variant_without_weight_is_left_out_of_the_ratio() -> None:
    assert sample_ratio_p_value([100, 0, 100], [1, 0, 1]) == 1


def test_cuped_theta_matches_the_vector() -> None:
    before, after = [0.3, 0.5, 0.9, 22.0], [2.0, 1.0, 5.0, 3.0]
    mean_before, mean_after = sum(before) / 4, sum(after) / 4
    covariance = sum(
        (b - mean_before) * (a - mean_after) for b, a in zip(before, after, strict=True)
    )
    variance = sum((b - mean_before) ** 2 for b in before)
    assert cuped_theta([covariance / 3] * 2, [variance / 3] * 2) == near(0.01864)
    assert cuped_theta([0.0], [0.0]) == 0


def test_p_values_are_adjusted_in_their_order() -> None:
    assert adjust_p_values([0.01, 0.04, 0.03]) == [0.03, pytest.approx(0.06), pytest.approx(0.06)]
    assert adjust_p_values([0.9, 0.9]) == [1.0, 1.0]
    assert adjust_p_values([]) == []


rates = st.integers(2, 100_000).flatmap(
    lambda units: st.builds(rate, st.just(units), st.integers(0, units))
)


@given(rates, rates)
def test_the_interval_and_the_p_value_agree(control: Arm, variant: Arm) -> None:
    found = estimate(control, variant)
    interval = None if found is None else lift_interval(found)
    if found is None or interval is None:
        return
    p_value = sequential_p_value(found.score_squared(), found.units)
    # At the very edge the two are rounded differently.
    if not math.isclose(p_value, ALPHA, rel_tol=1e-6):
        assert (p_value <= ALPHA) == (not interval.lower <= 0 <= interval.upper)
    assert found.lift is not None
    assert interval.lower - 1e-9 <= found.lift <= interval.upper + 1e-9
