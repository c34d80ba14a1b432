"""Compares two groups of traces: differences with 95 % intervals, and verdicts.

docs/changes.md has the formulas and their references. Traces of the same session are correlated, so
sums are kept by cluster: a session belongs to one of CLUSTERS clusters, and the variance is that of
the sums of clusters.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from spanwise.analysis.comparison import (
    ALPHA,
    ROUNDING,
    Arm,
    Estimate,
    Interval,
    difference_interval,
    estimate,
    fieller_interval,
    normal_cdf,
    score_interval,
)
from spanwise.analysis.variant_statistics import to_arm
from spanwise.model.dashboards.changes import (
    CLUSTERS,
    MIN_OBSERVATIONS,
    Array,
    ChangeVerdict,
    Latencies,
    Powers,
    Preferred,
    Quantile,
)
from spanwise.model.experiments.sums import ClusterSums


@dataclass(frozen=True)
class Observed:
    """A measure of one side: sums of values and numbers of outcomes, by cluster."""

    values: Array
    outcomes: Array

    @property
    def observations(self) -> int:
        """The number of clusters with an outcome."""
        return int(np.count_nonzero(self.outcomes))

    def to_arm(self) -> Arm:
        """Return mean and variance of values per outcome."""
        known = self.outcomes > 0
        d, y = self.outcomes[known], self.values[known]
        if d.size == 0:
            return Arm(0, 0.0, 0.0)
        origin = float(y.sum() / d.sum())
        y = y - origin * d
        sums = ClusterSums(
            units=d.size,
            y=float(y.sum()),
            d=float(d.sum()),
            yy=float(y @ y),
            dd=float(d @ d),
            yd=float(y @ d),
            yyy=float(y * y @ y),
            yyd=float(y * y @ d),
            ydd=float(y * d @ d),
            ddd=float(d * d @ d),
        )
        return to_arm(sums, origin=origin)


@dataclass(frozen=True)
class Compared:
    baseline: float | None
    candidate: float | None
    interval: Interval | None
    relative_interval: Interval | None
    verdict: ChangeVerdict
    observations: tuple[int, int]

    @property
    def difference(self) -> float | None:
        if self.baseline is None or self.candidate is None:
            return None
        return self.candidate - self.baseline

    @property
    def relative_difference(self) -> float | None:
        if self.difference is None or not self.baseline:
            return None
        relative = self.difference / abs(self.baseline)
        return relative if math.isfinite(relative) else None


def critical_score_squared(alpha: float = ALPHA) -> float:
    """Return the squared score of the normal distribution that is significant at one look."""
    return NormalDist().inv_cdf(1 - alpha / 2) ** 2


def compare_arms(
    baseline: Arm,
    candidate: Arm,
    preferred: Preferred,
    *,
    observations: tuple[int, int],
    alpha: float = ALPHA,
) -> Compared:
    """Compare two means; `observations` are the independent ones of both sides."""
    critical = critical_score_squared(alpha)
    found = estimate(baseline, candidate) if min(observations) >= MIN_OBSERVATIONS else None
    interval = difference_interval(found, critical) if found else None
    return Compared(
        _mean(baseline),
        _mean(candidate),
        interval,
        fieller_interval(found, critical) if found else None,
        _decide(interval, preferred, observations),
        observations,
    )


def compare_quantiles(
    baseline: Quantile, candidate: Quantile, preferred: Preferred, *, observations: tuple[int, int]
) -> Compared:
    """Compare two quantiles by their intervals (MOVER, Zou and Donner 2008)."""
    interval = relative = None
    bounds = (baseline.lower, baseline.upper, candidate.lower, candidate.upper)
    is_bounded = all(bound is not None for bound in bounds)
    if min(observations) >= MIN_OBSERVATIONS and is_bounded:
        low, high, candidate_low, candidate_high = (bound or 0.0 for bound in bounds)
        down, up = baseline.value - low, high - baseline.value
        candidate_down, candidate_up = (
            candidate.value - candidate_low,
            candidate_high - candidate.value,
        )
        difference = candidate.value - baseline.value
        interval = Interval(
            difference - math.hypot(candidate_down, up), difference + math.hypot(candidate_up, down)
        )
        least = _ratio_bound(baseline.value, candidate.value, up, -candidate_down)
        most = _ratio_bound(baseline.value, candidate.value, down, candidate_up)
        if least is not None and most is not None:
            relative = Interval(least - 1, most - 1)
    verdict = _decide(interval, preferred, observations)
    if not is_bounded and verdict is ChangeVerdict.UNCLEAR:
        verdict = ChangeVerdict.TOO_FEW
    return Compared(baseline.value, candidate.value, interval, relative, verdict, observations)


def _ratio_bound(base: float, other: float, base_width: float, other_width: float) -> float | None:
    """Return a bound of other / base: the lower one if `other_width` is negative (Fieller)."""
    divisor = base**2 - base_width**2
    if divisor <= 0:
        return None
    root = math.sqrt(max((base * other) ** 2 - divisor * (other**2 - other_width**2), 0.0))
    return (base * other + math.copysign(root, other_width)) / divisor


def find_quantile(latencies: Latencies, level: float) -> Quantile:
    """Return a quantile and the values between which it lies."""
    value = float(np.quantile(latencies.values, level))
    below = np.bincount(latencies.clusters[latencies.values <= value], minlength=CLUSTERS)
    all_traces = np.bincount(latencies.clusters, minlength=CLUSTERS)
    observed = Observed(below.astype(np.float64), all_traces.astype(np.float64))
    lower, upper = quantile_levels(observed, level) or (-1.0, 2.0)
    return Quantile(
        value,
        float(np.quantile(latencies.values, lower)) if lower >= 0 else None,
        float(np.quantile(latencies.values, upper)) if upper <= 1 else None,
    )


def quantile_levels(below: Observed, level: float) -> tuple[float, float] | None:
    """Return the levels between which a quantile lies (Woodruff 1952), None with too few values.

    `below` counts the outcomes that are not above the quantile of the sample. A level outside of 0
    to 1 has no value.
    """
    arm = below.to_arm()
    if arm.units < MIN_OBSERVATIONS:
        return None
    if arm.variance == 0:
        # All values are equal.
        return level, level
    bounds = score_interval(arm, critical_score_squared())
    width = (bounds.upper - bounds.lower) / 2 if bounds else math.inf
    return level - width, level + width


def count_discoveries(p_values: Sequence[float], alpha: float = ALPHA) -> int:
    """Return how many p-values are significant (Benjamini and Hochberg 1995)."""
    ordered = sorted(p_values)
    passed = [n for n, p in enumerate(ordered, 1) if p <= alpha * n / len(ordered)]
    return passed[-1] if passed else 0


def p_value(found: Estimate) -> float:
    return 2 * normal_cdf(-math.sqrt(found.score_squared()))


def count_arm(counts: Array, days: float) -> Arm:
    """Return the arm of the number of outcomes per day.

    Sessions arrive independently and belong to a random cluster, so the counts of clusters, empty
    ones included, vary as much as the total does.
    """
    factor = CLUSTERS / days
    mean, variance = float(counts.mean()), float(counts.var(ddof=1))
    return Arm(CLUSTERS, mean * factor, variance * factor**2)


def design_effect(counts: Array) -> float:
    """Return the factor of the variance if all outcomes of a session were alike.

    It is the mean size of the session of an outcome: the variance of the number of outcomes divided
    by that number. Sessions that are alike in part have a smaller one.
    """
    total = float(counts.sum())
    return max(1.0, CLUSTERS * float(counts.var(ddof=1)) / total) if total else 1.0


def moments_arm(outcomes: int, powers: Powers, effect: float) -> Arm:
    """Return the arm of a mean from sums of powers of the values of all outcomes."""
    units = int(outcomes / effect)
    if units < MIN_OBSERVATIONS:
        return Arm(units, powers[0] / outcomes if outcomes else 0.0, 0.0)
    mean, square, cube = (power / outcomes for power in powers)
    variance = (square - mean * mean) * outcomes / (outcomes - 1)
    if not variance > ROUNDING * square:
        return Arm(units, mean, 0.0)
    third = cube - 3 * mean * square + 2 * mean**3
    return Arm(units, mean, variance, third / variance)


def share_arm(hits: int, outcomes: int, effect: float) -> Arm:
    return moments_arm(outcomes, (hits, hits, hits), effect)


def _mean(arm: Arm) -> float | None:
    return arm.mean if arm.units else None


def _decide(
    interval: Interval | None, preferred: Preferred, observations: tuple[int, int]
) -> ChangeVerdict:
    if min(observations) == 0:
        return ChangeVerdict.NO_DATA
    if min(observations) < MIN_OBSERVATIONS:
        return ChangeVerdict.TOO_FEW
    if interval is None or interval.lower <= 0 <= interval.upper:
        return ChangeVerdict.UNCLEAR
    # A difference of rounding errors is none.
    if max(abs(interval.lower), abs(interval.upper)) < ROUNDING:
        return ChangeVerdict.UNCLEAR
    rises = interval.lower > 0
    if preferred is Preferred.NEITHER:
        return ChangeVerdict.HIGHER if rises else ChangeVerdict.LOWER
    return ChangeVerdict.WORSE if rises else ChangeVerdict.BETTER
