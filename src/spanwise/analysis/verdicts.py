"""Decides the verdict on an experiment (such as ship or keep running) and states the reason."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from spanwise.analysis.comparison import units_until_significant
from spanwise.analysis.experiments import Measured
from spanwise.model.experiments.definition import (
    Direction,
    ExperimentMetric,
    ExperimentStatus,
    TraceMetric,
)
from spanwise.model.experiments.results import (
    Decision,
    Forecast,
    MetricResult,
    SampleRatio,
    VariantResult,
    Verdict,
)

# A smaller relative difference counts as no difference.
SMALLEST_LIFT = 0.05
MAX_DAYS = 1000
_METRIC_NAMES = {
    TraceMetric.SUCCESS_RATE: "success rate",
    TraceMetric.LATENCY: "latency",
    TraceMetric.P95_LATENCY: "p95 latency",
    TraceMetric.COST: "cost",
    TraceMetric.TOKENS: "tokens",
}


def name_metrics(metrics: Iterable[ExperimentMetric]) -> dict[str, str]:
    """Return the names of metrics in a sentence, by key."""
    return {
        one.key: one.signal_name or (one.key if one.metric is None else _METRIC_NAMES[one.metric])
        for one in metrics
    }


@dataclass(frozen=True)
class Facts:
    """Everything that a verdict depends on."""

    status: ExperimentStatus
    units: int
    srm: SampleRatio
    metrics: Sequence[MetricResult]
    forecast: Forecast | None
    # By the key of the metric, which people may have chosen for programs.
    metric_names: Mapping[str, str] = field(default_factory=dict)

    def name(self, metric: MetricResult) -> str:
        return self.metric_names.get(metric.key, metric.key)


def decide(facts: Facts) -> Verdict:
    if not facts.srm.ok:
        return _make_verdict(
            Decision.INVALID,
            "The units are not split as the weights say "
            f"(p = {facts.srm.p_value:.2g}): something decides who is counted, "
            "so no difference can be trusted. Look for units lost on one side.",
        )
    if facts.units == 0:
        return _undecided(facts, "No unit has been assigned yet.")
    primary = next(metric for metric in facts.metrics if metric.primary)
    better = [v for v in primary.variants[1:] if v.significant and is_better(primary, v)]
    worse = [v for v in primary.variants[1:] if v.significant and not is_better(primary, v)]
    if better:
        control = primary.variants[0]
        best = max(better, key=lambda v: abs((v.mean or 0) - (control.mean or 0)))
        return _ship(facts, primary, best)
    if len(worse) == len(primary.variants) - 1:
        control_key = primary.variants[0].variant
        lifts = ", ".join(f"{v.variant} {_change(primary, v)}" for v in worse)
        reason = f"Every variant is worse than {control_key} on {facts.name(primary)}: {lifts}."
        return _make_verdict(Decision.SHIP, reason, control_key)
    return _without_winner(facts, primary)


def _ship(facts: Facts, primary: MetricResult, best: VariantResult) -> Verdict:
    """Ship the best variant, unless another metric is significantly worse."""
    harmed = [
        (metric, variant)
        for metric in facts.metrics
        for variant in metric.variants
        if variant.variant == best.variant
        and variant.significant
        and not is_better(metric, variant)
    ]
    gain = f"Variant {best.variant} is better on {facts.name(primary)}: {_change(primary, best)}"
    if best.lift_ci is not None:
        gain += f" ({_range(best)})"
    if harmed:
        losses = ", ".join(f"{facts.name(metric)} {_change(metric, v)}" for metric, v in harmed)
        return _undecided(facts, f"{gain}, but worse on {losses}; weigh the two yourself.")
    return _make_verdict(
        Decision.SHIP, f"{gain}, and no other metric is significantly worse.", best.variant
    )


def _without_winner(facts: Facts, primary: MetricResult) -> Verdict:
    known = [v for v in primary.variants[1:] if v.lift_ci is not None]
    if not known:
        reason = next((v.reason for v in primary.variants[1:] if v.reason), "there is no outcome")
        return _undecided(
            facts, f"The metric {facts.name(primary)} cannot be compared yet: {reason}."
        )
    if len(known) == len(primary.variants) - 1 and all(_is_negligible(v) for v in known):
        ranges = ", ".join(f"{v.variant} {_range(v)}" for v in known)
        return _make_verdict(
            Decision.NO_DIFFERENCE,
            f"Any difference on {facts.name(primary)} is below {SMALLEST_LIFT:.0%}: {ranges}.",
        )
    nearest = max(known, key=lambda v: abs(v.lift or 0))
    return _undecided(
        facts,
        f"No significant difference on {facts.name(primary)} yet: variant {nearest.variant} is at "
        f"{_change(primary, nearest)}, and the truth may be anywhere in {_range(nearest)}.",
    )


def _undecided(facts: Facts, reason: str) -> Verdict:
    if facts.status is ExperimentStatus.STOPPED:
        return _make_verdict(
            Decision.NO_DIFFERENCE, f"Stopped without a significant winner. {reason}"
        )
    if facts.forecast is not None:
        reason += f" {describe_forecast(facts.forecast)}"
    return _make_verdict(Decision.KEEP_RUNNING, reason)


def describe_forecast(forecast: Forecast) -> str:
    if forecast.days > MAX_DAYS:
        return f"At this rate it would take more than {MAX_DAYS} days to know."
    days = max(1, round(forecast.days))
    return f"At this rate you will know in about {days} day{'' if days == 1 else 's'}."


def forecast(measured: Sequence[Measured], units: int, active_days: float) -> Forecast | None:
    """Forecast when the lift of the primary metric, at least SMALLEST_LIFT, is significant."""
    primary = next(m for m in measured if m.metric.primary)
    known = [
        (found, found.lift)
        for found in primary.estimates()
        if found is not None and found.lift is not None
    ]
    if not known or active_days <= 0 or units == 0:
        return None
    found, measured_lift = max(known, key=lambda pair: abs(pair[1]))
    lift, compared = max(abs(measured_lift), SMALLEST_LIFT), found.units
    needed = units_until_significant(found, lift)
    if needed is None:
        return None
    # Only some units are in the two compared arms and have outcomes.
    share = compared / units
    per_day = units / active_days
    return Forecast(
        lift=lift,
        units_needed=round(needed / share),
        units_per_day=per_day,
        days=max(0.0, (needed - compared) / share / per_day),
    )


def is_better(metric: MetricResult, variant: VariantResult) -> bool:
    rises = (variant.mean or 0) > (metric.variants[0].mean or 0)
    return rises == (metric.direction is Direction.INCREASE)


def _is_negligible(variant: VariantResult) -> bool:
    bounds = variant.lift_ci
    return bounds is not None and bounds.lower > -SMALLEST_LIFT and bounds.upper < SMALLEST_LIFT


def _change(metric: MetricResult, variant: VariantResult) -> str:
    if variant.lift is None:
        return f"{metric.variants[0].mean:.4g} → {variant.mean:.4g}"
    return _signed_percent(variant.lift)


def _range(variant: VariantResult) -> str:
    bounds = variant.lift_ci
    if bounds is None:
        return "unknown"
    return f"{_signed_percent(bounds.lower)} to {_signed_percent(bounds.upper)}"


def _signed_percent(ratio: float) -> str:
    """Return the ratio with a minus sign, which is as wide as the plus sign; not a hyphen."""
    return f"{ratio:+.1%}".replace("-", "\N{MINUS SIGN}")


def _make_verdict(decision: Decision, reason: str, variant: str | None = None) -> Verdict:
    return Verdict(decision=decision, variant=variant, reason=reason)
