"""Compares two arms of an experiment: lift, confidence interval and p-value.

docs/experiments.md has the formulas, their references and a simulation. Functions return None where
the data allows no answer.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

ALPHA = 0.05
SRM_ALPHA = 0.001
# The number of units at which the sequential interval is tightest.
SEQUENTIAL_TUNING = 5000
# Prior weight of the planned split, in units; tuned to detect 52:48 within 20,000 units.
SRM_CONCENTRATION = 500.0
# A standard deviation below this share of the value is a rounding error.
ROUNDING = 1e-12
# The variance of smaller values is not representable: it is 0, as if they were all the same.
_SMALLEST_VALUE = 1e-150


@dataclass(frozen=True)
class Arm:
    """A metric of one variant: number of units, their mean and variance.

    `event_size` is the size of one rare event, such as a rare success or a huge cost: the third
    central moment divided by the variance. It is near 0 for symmetric distributions.
    """

    units: int
    mean: float
    variance: float
    event_size: float = 0.0

    @property
    def error_squared(self) -> float:
        """The squared standard error of the mean."""
        return self.variance / self.units


@dataclass(frozen=True)
class Interval:
    lower: float
    upper: float


@dataclass(frozen=True)
class Estimate:
    """How a variant differs from the control. The arms are rescaled to avoid overflow.

    An arm may have seen fewer rare events than expected, which its variance does not show:
    `event_size` is their size, pooled over both arms. Times `scale`, a value is as it was given.
    """

    control: Arm
    variant: Arm
    event_size: float
    scale: float = 1.0

    @property
    def units(self) -> int:
        return self.control.units + self.variant.units

    @property
    def difference(self) -> float:
        return self.variant.mean - self.control.mean

    @property
    def lift(self) -> float | None:
        """The difference relative to the control's mean; None when that is zero."""
        if self.control.mean == 0:
            return None
        lift = self.difference / abs(self.control.mean)
        return lift if math.isfinite(lift) else None

    def widths_squared(self, critical: float) -> tuple[float, float]:
        """Return the squared half widths of the intervals of both means."""
        control, variant = (
            critical * (arm.error_squared + critical * _missed_events(self.event_size, arm))
            for arm in (self.control, self.variant)
        )
        return control, variant

    def score_squared(self, difference: float | None = None, growth: float = 1.0) -> float:
        """Return the squared z-score of the difference.

        With `difference` and `growth`: the score that a difference would have with more units.
        """
        gap = self.difference if difference is None else difference
        error = (self.control.error_squared + self.variant.error_squared) / growth
        missed = (
            _missed_events(self.event_size, self.control)
            + _missed_events(self.event_size, self.variant)
        ) / growth**2
        root = error + math.sqrt(error**2 + 4 * missed * gap**2)
        # Missed events count more in wider intervals; this solves gap² = s(error + s·missed).
        return 2 * gap**2 / root if root else 0.0


def estimate(control: Arm, variant: Arm) -> Estimate | None:
    """Compare two arms; None without at least two units in each, or without any variance."""
    if min(control.units, variant.units) < 2:  # noqa: PLR2004 -- one unit has no variance
        return None
    scale = max(
        abs(control.mean),
        abs(variant.mean),
        math.sqrt(control.variance),
        math.sqrt(variant.variance),
    )
    if scale < _SMALLEST_VALUE or not math.isfinite(scale):
        return None
    control, variant = _rescale(control, scale), _rescale(variant, scale)
    gap = abs(variant.mean - control.mean)
    spread = control.units * control.variance + variant.units * variant.variance
    if spread == 0 and gap < ROUNDING:
        return None
    events = sum(arm.units * arm.variance * arm.event_size for arm in (control, variant))
    return Estimate(control, variant, max(gap, events / spread if spread else 0.0), scale)


def lift_interval(found: Estimate, alpha: float = ALPHA) -> Interval | None:
    """Return the interval of the lift, valid at every look; None when it is unbounded."""
    return fieller_interval(found, critical_score_squared(found.units, alpha))


def fieller_interval(found: Estimate, critical: float) -> Interval | None:
    """Return the interval of the lift for a critical squared score; None when it is unbounded.

    A lift is excluded when the control scaled by it differs significantly (Fieller).
    """
    control, variant = found.control, found.variant
    control_width, variant_width = found.widths_squared(critical)
    base = control.mean**2 - control_width
    if base <= 0:
        return None
    # Written so that nothing cancels out where the means are large beside their difference.
    middle = control.mean * found.difference + control_width
    root = math.sqrt(variant_width * base + control_width * variant.mean**2)
    # With a negative control, a larger ratio is a decrease.
    sign = 1 if control.mean > 0 else -1
    lower, upper = sorted(sign * side / base for side in (middle - root, middle + root))
    return Interval(lower, upper) if math.isfinite(upper - lower) else None


