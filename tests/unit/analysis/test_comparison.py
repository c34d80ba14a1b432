"""Experiment statistics: published vectors, and data that allows no answer."""

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


def compare_arms(control: Arm, variant: Arm) -> Estimate:
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
    assert compare_arms(rate(3000, 1396), rate(3461, 2422)).lift == near(0.50386)
    assert compare_arms(rate(28, 14), rate(30, 16)).lift == near(0.06667)


def test_with_many_units_the_interval_matches_the_delta_method() -> None:
    """The difference to Fieller's interval vanishes with the number of units."""
    control, variant = rate(1_000_000, 300_000), rate(1_000_000, 303_000)
    interval = lift_interval(compare_arms(control, variant))
    assert interval is not None
    error = math.sqrt(
        variant.variance / 1e6 / control.mean**2
        + control.variance / 1e6 * variant.mean**2 / control.mean**4
    )
    width = error * math.sqrt(critical_score_squared(2_000_000))
    assert interval.lower == pytest.approx(0.01 - width, abs=width / 100)
    assert interval.upper == pytest.approx(0.01 + width, abs=width / 100)


def test_six_events_against_one_are_not_significant() -> None:
    found = compare_arms(rate(400, 6), rate(400, 1))
    assert sequential_p_value(found.score_squared(), found.units) > 0.5
    assert lift_interval(found) is None


def test_a_small_arm_without_events_is_not_significant() -> None:
    """500 units at 1 % expect five events, and seeing none is not unlikely enough."""
    found = compare_arms(rate(4500, 45), rate(500, 0))
    assert sequential_p_value(found.score_squared(), found.units) > ALPHA


def test_a_variant_that_always_fails_is_significant_with_an_interval_around_minus_one() -> None:
    found = compare_arms(rate(1000, 950), rate(1000, 0))
    interval = lift_interval(found)
    assert interval is not None
    assert sequential_p_value(found.score_squared(), found.units) < 1e-9
    assert interval.lower < -1 < interval.upper < -0.98


def test_constant_arms_that_differ_are_significant_with_enough_units() -> None:
    found = compare_arms(rate(500, 500), rate(500, 0))
    assert sequential_p_value(found.score_squared(), found.units) < ALPHA
    few = compare_arms(rate(30, 30), rate(30, 0))
    assert sequential_p_value(few.score_squared(), few.units) > ALPHA


def test_a_control_of_zero_has_a_difference_but_no_lift() -> None:
    found = compare_arms(rate(1000, 0), rate(1000, 900))
    assert found.lift is None
    assert lift_interval(found) is None
    assert sequential_p_value(found.score_squared(), found.units) < ALPHA


def test_the_lift_over_a_negative_control_keeps_its_sign() -> None:
    found = compare_arms(Arm(10_000, -2.0, 1.0), Arm(10_000, -1.0, 1.0))
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
        # Equal up to rounding.
        (Arm(10, 0.1, 0.0), Arm(10, 0.1 + 2e-17, 0.0)),
    ],
)
def test_degenerate_arms_have_no_estimate(control: Arm, variant: Arm) -> None:
    assert estimate(control, variant) is None


def test_the_interval_of_a_mean_needs_a_variance() -> None:
    assert mean_interval(Arm(1, 1.0, 0.0)) is None
    assert mean_interval(Arm(100, 1.0, 0.0)) is None
    interval = mean_interval(rate(10_000, 3000))
    assert interval is not None
    assert interval.lower < 0.3 < interval.upper
    assert interval.upper - interval.lower < 0.05


def test_the_chance_to_win_follows_the_difference() -> None:
    found = compare_arms(rate(100, 49), rate(100, 51))
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
    found = compare_arms(rate(1000, 300), rate(1000, 310))
    ten, five = units_until_significant(found, 0.1), units_until_significant(found, 0.05)
    assert ten is not None
    assert five is not None
    assert 4000 < ten < five
    assert units_until_significant(compare_arms(rate(1000, 0), rate(1000, 9)), 0.1) is None


def test_a_sample_ratio_mismatch_is_detected() -> None:
    found = sample_ratio_p_value([10_400, 9600], [0.5, 0.5])
    assert found is not None
    assert found < 0.001


def test_the_sample_ratio_is_the_inverse_bayes_factor() -> None:
    """Two arms and a beta prior: the beta-binomial against the binomial likelihood."""
    prior, heads, tails = 250.0, 30, 12

    def log_beta(a: float, b: float) -> float:
        return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)

    log_factor = log_beta(prior + heads, prior + tails) - log_beta(prior, prior)
    log_factor += (heads + tails) * math.log(2)
    assert sample_ratio_p_value([heads, tails], [1, 1]) == pytest.approx(math.exp(-log_factor))


def test_an_even_split_passes_the_sample_ratio_check() -> None:
    assert sample_ratio_p_value([5003, 4997], [50, 50]) == 1


@pytest.mark.parametrize(
    ("counts", "weights"),
    [([0, 0], [1, 1]), ([5], [1]), ([5, 0], [1, 0]), ([5, 5], [1e-320, 1e9])],
)
def test_a_split_without_counts_has_no_p_value(counts: list[int], weights: list[float]) -> None:
    assert sample_ratio_p_value(counts, weights) is None


def test_a_variant_without_weight_is_excluded_from_the_ratio() -> None:
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
    # At the threshold the two round differently.
    if not math.isclose(p_value, ALPHA, rel_tol=1e-6):
        assert (p_value <= ALPHA) == (not interval.lower <= 0 <= interval.upper)
    assert found.lift is not None
    assert interval.lower - 1e-9 <= found.lift <= interval.upper + 1e-9


@pytest.mark.parametrize("mean", [1e3, 1e7, 1e9])
def test_the_lift_of_large_values_has_the_width_of_their_difference(mean: float) -> None:
    """Both arms have a standard deviation of 1 and means that do not differ significantly."""
    interval = lift_interval(compare_arms(Arm(5000, mean, 1.0), Arm(5000, mean + 0.01, 1.0)))
    assert interval is not None
    critical = critical_score_squared(10_000)
    half = math.sqrt(critical * 2 / 5000) / mean
    assert interval.lower == pytest.approx(0.01 / mean - half, rel=1e-3)
    assert interval.upper == pytest.approx(0.01 / mean + half, rel=1e-3)


def test_values_whose_squares_are_not_representable_have_no_estimate() -> None:
    assert estimate(Arm(5000, 1e-320, 0.0), Arm(5000, 3e-320, 0.0)) is None
