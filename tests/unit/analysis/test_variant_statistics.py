"""Clustered metrics, compared with the same figures computed from every unit."""

import math

import numpy as np
import pytest

from spanwise.analysis.comparison import Arm, estimate
from spanwise.analysis.variant_statistics import find_adjustment, to_arm, to_quantile_arm
from spanwise.model.experiments.sums import QUANTILE_LEVELS, ClusterSums


def sums_of(
    y: np.ndarray, d: np.ndarray, x: np.ndarray | None = None, e: np.ndarray | None = None
) -> ClusterSums:
    x = np.zeros(len(y)) if x is None else x
    e = np.zeros(len(y)) if e is None else e
    return ClusterSums(
        units=len(y),
        history=int((e > 0).sum()),
        y=float(y.sum()),
        d=float(d.sum()),
        yy=float(y @ y),
        dd=float(d @ d),
        yd=float(y @ d),
        x=float(x.sum()),
        e=float(e.sum()),
        xx=float(x @ x),
        ee=float(e @ e),
        xe=float(x @ e),
        yx=float(y @ x),
        ye=float(y @ e),
        dx=float(d @ x),
        de=float(d @ e),
        yyy=float((y * y) @ y),
        yyd=float((y * y) @ d),
        ydd=float((y * d) @ d),
        ddd=float((d * d) @ d),
    )


