"""The statistics of experiments against published vectors, and where there is no answer."""

import math

import pytest

from spanwise.analysis.comparison import (
    Arm,
    RatioSums,
    chance_to_win,
    cuped_theta,
    fixed_interval,
    fixed_p_value,
    holm,
    relative_lift,
    sample_ratio_p_value,
    sequential_interval,
    sequential_p_value,
    units_to_detect,
)


def near(expected: float, places: int = 5) -> object:
    return pytest.approx(expected, abs=0.6 * 10**-places)


def test_welch_lift_of_means_matches_the_vector() -> None:
    control = Arm.from_sums(3407, 1396.87, 52377.9767)
    variant = Arm.from_sums(3461, 2422.7, 134698.29)
    estimate = relative_lift(control, variant)
    assert estimate is not None
    assert (estimate.lift, estimate.standard_error) == (near(0.70732), near(0.37879))
    assert estimate.degrees_of_freedom == near(5841.742, 3)
    interval = fixed_interval(estimate)
    assert (interval.lower, interval.upper) == (near(-0.03526), near(1.44989))
    assert fixed_p_value(estimate) == near(0.06191)


def test_lift_of_proportions_matches_the_vector() -> None:
    estimate = relative_lift(Arm.from_successes(28, 14), Arm.from_successes(30, 16))
    assert estimate is not None
    assert (estimate.lift, estimate.standard_error) == (near(0.06667), near(0.2717, 4))
    interval = fixed_interval(estimate)
    assert (interval.lower, interval.upper) == (near(-0.47767), near(0.61101))
    assert fixed_p_value(estimate) == near(0.80707)


def test_the_sequential_interval_matches_the_vector() -> None:
    estimate = relative_lift(Arm.from_successes(3000, 1396), Arm.from_successes(3461, 2422))
    assert estimate is not None
    assert (estimate.lift, estimate.standard_error) == (near(0.50386), near(0.03386))
    interval = sequential_interval(estimate, 6461, tuning=5000)
    assert (interval.lower, interval.upper) == (near(0.40098), near(0.60675))
    assert sequential_p_value(estimate, 6461, tuning=5000) == pytest.approx(5.17e-44, rel=0.01)


def test_the_bayesian_chance_matches_the_vector() -> None:
    estimate = relative_lift(Arm.from_successes(100, 49), Arm.from_successes(100, 51))
    assert estimate is not None
    assert (estimate.lift, estimate.standard_error) == (near(0.04082), near(0.14725))
    assert chance_to_win(estimate, higher_is_better=True) == near(0.60918)
    assert chance_to_win(estimate, higher_is_better=False) == near(1 - 0.60918)


def test_a_sample_ratio_mismatch_is_found() -> None:
    found = sample_ratio_p_value([821588, 815482], [0.5, 0.5])
    assert found == pytest.approx(1.8218e-06, rel=1e-3)


def test_the_sample_ratio_of_an_even_split_is_fine() -> None:
    found = sample_ratio_p_value([5003, 4997], [50, 50])
    assert found is not None
    assert found > 0.9


@pytest.mark.parametrize(("counts", "weights"), [([0, 0], [1, 1]), ([5], [1]), ([5, 0], [1, 0])])
def test_a_ratio_of_nothing_has_no_p_value(counts: list[int], weights: list[float]) -> None:
    assert sample_ratio_p_value(counts, weights) is None


def test_cuped_theta_matches_the_vector() -> None:
    before, after = [0.3, 0.5, 0.9, 22.0], [2.0, 1.0, 5.0, 3.0]
    mean_before, mean_after = sum(before) / 4, sum(after) / 4
    covariance = sum(
        (b - mean_before) * (a - mean_after) for b, a in zip(before, after, strict=True)
    )
    variance = sum((b - mean_before) ** 2 for b in before)
    assert cuped_theta([covariance / 3] * 2, [variance / 3] * 2) == near(0.01864)
    assert cuped_theta([0.0], [0.0]) == 0


def test_holm_raises_p_values_in_their_order() -> None:
    assert holm([0.01, 0.04, 0.03]) == [0.03, pytest.approx(0.06), pytest.approx(0.06)]
    assert holm([0.9, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


def test_a_ratio_metric_has_the_variance_of_the_delta_method() -> None:
    tops, bottoms = [1.0, 2.0, 0.0, 4.0], [2.0, 3.0, 1.0, 5.0]
    sums = RatioSums(
        numerator=sum(tops),
        denominator=sum(bottoms),
        numerator_squares=sum(t * t for t in tops),
        denominator_squares=sum(b * b for b in bottoms),
        products=sum(t * b for t, b in zip(tops, bottoms, strict=True)),
    )
    arm = Arm.from_ratio(4, sums)
    ratio, bottom_mean = 7 / 11, 11 / 4
    residuals = [t - ratio * b for t, b in zip(tops, bottoms, strict=True)]
    expected = sum(r * r for r in residuals) / 3 / bottom_mean**2
    assert arm.mean == pytest.approx(ratio)
    assert arm.variance == pytest.approx(expected)


def test_a_ratio_of_one_unit_per_row_is_its_mean() -> None:
    sums = RatioSums(30, 100, 30, 100, 30)
    arm = Arm.from_ratio(100, sums)
    assert arm.mean == pytest.approx(0.3)
    assert arm.variance == pytest.approx(0.3 * 0.7 * 100 / 99)


@pytest.mark.parametrize(
    ("control", "variant"),
    [
        (Arm.from_sums(0, 0, 0), Arm.from_sums(10, 5, 5)),
        (Arm.from_sums(1, 3, 9), Arm.from_sums(10, 5, 5)),
        (Arm.from_sums(10, 0, 0), Arm.from_sums(10, 5, 5)),
        (Arm.from_sums(10, 10, 10), Arm.from_sums(10, 10, 10)),
        (Arm.from_ratio(1, RatioSums(1, 1, 1, 1, 1)), Arm.from_sums(10, 5, 5)),
        (Arm.from_ratio(5, RatioSums(0, 0, 0, 0, 0)), Arm.from_sums(10, 5, 5)),
    ],
)
def test_degenerate_arms_have_no_lift(control: Arm, variant: Arm) -> None:
    assert relative_lift(control, variant) is None


def test_a_negative_baseline_still_has_a_sign() -> None:
    estimate = relative_lift(Arm(100, -2.0, 1.0), Arm(100, -1.0, 1.0))
    assert estimate is not None
    assert estimate.lift == pytest.approx(0.5)


def test_the_number_of_units_grows_with_the_square_of_precision() -> None:
    control = Arm.from_successes(1000, 500)
    ten, five = units_to_detect(control, 0.1), units_to_detect(control, 0.05)
    assert ten is not None
    assert five is not None
    assert five == pytest.approx(4 * ten, rel=0.01)
    assert ten == pytest.approx(3140, rel=0.01)


@pytest.mark.parametrize("control", [Arm(10, 0.0, 1.0), Arm(10, 1.0, 0.0)])
def test_no_number_of_units_is_promised_without_a_baseline(control: Arm) -> None:
    assert units_to_detect(control, 0.1) is None


def test_nothing_is_ever_not_a_number() -> None:
    estimate = relative_lift(Arm(2, 1e-300, 1e-300), Arm(2, 1e-300, 1e-300))
    values = [] if estimate is None else [estimate.lift, sequential_p_value(estimate, 4)]
    assert all(math.isfinite(value) for value in values)