def difference_interval(found: Estimate, critical: float) -> Interval | None:
    """Return the interval of the difference for a critical squared score."""
    middle = found.difference * found.scale
    width = math.sqrt(sum(found.widths_squared(critical))) * found.scale
    return Interval(middle - width, middle + width) if math.isfinite(width) else None


def mean_interval(arm: Arm, alpha: float = ALPHA) -> Interval | None:
    """Return the interval of a mean, valid at every look; None without a variance."""
    if arm.units < 2 or arm.variance == 0:  # noqa: PLR2004 -- one unit has no variance
        return None
    return score_interval(arm, critical_score_squared(arm.units, alpha))


def score_interval(arm: Arm, critical: float) -> Interval | None:
    """Return the interval of a mean for a critical squared score."""
    error = arm.error_squared + critical * _missed_events(arm.event_size, arm)
    width = math.sqrt(critical * error)
    return Interval(arm.mean - width, arm.mean + width) if math.isfinite(width) else None


def critical_score_squared(
    units: int, alpha: float = ALPHA, tuning: int = SEQUENTIAL_TUNING
) -> float:
    """Return the squared score that is significant at this look (confidence sequence)."""
    weight = units * _rho_squared(alpha, tuning)
    return 2 * (weight + 1) / weight * math.log(math.sqrt(weight + 1) / alpha)


def sequential_p_value(
    score_squared: float, units: int, alpha: float = ALPHA, tuning: int = SEQUENTIAL_TUNING
) -> float:
    """Return a p-value that is valid at every look, however many there are."""
    weight = units * _rho_squared(alpha, tuning)
    exponent = -weight * score_squared / (2 * (weight + 1))
    return min(1.0, math.sqrt(weight + 1) * math.exp(exponent))


def units_until_significant(found: Estimate, lift: float, alpha: float = ALPHA) -> int | None:
    """Return how many units make this lift significant; None when too many would be needed."""
    gap = abs(lift * found.control.mean)
    if gap == 0:
        return None
    wanted = found.units
    for _ in range(60):
        score = found.score_squared(gap, wanted / found.units)
        if sequential_p_value(score, wanted, alpha) <= alpha:
            return wanted
        wanted = math.ceil(wanted * 1.25)
    return None


def chance_to_win(found: Estimate, *, higher_is_better: bool) -> float:
    """Return the Bayesian probability, with a flat prior, that the variant is better."""
    score = math.copysign(math.sqrt(found.score_squared()), found.difference)
    return normal_cdf(score if higher_is_better else -score)


def normal_cdf(score: float) -> float:
    """Return the standard normal distribution function.

    `erfc` keeps the relative error of the lower tail below 1e-12, where `1 + erf` would cancel.
    """
    return 0.5 * math.erfc(-score / math.sqrt(2))


def sample_ratio_p_value(counts: Sequence[int], weights: Sequence[float]) -> float | None:
    """Return the anytime-valid p-value of the split between the variants.

    It is the inverse of a Bayes factor: the counts under shares from a Dirichlet distribution
    around the planned ones, against the planned shares.
    """
    all_weights = sum(weights)
    shares = [weight / all_weights for weight in weights]
    kept = [(count, share) for count, share in zip(counts, shares, strict=True) if share > 0]
    total = sum(count for count, _ in kept)
    if total == 0 or len(kept) < 2:  # noqa: PLR2004 -- one variant has no ratio
        return None
    evidence = math.lgamma(SRM_CONCENTRATION) - math.lgamma(SRM_CONCENTRATION + total)
    for count, share in kept:
        prior = SRM_CONCENTRATION * share
        evidence += math.lgamma(prior + count) - math.lgamma(prior) - count * math.log(share)
    return math.exp(min(0.0, -evidence))


def adjust_p_values(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for multiple comparisons (Holm)."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, p_values[index] * (len(p_values) - rank)))
        adjusted[index] = highest
    return adjusted


def cuped_theta(covariances: Sequence[float], variances: Sequence[float]) -> float:
    """Return the CUPED coefficient, pooled over arms; 0 when the covariate is constant."""
    total = sum(variances)
    return sum(covariances) / total if total > 0 else 0.0


def _missed_events(event_size: float, arm: Arm) -> float:
    """Return the term that turns the Wald interval into Wilson's, for events of any size."""
    per_unit = event_size / arm.units
    return per_unit * per_unit / 4


def _rescale(arm: Arm, scale: float) -> Arm:
    # No value of n units is further from the mean than sqrt(n) standard deviations.
    event_size = min(abs(arm.event_size), math.sqrt(arm.units * arm.variance))
    return Arm(arm.units, arm.mean / scale, arm.variance / scale / scale, event_size / scale)


def _rho_squared(alpha: float, tuning: int) -> float:
    log_alpha = -2 * math.log(alpha)
    return (log_alpha + math.log(log_alpha + 1)) / tuning
