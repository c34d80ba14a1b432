"""From sums over units to what a person is told about a metric of each variant."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from spanwise.analysis.clusters import Adjustment, find_adjustment, to_arm
from spanwise.analysis.comparison import (
    ALPHA,
    SRM_ALPHA,
    Arm,
    Estimate,
    Interval,
    chance_to_win,
    holm,
    relative_lift,
    sample_ratio_p_value,
    sequential_interval,
    sequential_p_value,
)
from spanwise.model.experiment_results import (
    Bounds,
    Cuped,
    MetricResult,
    SampleRatio,
    TrendPoint,
    VariantPoint,
    VariantResult,
    VariantUnits,
)
from spanwise.model.experiments import Direction, Metric, TraceMetric, Variant
from spanwise.model.outcomes import ClusterSums

# With fewer units in an arm the sums are not near enough to a normal distribution.
MIN_UNITS = 30
MIN_EXPECTED = 5
MAX_TREND_DAYS = 366

SumsByDay = Mapping[tuple[int, date], ClusterSums]


@dataclass(frozen=True)
class Measured:
    """A metric with the arm of each variant, in the experiment's order: the control first."""

    metric: Metric
    arms: Sequence[Arm]
    cuped: Cuped | None = None
    trend: Sequence[TrendPoint] = ()

    def estimates(self) -> list[Estimate | None]:
        """The lift of each variant; there is none of the control."""
        return [None, *(relative_lift(self.arms[0], arm) for arm in self.arms[1:])]


def measure(metric: Metric, variants: Sequence[Variant], sums: SumsByDay) -> Measured:
    totals = [
        sum((s for (place, _), s in sums.items() if place == wanted), ClusterSums())
        for wanted in range(len(variants))
    ]
    adjustment = find_adjustment(totals)
    arms = [to_arm(total, adjustment) for total in totals]
    cuped = None if adjustment is None else _describe_cuped(totals, arms, adjustment)
    return Measured(metric, arms, cuped, _trend(variants, sums, adjustment))


def _describe_cuped(
    totals: Sequence[ClusterSums], arms: Sequence[Arm], adjustment: Adjustment
) -> Cuped:
    before = sum(to_arm(total).variance for total in totals)
    after = sum(arm.variance for arm in arms)
    return Cuped(
        theta=adjustment.theta,
        variance_reduction=1 - after / before if before else 0.0,
        units_with_history=adjustment.units_with_history,
    )


def _trend(
    variants: Sequence[Variant], sums: SumsByDay, adjustment: Adjustment | None
) -> list[TrendPoint]:
    days = sorted({day for _, day in sums})
    running = [ClusterSums()] * len(variants)
    points = []
    for day in days:
        running = [
            total + sums.get((place, day), ClusterSums()) for place, total in enumerate(running)
        ]
        arms = [to_arm(total, adjustment) for total in running]
        points.append(
            TrendPoint(
                date=day.isoformat(),
                variants=[
                    _point(variant.key, arms[0], arm, is_control=place == 0)
                    for place, (variant, arm) in enumerate(zip(variants, arms, strict=True))
                ],
            )
        )
    return points[-MAX_TREND_DAYS:]


def _point(key: str, control: Arm, arm: Arm, *, is_control: bool) -> VariantPoint:
    estimate = None if is_control else relative_lift(control, arm)
    return VariantPoint(
        variant=key,
        units=arm.units,
        mean=arm.mean if arm.units else None,
        lift=None if estimate is None else estimate.lift,
        lift_ci=None
        if estimate is None
        else to_bounds(sequential_interval(estimate, control.units + arm.units)),
    )


