"""Computes the mean and variance of a metric per variant, clustered by unit.

A metric is a mean over outcomes, such as the success rate of traces. Outcomes of one unit are
correlated, so the metric is treated as a ratio of two sums per unit (values, outcomes), and the
delta method gives its variance. CUPED reduces the variance with the outcomes that units had
before their first assignment.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from spanwise.analysis.comparison import ROUNDING, Arm, cuped_theta
from spanwise.model.experiments.sums import QUANTILE, QUANTILE_LEVELS, ClusterSums

MIN_HISTORY = 100
# A variance below this share of the squares it is computed from is a rounding error.
SQUARES_ROUNDING = 1e-13


@dataclass(frozen=True)
class Adjustment:
    """The CUPED adjustment: theta times the deviation of a unit's past from the common ratio."""

    theta: float
    past_ratio: float
    past_outcomes: float
    units_with_history: int


def find_adjustment(variants: Sequence[ClusterSums]) -> Adjustment | None:
    """Return the CUPED adjustment; None with too little history or without correlation."""
    total = sum(variants, ClusterSums())
    if total.history < MIN_HISTORY or 0 in (total.units, total.e, total.d):
        return None
    past = Adjustment(0.0, total.x / total.e, total.e / total.units, total.history)
    known = [sums for sums in variants if sums.units > 1 and sums.d > 0]
    moments = [_moments(sums, past) for sums in known]
    theta = cuped_theta([covariance for covariance, _, _ in moments], [v for _, v, _ in moments])
    if theta == 0 or not math.isfinite(theta):
        return None
    return Adjustment(theta, past.past_ratio, past.past_outcomes, total.history)


def to_arm(sums: ClusterSums, adjustment: Adjustment | None = None, origin: float = 0.0) -> Arm:
    """Return the arm of a metric; the sums hold the distances of its values from `origin`."""
    n = sums.units
    if n == 0 or sums.d == 0:
        return _NO_ARM
    ratio, outcomes = sums.y / sums.d, sums.d / n
    if n == 1:
        return _discard_overflow(Arm(1, _add_origin(origin, ratio), 0.0))
    spread = (
        _covariance(n, sums.yy, sums.y, sums.y)
        - 2 * ratio * _covariance(n, sums.yd, sums.y, sums.d)
        + ratio * ratio * _covariance(n, sums.dd, sums.d, sums.d)
    )
    # The residuals y - ratio * d have a mean of zero, so this is their third central moment.
    third = (
        sums.yyy - 3 * ratio * (sums.yyd - ratio * sums.ydd) - ratio * ratio * ratio * sums.ddd
    ) / n
    variance, mean = spread / outcomes / outcomes, ratio
    # CUPED does not change the size of rare events: the past does not predict them.
    event_size = third / spread / outcomes if spread > 0 else 0.0
    if adjustment is not None:
        covariance, past_variance, past_mean = _moments(sums, adjustment)
        theta = adjustment.theta
        variance += theta * (theta * past_variance - 2 * covariance)
        mean -= theta * past_mean
    rounding = ROUNDING * (abs(origin) + abs(mean))
    # The precision of the variance is limited by the size of the squares.
    squares_rounding = SQUARES_ROUNDING * ratio * ratio * sums.dd / n / outcomes / outcomes
    if not variance > max(rounding * rounding, squares_rounding):
        return _discard_overflow(Arm(n, _add_origin(origin, mean), 0.0))
    return _discard_overflow(Arm(n, _add_origin(origin, mean), variance, event_size))


def _add_origin(origin: float, distance: float) -> float:
    """Return the mean from its distance to the origin; 0 when the two cancel up to rounding."""
    mean = origin + distance
    return mean if abs(mean) > ROUNDING * abs(origin) else 0.0


_NO_ARM = Arm(0, 0.0, 0.0)


def _discard_overflow(arm: Arm) -> Arm:
    """Return the arm, or an empty one if its sums overflowed."""
    is_finite = all(map(math.isfinite, (arm.mean, arm.variance, arm.event_size)))
    return arm if is_finite else _NO_ARM


def _moments(sums: ClusterSums, past: Adjustment) -> tuple[float, float, float]:
    """Return the covariance of present and past, and variance and mean of the past, linearized."""
    n, ratio, before = sums.units, sums.y / sums.d, past.past_ratio
    scale = sums.d / n * past.past_outcomes
    covariance = (
        _covariance(n, sums.yx, sums.y, sums.x)
        - before * _covariance(n, sums.ye, sums.y, sums.e)
        - ratio * _covariance(n, sums.dx, sums.d, sums.x)
        + ratio * before * _covariance(n, sums.de, sums.d, sums.e)
    )
    variance = (
        _covariance(n, sums.xx, sums.x, sums.x)
        - 2 * before * _covariance(n, sums.xe, sums.x, sums.e)
        + before * before * _covariance(n, sums.ee, sums.e, sums.e)
    )
    mean = (sums.x - before * sums.e) / n / past.past_outcomes
    return covariance / scale, variance / past.past_outcomes / past.past_outcomes, mean


def _covariance(units: int, products: float, first: float, second: float) -> float:
    return (products - first * second / units) / (units - 1)


def to_quantile_arm(below: ClusterSums, quantiles: Sequence[float]) -> Arm:
    """Return the arm of a quantile of outcomes, clustered by unit.

    `below` counts the outcomes that are not above the quantile. Its clustered standard error is
    mapped to the quantile with the slope between the quantiles on both sides.
    """
    share = to_arm(below)
    if share.units == 0:
        return share
    error = math.sqrt(share.variance / share.units)
    lower = _interpolate(quantiles, QUANTILE - error)
    upper = _interpolate(quantiles, QUANTILE + error)
    middle = quantiles[QUANTILE_LEVELS.index(QUANTILE)]
    slope = (upper - lower) / 2 / error if error else 0.0
    variance = share.variance * slope * slope
    return _discard_overflow(Arm(share.units, middle, variance, share.event_size * slope))


def _interpolate(quantiles: Sequence[float], level: float) -> float:
    known = list(zip(QUANTILE_LEVELS, quantiles, strict=True))
    for (low, low_value), (high, high_value) in pairwise(known):
        if level <= high:
            part = max(0.0, (level - low) / (high - low))
            return low_value + part * (high_value - low_value)
    return quantiles[-1]
