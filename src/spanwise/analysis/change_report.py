"""Compares the sums of two sides: all measures, the mix of agents, and what contributes."""

from collections.abc import Iterable

import numpy as np

from spanwise.analysis.change_contributors import Contributors, find_contributors
from spanwise.analysis.change_fields import change_fields, compare_effective
from spanwise.analysis.changes import (
    Compared,
    Observed,
    compare_arms,
    compare_quantiles,
    count_arm,
    design_effect,
    find_quantile,
    share_arm,
)
from spanwise.analysis.comparison import ALPHA
from spanwise.model.dashboards.changes import (
    CLUSTERS,
    MAX_SHARE_DIFFERENCE,
    MAX_UNPRICED,
    MIN_OBSERVATIONS,
    AgentMix,
    AgentShare,
    Array,
    Change,
    Changes,
    ChangeSide,
    ChangeVerdict,
    Mix,
    Preferred,
    SideSums,
)
from spanwise.model.dashboards.queries import Entity

LATENCY_LEVELS = {"p50": 0.5, "p95": 0.95}
NOTHING: Array = np.zeros(CLUSTERS)
# Of the agents of the mix.
MAX_AGENTS = 10

Pair = tuple[Observed, Observed]


def compare_sides(
    dimension: str | None,
    of: Entity,
    baseline: SideSums,
    candidate: SideSums,
) -> Changes:
    """Compare two sides; groups by other dimensions are the possible contributors."""
    # Traffic between agents is part of what changes between periods.
    is_mixed = dimension not in {None, "agent"} and baseline.outcomes and candidate.outcomes
    agents = compare_agents(baseline, candidate) if is_mixed else None
    measures = _compare_measures(dimension, of, baseline, candidate)
    if agents is not None and agents.mix is not Mix.SAME:
        measures = [_without_verdict(change) for change in measures]
        found = Contributors([], 0)
    else:
        found = find_contributors(dimension, of, baseline, candidate, measures)
    return Changes(
        dimension=dimension,
        of=of,
        baseline=_describe(of, baseline),
        candidate=_describe(of, candidate),
        agents=agents,
        measures=measures,
        contributors=found.contributors,
        tested=found.tested,
    )


def compare_agents(baseline: SideSums, candidate: SideSums) -> AgentMix:
    """Compare the shares of agents, which may be the reason of any other difference.

    A mix is different if the share of an agent differs by more than `MAX_SHARE_DIFFERENCE`, and
    not by chance.
    """
    sides = baseline, candidate
    counts = [_count_agents(side) for side in sides]
    names = sorted({*counts[0], *counts[1]}, key=lambda name: -sum(c.get(name, 0) for c in counts))
    if not counts[0].keys() & counts[1].keys():
        mix = Mix.DISJOINT
    elif any(_differs(name, counts, sides, ALPHA / len(names)) for name in names):
        mix = Mix.DIFFERENT
    else:
        mix = Mix.SAME
    shares = [
        [count.get(name, 0) / side.outcomes for name in names]
        for count, side in zip(counts, sides, strict=True)
    ]
    listed = zip(names, *shares, strict=True)
    return AgentMix(
        mix=mix,
        agents=[
            AgentShare(agent=name, baseline=before, candidate=now) for name, before, now in listed
        ][:MAX_AGENTS],
    )


def _count_agents(side: SideSums) -> dict[str, int]:
    """Return the number of outcomes by agent; traces without one have an empty name."""
    counts = {key[1]: sums.outcomes for key, sums in side.groups.items() if key[0] == "agent"}
    unnamed = side.outcomes - sum(counts.values())
    return {**counts, "": unnamed} if unnamed > 0 else counts


def _differs(
    name: str, counts: list[dict[str, int]], sides: tuple[SideSums, SideSums], alpha: float
) -> bool:
    arms = [
        share_arm(count.get(name, 0), side.outcomes, design_effect(side.totals["outcomes"]))
        for count, side in zip(counts, sides, strict=True)
    ]
    if abs(arms[1].mean - arms[0].mean) <= MAX_SHARE_DIFFERENCE:
        return False
    if min(arm.units for arm in arms) < MIN_OBSERVATIONS:
        # What chance explains is not known.
        return True
    compared = compare_effective(arms[0], arms[1], Preferred.NEITHER, alpha)
    return compared.verdict is not ChangeVerdict.UNCLEAR


def _without_verdict(change: Change) -> Change:
    if change.verdict in {ChangeVerdict.NO_DATA, ChangeVerdict.UNPRICED}:
        return change
    return change.model_copy(update={"verdict": ChangeVerdict.INCOMPARABLE})