def compare(measured: Sequence[Measured], variants: Sequence[Variant]) -> list[MetricResult]:
    """Compare every variant with the control, adjusted for all the questions asked at once."""
    estimates = [m.estimates() for m in measured]
    p_values = {
        (row, place): sequential_p_value(estimate, m.arms[0].units + m.arms[place].units)
        for row, m in enumerate(measured)
        for place, estimate in enumerate(estimates[row])
        if estimate is not None
    }
    adjusted = dict(zip(p_values, holm(list(p_values.values())), strict=True))
    return [
        MetricResult(
            key=m.metric.key,
            direction=m.metric.direction,
            primary=m.metric.primary,
            cuped=m.cuped,
            trend=list(m.trend),
            variants=[
                _result(
                    m,
                    place,
                    variant.key,
                    estimates[row][place],
                    p_values.get((row, place)),
                    adjusted.get((row, place)),
                )
                for place, variant in enumerate(variants)
            ],
        )
        for row, m in enumerate(measured)
    ]


def _result(
    measured: Measured,
    place: int,
    key: str,
    estimate: Estimate | None,
    p_value: float | None,
    adjusted: float | None,
) -> VariantResult:
    control, arm = measured.arms[0], measured.arms[place]
    enough = min(control.units, arm.units) >= MIN_UNITS
    more_is_better = measured.metric.direction is Direction.INCREASE
    return VariantResult(
        variant=key,
        units=arm.units,
        mean=arm.mean if arm.units else None,
        stddev=math.sqrt(arm.variance) if arm.units > 1 else None,
        ci=_mean_bounds(measured.metric, arm),
        lift=estimate.lift if estimate else None,
        lift_ci=to_bounds(sequential_interval(estimate, control.units + arm.units))
        if estimate
        else None,
        p_value=p_value,
        adjusted_p_value=adjusted,
        chance_to_win=chance_to_win(estimate, higher_is_better=more_is_better)
        if estimate
        else None,
        significant=enough and adjusted is not None and adjusted <= ALPHA,
        reason=None if place == 0 and arm.units > 1 else _explain(control, arm, estimate),
    )


def _explain(  # noqa: PLR0911 -- one sentence for each case
    control: Arm, arm: Arm, estimate: Estimate | None
) -> str | None:
    """Say why there is no answer, or why it does not count yet; None when all is well."""
    if arm.units == 0:
        return "no unit of this variant has an outcome yet"
    if control.units == 0:
        return "no unit of the control has an outcome yet"
    if min(arm.units, control.units) == 1:
        return "one unit has no variance: at least two a variant are needed"
    if estimate is None:
        if control.variance == 0 and arm.variance == 0:
            return "all units have the same value, so there is no variance to judge by"
        return "the control's mean is zero, so there is no relative lift"
    if min(arm.units, control.units) < MIN_UNITS:
        return f"too early: fewer than {MIN_UNITS} units in a variant are never called significant"
    return None


def _mean_bounds(metric: Metric, arm: Arm) -> Bounds | None:
    if arm.units < 2 or arm.variance == 0:  # noqa: PLR2004 -- one has no variance
        return None
    mean = Estimate(arm.mean, math.sqrt(arm.variance / arm.units), arm.units - 1)
    interval = sequential_interval(mean, arm.units)
    if metric.metric is TraceMetric.SUCCESS_RATE:
        interval = Interval(max(0.0, interval.lower), min(1.0, interval.upper))
    return to_bounds(interval)


def to_bounds(interval: Interval) -> Bounds:
    return Bounds(lower=interval.lower, upper=interval.upper)


def check_sample_ratio(counts: Sequence[int], weights: Sequence[float]) -> SampleRatio:
    """Test the split; with too few units expected in a variant there is nothing to test."""
    total, weight = sum(counts), sum(weights)
    if any(0 < w * total / weight < MIN_EXPECTED for w in weights):
        return SampleRatio(p_value=None, ok=True)
    p_value = sample_ratio_p_value(counts, weights)
    return SampleRatio(p_value=p_value, ok=p_value is None or p_value >= SRM_ALPHA)


def count_units(variants: Sequence[Variant], counts: Sequence[int]) -> list[VariantUnits]:
    total, weight = sum(counts), sum(variant.weight for variant in variants)
    return [
        VariantUnits(
            variant=variant.key,
            units=count,
            share=count / total if total else None,
            expected_share=variant.weight / weight,
        )
        for variant, count in zip(variants, counts, strict=True)
    ]
