"""Compares two arms of an experiment: lift, its interval, and how sure one can be.

Formulas and references are in docs/experiments.md. Where the data does not allow an answer there
is none: a function returns None rather than a number that means nothing.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

# Not scipy.stats: importing it takes a second, and these are all that is needed of it.
from scipy.special import chdtrc, ndtr, ndtri, stdtr, stdtrit

ALPHA = 0.05
SRM_ALPHA = 0.001
# The number of units at which the sequential interval is tightest.
SEQUENTIAL_TUNING = 5000


@dataclass(frozen=True)
class Arm:
    """A metric of one variant: how many units, their mean and the variance between them."""

    units: int
    mean: float
    variance: float

    @classmethod
    def from_sums(cls, units: int, total: float, total_of_squares: float) -> "Arm":
        if units == 0:
            return cls(0, 0.0, 0.0)
        mean = total / units
        if units == 1:
            return cls(1, mean, 0.0)
        variance = (total_of_squares - total * mean) / (units - 1)
        return cls(units, mean, max(variance, 0.0))

    @classmethod
    def from_successes(cls, units: int, successes: int) -> "Arm":
        rate = successes / units if units else 0.0
        return cls(units, rate, rate * (1 - rate))

    @classmethod
    def from_ratio(cls, units: int, sums: "RatioSums") -> "Arm":
        """The mean of a ratio of two sums per unit, its variance by the delta method."""
        if units < 2 or sums.denominator == 0:  # noqa: PLR2004 -- no variance of one
            return cls(0, 0.0, 0.0)
        top, bottom = sums.numerator / units, sums.denominator / units
        ratio = top / bottom
        spread = (
            _covariance(units, sums.numerator_squares, sums.numerator, sums.numerator)
            - 2 * ratio * _covariance(units, sums.products, sums.numerator, sums.denominator)
            + ratio**2
            * _covariance(units, sums.denominator_squares, sums.denominator, sums.denominator)
        )
        return cls(units, ratio, max(spread, 0.0) / bottom**2)


@dataclass(frozen=True)
class RatioSums:
    """Sums over units of a metric that is a ratio, such as successes by traces."""

    numerator: float
    denominator: float
    numerator_squares: float
    denominator_squares: float
    products: float


@dataclass(frozen=True)
class Estimate:
    """A relative lift against the control, with its standard error."""

    lift: float
    standard_error: float
    degrees_of_freedom: float


@dataclass(frozen=True)
class Interval:
    lower: float
    upper: float


def relative_lift(control: Arm, variant: Arm) -> Estimate | None:
    """Return the lift of the mean relative to the control's; None when it cannot be told."""
    if min(control.units, variant.units) < 2 or control.mean**4 == 0:  # noqa: PLR2004
        return None
    per_control, per_variant = control.variance / control.units, variant.variance / variant.units
    if per_control + per_variant == 0:
        return None
    error = math.sqrt(
        per_variant / control.mean**2 + per_control * variant.mean**2 / control.mean**4
    )
    freedom = (per_control + per_variant) ** 2 / (
        per_control**2 / (control.units - 1) + per_variant**2 / (variant.units - 1)
    )
    return Estimate((variant.mean - control.mean) / abs(control.mean), error, freedom)


def fixed_interval(estimate: Estimate, alpha: float = ALPHA) -> Interval:
    """The interval that is valid at one look, planned beforehand (Welch)."""
    width = estimate.standard_error * float(stdtrit(estimate.degrees_of_freedom, 1 - alpha / 2))
    return Interval(estimate.lift - width, estimate.lift + width)


def fixed_p_value(estimate: Estimate) -> float:
    score = abs(estimate.lift / estimate.standard_error)
    return 2 * float(stdtr(estimate.degrees_of_freedom, -score))


def sequential_interval(
    estimate: Estimate, units: int, alpha: float = ALPHA, tuning: int = SEQUENTIAL_TUNING
) -> Interval:
    """The interval that is valid at every look (asymptotic confidence sequence)."""
    rho = _rho(alpha, tuning)
    spread = units * rho**2 + 1
    width = (
        estimate.standard_error
        * math.sqrt(units)
        * math.sqrt(2 * spread / (units * rho) ** 2 * math.log(math.sqrt(spread) / alpha))
    )
    return Interval(estimate.lift - width, estimate.lift + width)


def sequential_p_value(
    estimate: Estimate, units: int, alpha: float = ALPHA, tuning: int = SEQUENTIAL_TUNING
) -> float:
    """The p-value that stays honest however often it is looked at."""
    rho = _rho(alpha, tuning)
    spread = units * rho**2 + 1
    score = estimate.lift / estimate.standard_error
    exponent = -(rho**2) * units * score**2 / (2 * spread)
    return min(1.0, math.sqrt(spread) * math.exp(exponent))


def units_until_found(
    estimate: Estimate, units: int, lift: float, alpha: float = ALPHA
) -> int | None:
    """How many units in all it takes until the sequential interval of such a lift excludes zero.

    The standard error is taken to shrink with the root of the number of units, as it does.
    """
    if lift == 0 or units == 0:
        return None
    wanted = units
    for _ in range(60):
        error = estimate.standard_error * math.sqrt(units / wanted)
        grown = Estimate(abs(lift), error, estimate.degrees_of_freedom)
        if sequential_p_value(grown, wanted, alpha) <= alpha:
            return wanted
        wanted = math.ceil(wanted * 1.25)
    return None


def chance_to_win(estimate: Estimate, *, higher_is_better: bool) -> float:
    """The Bayesian chance, with a flat prior, that the variant is better than the control."""
    chance = float(ndtr(estimate.lift / estimate.standard_error))
    return chance if higher_is_better else 1 - chance


def sample_ratio_p_value(counts: Sequence[int], weights: Sequence[float]) -> float | None:
    """How likely the split is if assignment works; below 0.001 something is broken."""
    kept = [(count, weight) for count, weight in zip(counts, weights, strict=True) if weight > 0]
    total, weight_sum = sum(count for count, _ in kept), sum(weight for _, weight in kept)
    if total == 0 or len(kept) < 2:  # noqa: PLR2004 -- one arm has no ratio
        return None
    squares = sum(
        (count - total * weight / weight_sum) ** 2 / (total * weight / weight_sum)
        for count, weight in kept
    )
    return float(chdtrc(len(kept) - 1, squares))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for having asked several questions (Holm)."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, p_values[index] * (len(p_values) - rank)))
        adjusted[index] = highest
    return adjusted


def cuped_theta(covariances: Sequence[float], variances: Sequence[float]) -> float:
    """How much of the earlier behaviour to take out of the later one; 0 when there was none."""
    total = sum(variances)
    return sum(covariances) / total if total > 0 else 0.0


def units_to_detect(
    control: Arm, lift: float, alpha: float = ALPHA, power: float = 0.8
) -> int | None:
    """How many units two equal arms need in all to find a relative lift; None if unknowable."""
    if control.mean == 0 or control.variance == 0 or lift == 0:
        return None
    reach = float(ndtri(1 - alpha / 2) + ndtri(power))
    per_arm = 2 * control.variance * (reach / (lift * control.mean)) ** 2
    return math.ceil(2 * per_arm)


def _rho(alpha: float, tuning: int) -> float:
    log_alpha = -2 * math.log(alpha)
    return math.sqrt((log_alpha + math.log(log_alpha + 1)) / tuning)


def _covariance(units: int, products: float, first: float, second: float) -> float:
    return (products - first * second / units) / (units - 1)