def draw_units(
    rng: np.random.Generator, n: int, lift: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Draw units whose level differs and is the same before and after assignment."""
    level = rng.gamma(4, 25, n)
    before, after = rng.poisson(3, n).astype(float), 1.0 + rng.poisson(2, n)
    y = after * level * (1 + lift) + rng.normal(0, 10, n) * np.sqrt(after)
    x = before * level + rng.normal(0, 10, n) * np.sqrt(before)
    return y, after, x, before


def test_sums_can_be_added() -> None:
    rng = np.random.default_rng(1)
    parts = draw_units(rng, 50)
    whole = sums_of(*parts)
    halves = sums_of(*(p[:20] for p in parts)) + sums_of(*(p[20:] for p in parts))
    assert halves.units == 50
    assert halves.yx == pytest.approx(whole.yx)


def test_the_mean_is_over_outcomes_and_the_variance_over_units() -> None:
    rng = np.random.default_rng(2)
    y, d, _, _ = draw_units(rng, 400)
    arm = to_arm(sums_of(y, d))
    residuals = (y - y.sum() / d.sum() * d) / d.mean()
    assert arm.mean == pytest.approx(y.sum() / d.sum())
    assert arm.variance == pytest.approx(residuals.var(ddof=1))


def test_cuped_matches_a_regression_on_the_past() -> None:
    rng = np.random.default_rng(3)
    arms = [draw_units(rng, 3000), draw_units(rng, 3000, lift=0.1)]
    totals = [sums_of(*arm) for arm in arms]
    adjustment = find_adjustment(totals)
    assert adjustment is not None
    past = sum(x.sum() for _, _, x, _ in arms) / sum(e.sum() for _, _, _, e in arms)
    scale = sum(e.sum() for _, _, _, e in arms) / 6000
    lines = []
    for y, d, x, e in arms:
        lines.append(((y - y.sum() / d.sum() * d) / d.mean(), (x - past * e) / scale))
    theta = sum(np.cov(a, b)[0, 1] for a, b in lines) / sum(b.var(ddof=1) for _, b in lines)
    assert adjustment.theta == pytest.approx(theta)
    for total, (present, earlier), (y, d, _, _) in zip(totals, lines, arms, strict=True):
        arm = to_arm(total, adjustment)
        assert arm.mean == pytest.approx(y.sum() / d.sum() - theta * earlier.mean())
        assert arm.variance == pytest.approx((present - theta * earlier).var(ddof=1))


def test_cuped_reduces_variance_and_keeps_the_lift() -> None:
    rng = np.random.default_rng(4)
    totals = [sums_of(*draw_units(rng, 5000)), sums_of(*draw_units(rng, 5000, lift=0.1))]
    adjustment = find_adjustment(totals)
    plain, adjusted = ([to_arm(total, a) for total in totals] for a in (None, adjustment))

    def error(arms: list[Arm]) -> float:
        return math.sqrt(sum(arm.error_squared for arm in arms)) / arms[0].mean

    found = estimate(*adjusted)
    assert found is not None
    assert error(adjusted) < 0.8 * error(plain)
    assert found.lift == pytest.approx(0.1, abs=4 * error(adjusted))


def test_without_history_there_is_no_adjustment() -> None:
    rng = np.random.default_rng(5)
    y, d, x, e = draw_units(rng, 1000)
    assert find_adjustment([sums_of(y, d), sums_of(y, d)]) is None
    few = np.where(np.arange(1000) < 40, 1.0, 0.0)
    assert find_adjustment([sums_of(y, d, x * few, e * few)] * 2) is None
    assert find_adjustment([ClusterSums(), ClusterSums()]) is None


def test_the_standard_error_of_a_quantile_is_clustered_by_unit() -> None:
    """The standard error of the 95th percentile, against the spread over many samples."""
    rng = np.random.default_rng(6)
    found, errors = [], []
    for _ in range(300):
        level = rng.lognormal(0, 0.5, 400)
        values = np.repeat(level, 5) * rng.lognormal(0, 0.3, 2000)
        quantiles = np.quantile(values, QUANTILE_LEVELS)
        cut = quantiles[QUANTILE_LEVELS.index(0.95)]
        below = (values <= cut).reshape(400, 5).sum(axis=1).astype(float)
        arm = to_quantile_arm(sums_of(below, np.full(400, 5.0)), list(quantiles))
        found.append(arm.mean)
        errors.append(math.sqrt(arm.variance / arm.units))
    assert np.mean(errors) == pytest.approx(np.std(found), rel=0.2)


def test_degenerate_sums_have_no_arm() -> None:
    assert to_arm(ClusterSums()).units == 0
    assert to_arm(ClusterSums(units=5)).units == 0
    one = to_arm(ClusterSums(units=1, y=3, d=4, yy=9, dd=16, yd=12))
    assert (one.units, one.mean, one.variance) == (1, 0.75, 0)
    assert estimate(one, one) is None
    assert to_quantile_arm(ClusterSums(), [1.0] * len(QUANTILE_LEVELS)).units == 0


def test_the_event_size_is_the_third_moment_divided_by_the_variance() -> None:
    rng = np.random.default_rng(7)
    y, d, _, _ = draw_units(rng, 400)
    residuals = (y - y.sum() / d.sum() * d) / d.mean()
    expected = (residuals**3).mean() / residuals.var(ddof=1)
    assert to_arm(sums_of(y, d)).event_size == pytest.approx(expected)
    rare = np.zeros(10_000)
    rare[:10] = 1
    assert to_arm(sums_of(rare, np.ones(10_000))).event_size == pytest.approx(1, abs=0.01)


def test_large_values_with_a_small_spread_keep_their_variance() -> None:
    """Sums hold distances from the mean, because squares of the values would lose the variance."""
    rng = np.random.default_rng(8)
    d = 1.0 + rng.poisson(2, 500)
    off = rng.normal(0, 1, 500) * d
    arm = to_arm(sums_of(off, d), origin=1e9)
    residuals = (off - off.sum() / d.sum() * d) / d.mean()
    assert arm.mean == pytest.approx(1e9)
    assert arm.variance == pytest.approx(residuals.var(ddof=1))


def test_a_spread_within_rounding_is_zero() -> None:
    arm = to_arm(sums_of(np.array([1e-16, -1e-16, 0.0]), np.ones(3)), origin=0.1)
    assert (arm.mean, arm.variance) == (0.1, 0)
    zeros = to_arm(sums_of(np.array([-0.1 + 1e-17, -0.1, -0.1]), np.ones(3)), origin=0.1)
    assert (zeros.mean, zeros.variance) == (0, 0)
    d = 1.0 + np.random.default_rng(9).poisson(3, 999)
    broken = to_arm(sums_of(-0.47321 * d, d), origin=0.47321)
    assert (broken.mean, broken.variance) == (0, 0)
