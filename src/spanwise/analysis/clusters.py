"""Metrics of units that each have several outcomes: sums in, arms out.

A metric is the mean over outcomes, such as the share of traces that succeed. Outcomes of one unit
are alike, so units and not outcomes are what is counted: the metric is a ratio of two sums per unit
(values by outcomes), and its variance is that of the delta method. Where units had outcomes before
they were first assigned, CUPED takes out what was to be expected of them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from spanwise.analysis.comparison import Arm, RatioSums, cuped_theta
from spanwise.model.outcomes import QUANTILE, QUANTILE_LEVELS, ClusterSums

MIN_HISTORY = 100


@dataclass(frozen=True)
class Adjustment:
    """What CUPED takes out: theta times how far a unit's past was from the common one."""

    theta: float
    past_ratio: float
    past_outcomes: float
    units_with_history: int


def find_adjustment(variants: Sequence[ClusterSums]) -> Adjustment | None:
    """Return how to use the units' past; None when too few have one, or it tells nothing."""
    total = sum(variants, ClusterSums())
    if total.history < MIN_HISTORY or total.e == 0 or total.d == 0:
        return None
    past = Adjustment(0.0, total.x / total.e, total.e / total.units, total.history)
    known = [sums for sums in variants if sums.units > 1 and sums.d > 0]
    moments = [_moments(sums, past) for sums in known]
    theta = cuped_theta([covariance for covariance, _, _ in moments], [v for _, v, _ in moments])
    if theta == 0 or not math.isfinite(theta):
        return None
    return Adjustment(theta, past.past_ratio, past.past_outcomes, total.history)


def to_arm(sums: ClusterSums, adjustment: Adjustment | None = None) -> Arm:
    if sums.units == 1 and sums.d > 0:
        return Arm(1, sums.y / sums.d, 0.0)
    plain = Arm.from_ratio(sums.units, RatioSums(sums.y, sums.d, sums.yy, sums.dd, sums.yd))
    if adjustment is None or plain.units == 0:
        return plain
    covariance, variance, mean = _moments(sums, adjustment)
    theta = adjustment.theta
    spread = plain.variance - 2 * theta * covariance + theta**2 * variance
    return Arm(plain.units, plain.mean - theta * mean, max(spread, 0.0))


def _moments(sums: ClusterSums, past: Adjustment) -> tuple[float, float, float]:
    """Covariance of present and past, variance of the past, mean of the past; linearised."""
    n, ratio, before = sums.units, sums.y / sums.d, past.past_ratio
    scale = sums.d / n * past.past_outcomes

    def covariance(products: float, first: float, second: float) -> float:
        return (products - first * second / n) / (n - 1)

    together = (
        covariance(sums.yx, sums.y, sums.x)
        - before * covariance(sums.ye, sums.y, sums.e)
        - ratio * covariance(sums.dx, sums.d, sums.x)
        + ratio * before * covariance(sums.de, sums.d, sums.e)
    )
    alone = (
        covariance(sums.xx, sums.x, sums.x)
        - 2 * before * covariance(sums.xe, sums.x, sums.e)
        + before**2 * covariance(sums.ee, sums.e, sums.e)
    )
    mean = (sums.x - before * sums.e) / n / past.past_outcomes
    return together / scale, alone / past.past_outcomes**2, mean


def to_quantile_arm(below: ClusterSums, quantiles: Sequence[float]) -> Arm:
    """The arm of a quantile of outcomes, clustered by unit.

    `below` counts the outcomes that are not above the quantile; its standard error, which knows of
    the clusters, is carried over to the quantile by the values at the levels on both sides.
    """
    share = to_arm(below)
    if share.units == 0:
        return share
    error = math.sqrt(share.variance / share.units)
    lower = _interpolate(quantiles, QUANTILE - error)
    upper = _interpolate(quantiles, QUANTILE + error)
    middle = quantiles[QUANTILE_LEVELS.index(QUANTILE)]
    return Arm(share.units, middle, ((upper - lower) / 2) ** 2 * share.units)


def _interpolate(quantiles: Sequence[float], level: float) -> float:
    known = list(zip(QUANTILE_LEVELS, quantiles, strict=True))
    for (low, low_value), (high, high_value) in pairwise(known):
        if level <= high:
            part = max(0.0, (level - low) / (high - low))
            return low_value + part * (high_value - low_value)
    return quantiles[-1]