def _compare_measures(
    dimension: str | None, of: Entity, baseline: SideSums, candidate: SideSums
) -> list[Change]:
    sides = baseline, candidate
    unit = "Call" if of is Entity.SPANS else "Trace"
    latencies = [
        _compare_quantiles(name, level, baseline, candidate)
        for name, level in LATENCY_LEVELS.items()
        if baseline.outcomes and candidate.outcomes
    ]
    signals = sorted({*baseline.signals, *candidate.signals})
    return [
        # The days on which a release or model was in use are not known.
        *([] if dimension else [_compare_counts(baseline, candidate)]),
        _compare("errorRate", _per_outcome(sides, "errors")),
        *latencies,
        _compare("avgLatency", _per_outcome(sides, "latency")),
        _compare_costs(f"costPer{unit}", baseline, candidate),
        _compare(f"tokensPer{unit}", _per_outcome(sides, "tokens")),
        *([_compare_tool_errors(baseline, candidate)] if of is Entity.TRACES else []),
        *(
            _compare(
                f"signal:{name}",
                (_of_signal(baseline, name), _of_signal(candidate, name)),
                Preferred.NEITHER,
            )
            for name in signals
        ),
    ]


def _per_outcome(sides: Iterable[SideSums], column: str) -> Pair:
    first, second = (Observed(side.totals[column], side.totals["outcomes"]) for side in sides)
    return first, second


def _compare_costs(name: str, baseline: SideSums, candidate: SideSums) -> Change:
    """Compare the costs that are known. With too many that are not, there is no verdict."""
    sides = baseline, candidate
    first, second = (
        Observed(side.totals["cost"], side.totals["outcomes"] - side.totals["unpriced"])
        for side in sides
    )
    change = _compare(name, (first, second))
    if all(side.unpriced <= MAX_UNPRICED * side.outcomes for side in sides):
        return change
    unknown = (
        *("difference", "interval"),
        *("relative_difference", "relative_interval"),
    )
    update = {**dict.fromkeys(unknown), "verdict": ChangeVerdict.UNPRICED}
    return change.model_copy(update=update)


def _compare_tool_errors(baseline: SideSums, candidate: SideSums) -> Change:
    first, second = (
        share_arm(
            sum(side.failed_calls.values()),
            int(side.totals["tool_calls"].sum()),
            design_effect(side.totals["tool_calls"]),
        )
        for side in (baseline, candidate)
    )
    compared = compare_effective(first, second, Preferred.LOWER)
    samples = (int(baseline.totals["tool_calls"].sum()), int(candidate.totals["tool_calls"].sum()))
    return Change(**change_fields("toolErrorRate", Preferred.LOWER, compared, samples))


def _of_signal(side: SideSums, name: str) -> Observed:
    sums = side.signals.get(name)
    if sums is None:
        return Observed(NOTHING, NOTHING)
    return Observed(sums["values"], sums["signals"])


def _compare(name: str, pair: Pair, preferred: Preferred = Preferred.LOWER) -> Change:
    baseline, candidate = (one.to_arm() for one in pair)
    observations = pair[0].observations, pair[1].observations
    compared = compare_arms(baseline, candidate, preferred, observations=observations)
    return Change(**change_fields(name, preferred, compared, _samples(pair)))


def _compare_counts(baseline: SideSums, candidate: SideSums) -> Change:
    """Compare the number of traces per day."""
    counts = baseline.totals["outcomes"], candidate.totals["outcomes"]
    first, second = count_arm(counts[0], baseline.days), count_arm(counts[1], candidate.days)
    observations = int(np.count_nonzero(counts[0])), int(np.count_nonzero(counts[1]))
    compared = compare_arms(first, second, Preferred.NEITHER, observations=observations)
    samples = baseline.outcomes, candidate.outcomes
    return Change(**change_fields("tracesPerDay", Preferred.NEITHER, compared, samples))


def _compare_quantiles(name: str, level: float, baseline: SideSums, candidate: SideSums) -> Change:
    first, second = _per_outcome((baseline, candidate), "outcomes")
    compared: Compared = compare_quantiles(
        find_quantile(baseline.latencies, level),
        find_quantile(candidate.latencies, level),
        Preferred.LOWER,
        observations=(first.observations, second.observations),
    )
    samples = baseline.outcomes, candidate.outcomes
    return Change(**change_fields(name, Preferred.LOWER, compared, samples))


def _samples(pair: Pair) -> tuple[int, int]:
    return int(pair[0].outcomes.sum()), int(pair[1].outcomes.sum())


def _describe(of: Entity, side: SideSums) -> ChangeSide:
    return ChangeSide(
        value=side.query.value,
        start_date=side.query.period.start,
        end_date=side.query.period.end,
        traces=side.traces,
        calls=side.outcomes if of is Entity.SPANS else None,
        unpriced=side.unpriced,
        unpriced_models=list(side.unpriced_models)[:MAX_AGENTS],
        similar=[],
    )
