"""Computes the results of an experiment, as the API returns them, from sums over units."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from spanwise.analysis.comparison import (
    ALPHA,
    SRM_ALPHA,
    Arm,
    Estimate,
    Interval,
    adjust_p_values,
    chance_to_win,
    estimate,
    lift_interval,
    mean_interval,
    sample_ratio_p_value,
    sequential_p_value,
)
from spanwise.analysis.variant_statistics import Adjustment, find_adjustment, to_arm
from spanwise.model.experiments.definition import Direction, ExperimentMetric, TraceMetric, Variant
from spanwise.model.experiments.results import (
    Bounds,
    Cuped,
    MetricResult,
    SampleRatio,
    TrendPoint,
    VariantPoint,
    VariantResult,
    VariantUnits,
)
from spanwise.model.experiments.sums import ClusterSums, MetricSums

# With fewer units the variance of an arm is too uncertain for an interval.
MIN_UNITS = 30
MAX_TREND_DAYS = 366


@dataclass(frozen=True)
class Measured:
    """A metric with the arm of each variant, the control first."""

    metric: ExperimentMetric
    arms: Sequence[Arm]
    cuped: Cuped | None = None
    trend: Sequence[TrendPoint] = ()

    def estimates(self) -> list[Estimate | None]:
        """Compare each variant with the control; the entry of the control itself is None."""
        return [None, *(estimate(self.arms[0], arm) for arm in self.arms[1:])]


def measure(metric: ExperimentMetric, variants: Sequence[Variant], sums: MetricSums) -> Measured:
    totals = [sums.total(index) for index in range(len(variants))]
    adjustment = find_adjustment(totals)
    arms = [to_arm(total, adjustment, sums.origin) for total in totals]
    cuped = None if adjustment is None else _describe_cuped(sums, arms, adjustment)
    return Measured(metric, arms, cuped, _trend(variants, sums, adjustment))


def _describe_cuped(sums: MetricSums, arms: Sequence[Arm], adjustment: Adjustment) -> Cuped:
    unadjusted = [to_arm(sums.total(index), origin=sums.origin) for index in range(len(arms))]
    before = sum(arm.variance for arm in unadjusted)
    reduction = 1 - sum(arm.variance for arm in arms) / before if before else 0.0
    return Cuped(
        theta=adjustment.theta,
        variance_reduction=reduction if math.isfinite(reduction) else 0.0,
        units_with_history=adjustment.units_with_history,
    )


def _trend(
    variants: Sequence[Variant], sums: MetricSums, adjustment: Adjustment | None
) -> list[TrendPoint]:
    days = sorted({day for _, day in sums.by_day})
    running = [ClusterSums()] * len(variants)
    points = []
    for day in days:
        running = [
            total + sums.by_day.get((index, day), ClusterSums())
            for index, total in enumerate(running)
        ]
        arms = [to_arm(total, adjustment, sums.origin) for total in running]
        points.append(
            TrendPoint(
                date=day.isoformat(),
                variants=[
                    _point(variant.key, arms[0], arm, is_control=index == 0)
                    for index, (variant, arm) in enumerate(zip(variants, arms, strict=True))
                ],
            )
        )
    return points[-MAX_TREND_DAYS:]


def _point(key: str, control: Arm, arm: Arm, *, is_control: bool) -> VariantPoint:
    found = None if is_control else estimate(control, arm)
    return VariantPoint(
        variant=key,
        units=arm.units,
        mean=arm.mean if arm.units else None,
        lift=None if found is None else found.lift,
        lift_ci=_lift_bounds(found),
    )


def compare(measured: Sequence[Measured], variants: Sequence[Variant]) -> list[MetricResult]:
    """Compare every variant with the control; p-values are adjusted for all comparisons."""
    estimates = [m.estimates() for m in measured]
    p_values = {
        (row, index): sequential_p_value(found.score_squared(), found.units)
        for row, metric_estimates in enumerate(estimates)
        for index, found in enumerate(metric_estimates)
        if found is not None and _has_enough_units(found)
    }
    adjusted = dict(zip(p_values, adjust_p_values(list(p_values.values())), strict=True))
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
                    index,
                    variant.key,
                    estimates[row][index],
                    p_values.get((row, index)),
                    adjusted.get((row, index)),
                )
                for index, variant in enumerate(variants)
            ],
        )
        for row, m in enumerate(measured)
    ]


def _result(
    measured: Measured,
    index: int,
    key: str,
    found: Estimate | None,
    p_value: float | None,
    adjusted: float | None,
) -> VariantResult:
    arm = measured.arms[index]
    more_is_better = measured.metric.direction is Direction.INCREASE
    return VariantResult(
        variant=key,
        units=arm.units,
        mean=arm.mean if arm.units else None,
        stddev=math.sqrt(arm.variance) if arm.units > 1 else None,
        ci=_mean_bounds(measured.metric, arm),
        lift=None if found is None else found.lift,
        lift_ci=_lift_bounds(found),
        p_value=p_value,
        adjusted_p_value=adjusted,
        chance_to_win=None
        if found is None or p_value is None
        else chance_to_win(found, higher_is_better=more_is_better),
        significant=adjusted is not None and adjusted <= ALPHA,
        reason=None
        if index == 0 and arm.units > 1
        else _explain(measured.arms[0], arm, found, p_value, adjusted),
    )


def _has_enough_units(found: Estimate) -> bool:
    return min(found.control.units, found.variant.units) >= MIN_UNITS


def _lift_bounds(found: Estimate | None) -> Bounds | None:
    if found is None or not _has_enough_units(found):
        return None
    interval = lift_interval(found)
    return None if interval is None else to_bounds(interval)


def _explain(  # noqa: PLR0911 -- one message per case
    control: Arm, arm: Arm, found: Estimate | None, p_value: float | None, adjusted: float | None
) -> str | None:
    """Explain why a result is missing or not significant; None when it is complete."""
    if arm.units == 0:
        return "no unit of this variant has an outcome yet"
    if control.units == 0:
        return "no unit of the control has an outcome yet"
    if min(arm.units, control.units) == 1:
        return "one unit has no variance: at least two per variant are needed"
    if found is None:
        return "all units have the same value, so there is no variance to judge by"
    if p_value is None or adjusted is None:
        return f"too early: at least {MIN_UNITS} units in each variant are needed"
    if found.lift is None:
        return "the control's mean is zero, so there is no relative lift"
    if lift_interval(found) is None:
        return "the control's mean may still be zero, so the relative lift has no bounds yet"
    if p_value <= ALPHA < adjusted:
        return "the interval excludes zero, but not when all comparisons are counted (Holm)"
    return None


def _mean_bounds(metric: ExperimentMetric, arm: Arm) -> Bounds | None:
    interval = mean_interval(arm) if arm.units >= MIN_UNITS else None
    if interval is not None and metric.metric is TraceMetric.SUCCESS_RATE:
        interval = Interval(max(0.0, interval.lower), min(1.0, interval.upper))
    return None if interval is None else to_bounds(interval)


def to_bounds(interval: Interval) -> Bounds:
    return Bounds(lower=interval.lower, upper=interval.upper)


def check_sample_ratio(counts: Sequence[int], weights: Sequence[float]) -> SampleRatio:
    """Test the split; the p-value is valid at every look and with any number of units."""
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
