"""Compares the sums of two sides: all measures, and what contributes to the differences."""

from collections.abc import Callable, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from spanwise.analysis.changes import (
    Compared,
    Observed,
    compare_arms,
    compare_quantiles,
    count_arm,
    count_discoveries,
    design_effect,
    find_quantile,
    moments_arm,
    p_value,
    share_arm,
)
from spanwise.analysis.comparison import ALPHA, Arm, Interval, estimate
from spanwise.model.dashboards.changes import (
    CLUSTERS,
    MAX_CONTRIBUTORS,
    MIN_OBSERVATIONS,
    Array,
    Change,
    Changes,
    ChangeSide,
    Contributor,
    GroupKey,
    GroupSums,
    Preferred,
    SideSums,
)
from spanwise.model.experiments.results import Bounds

LATENCY_LEVELS = {"p50": 0.5, "p95": 0.95}
NOTHING: Array = np.zeros(CLUSTERS)
# Mean per trace, by measure, and the sum that it is computed from.
_MEANS = {
    "errorRate": "errors",
    "avgLatency": "latency",
    "costPerTrace": "cost",
    "tokensPerTrace": "tokens",
}
# Values of each dimension that are compared: those with the most traces.
MAX_VALUES = 10
# Measures that are specific to a model or tool; the others would repeat the totals when every trace
# has the value.
_OWN_MEASURES = {("model", "costPerTrace"), ("tool", "toolErrorRate")}

Pair = tuple[Observed, Observed]


def compare_sides(
    dimension: str | None, wanted: Set[GroupKey], baseline: SideSums, candidate: SideSums
) -> Changes:
    """Compare two sides; groups by other dimensions are the possible contributors.

    `wanted` are the values that a filter requires of every trace.
    """
    contributors, tested = _find_contributors(dimension, wanted, baseline, candidate)
    return Changes(
        dimension=dimension,
        baseline=_describe(baseline),
        candidate=_describe(candidate),
        measures=_compare_measures(dimension, baseline, candidate),
        contributors=contributors,
        tested=tested,
    )


def _compare_measures(
    dimension: str | None, baseline: SideSums, candidate: SideSums
) -> list[Change]:
    observed = {
        name: (_per_trace(baseline, column), _per_trace(candidate, column))
        for name, column in _MEANS.items()
    }
    changes = {name: _compare(name, pair) for name, pair in observed.items()}
    latencies = [
        _compare_quantiles(name, level, baseline, candidate)
        for name, level in LATENCY_LEVELS.items()
        if baseline.traces and candidate.traces
    ]
    signals = sorted({*baseline.signals, *candidate.signals})
    return [
        # The days on which a release or model was in use are not known.
        *([] if dimension else [_compare_counts(baseline, candidate)]),
        changes["errorRate"],
        *latencies,
        *(changes[name] for name in ("avgLatency", "costPerTrace", "tokensPerTrace")),
        _compare_tool_errors(baseline, candidate),
        *(
            _compare(
                f"signal:{name}",
                (_of_signal(baseline, name), _of_signal(candidate, name)),
                Preferred.NEITHER,
            )
            for name in signals
        ),
    ]


def _per_trace(side: SideSums, column: str) -> Observed:
    return Observed(side.totals[column], side.totals["traces"])


def _compare_tool_errors(baseline: SideSums, candidate: SideSums) -> Change:
    arms = [
        share_arm(
            sum(side.failed_calls.values()),
            int(side.totals["tool_calls"].sum()),
            design_effect(side.totals["tool_calls"]),
        )
        for side in (baseline, candidate)
    ]
    compared = _compare_effective(arms[0], arms[1], Preferred.LOWER)
    samples = [int(side.totals["tool_calls"].sum()) for side in (baseline, candidate)]
    return Change(**_fields("toolErrorRate", Preferred.LOWER, compared, (samples[0], samples[1])))


def _compare_effective(
    baseline: Arm, candidate: Arm, preferred: Preferred, alpha: float = ALPHA
) -> Compared:
    """Compare arms whose units are independent observations."""
    observations = min(baseline.units, candidate.units)
    return compare_arms(baseline, candidate, preferred, observations=observations, alpha=alpha)


def _of_signal(side: SideSums, name: str) -> Observed:
    sums = side.signals.get(name)
    if sums is None:
        return Observed(NOTHING, NOTHING)
    return Observed(sums["values"], sums["signals"])


def _compare(name: str, pair: Pair, preferred: Preferred = Preferred.LOWER) -> Change:
    observations = min(one.observations for one in pair)
    baseline, candidate = (one.to_arm() for one in pair)
    compared = compare_arms(baseline, candidate, preferred, observations=observations)
    return Change(**_fields(name, preferred, compared, _samples(pair)))


def _compare_counts(baseline: SideSums, candidate: SideSums) -> Change:
    """Compare the number of traces per day; no traces on one side are a number too."""
    counts = baseline.totals["traces"], candidate.totals["traces"]
    first, second = count_arm(counts[0], baseline.days), count_arm(counts[1], candidate.days)
    observations = max(int(np.count_nonzero(count)) for count in counts)
    compared = compare_arms(first, second, Preferred.NEITHER, observations=observations)
    samples = baseline.traces, candidate.traces
    return Change(**_fields("tracesPerDay", Preferred.NEITHER, compared, samples))


def _compare_quantiles(name: str, level: float, baseline: SideSums, candidate: SideSums) -> Change:
    sides = baseline, candidate
    observations = min(_per_trace(side, "traces").observations for side in sides)
    compared = compare_quantiles(
        find_quantile(baseline.latencies, level),
        find_quantile(candidate.latencies, level),
        Preferred.LOWER,
        observations=observations,
    )
    samples = baseline.traces, candidate.traces
    return Change(**_fields(name, Preferred.LOWER, compared, samples))


@dataclass(frozen=True)
class _Candidate:
    """A candidate contributor."""

    key: GroupKey
    measure: str
    preferred: Preferred
    baseline: Arm
    candidate: Arm
    samples: tuple[int, int]


def _find_contributors(
    dimension: str | None, wanted: Set[GroupKey], baseline: SideSums, candidate: SideSums
) -> tuple[list[Contributor], int]:
    """Return the most significant contributors, and how many were tested.

    All are tested together: the intervals are widened to those of the discoveries of Benjamini and
    Hochberg (Benjamini and Yekutieli 2005), so that an interval excludes zero if and only if its
    contributor is a discovery.
    """
    possible = [
        (one, found)
        for key in _choose_groups(baseline, candidate)
        if key[0] != dimension
        for one in _list_candidates(key, baseline, candidate)
        if (key not in wanted or (key[0], one.measure) in _OWN_MEASURES)
        and min(one.baseline.units, one.candidate.units) >= MIN_OBSERVATIONS
        and (found := estimate(one.baseline, one.candidate)) is not None
    ]
    discoveries = count_discoveries([p_value(found) for _, found in possible])
    alpha = ALPHA * max(discoveries, 1) / max(len(possible), 1)
    possible.sort(key=lambda pair: -pair[1].score_squared())
    contributors = []
    for one, _ in possible[:MAX_CONTRIBUTORS]:
        compared = _compare_effective(one.baseline, one.candidate, one.preferred, alpha)
        fields = _fields(one.measure, one.preferred, compared, one.samples)
        contributors.append(Contributor(dimension=one.key[0], value=one.key[1], **fields))
    return contributors, len(possible)


def _choose_groups(baseline: SideSums, candidate: SideSums) -> list[GroupKey]:
    """Return the values with the most traces of both sides, by dimension."""
    traces = {
        key: sum(side.groups[key].traces for side in (baseline, candidate) if key in side.groups)
        for key in {**baseline.groups, **candidate.groups}
    }
    chosen: dict[str, list[GroupKey]] = {}
    for key in sorted(traces, key=lambda key: (-traces[key], key)):
        chosen.setdefault(key[0], []).append(key)
    return [key for keys in chosen.values() for key in keys[:MAX_VALUES]]


def _list_candidates(key: GroupKey, baseline: SideSums, candidate: SideSums) -> list[_Candidate]:
    sides = _Group.of(key, baseline), _Group.of(key, candidate)

    def pair(
        measure: str, make: Callable[["_Group"], tuple[Arm, int]], preferred: Preferred
    ) -> _Candidate:
        (first, before), (second, now) = make(sides[0]), make(sides[1])
        return _Candidate(key, measure, preferred, first, second, (before, now))

    lower, neither = Preferred.LOWER, Preferred.NEITHER
    match key[0]:
        case "errorType":
            return [pair("errorRate", _Group.share, lower)]
        case "tool":
            return [
                pair("share", _Group.share, neither),
                pair("toolErrorRate", _Group.failed_calls, lower),
            ]
        case "model":
            cost = pair("costPerTrace", _Group.cost_of_all, lower)
        case _:
            cost = pair("costPerTrace", _Group.cost, lower)
    return [
        pair("share", _Group.share, neither),
        pair("errorRate", _Group.errors, lower),
        pair("avgLatency", _Group.latency, lower),
        cost,
    ]


@dataclass(frozen=True)
class _Group:
    """The traces of a side with one value; means are over them, or over all traces of the side."""

    value: str
    sums: GroupSums
    side: SideSums

    @classmethod
    def of(cls, key: GroupKey, side: SideSums) -> "_Group":
        return cls(key[1], side.groups.get(key, GroupSums(0)), side)

    @property
    def effect(self) -> float:
        return design_effect(self.side.totals["traces"])

    def share(self) -> tuple[Arm, int]:
        return share_arm(self.sums.traces, self.side.traces, self.effect), self.side.traces

    def cost_of_all(self) -> tuple[Arm, int]:
        arm = moments_arm(self.side.traces, self.sums.cost_powers, self.effect)
        return arm, self.side.traces

    def cost(self) -> tuple[Arm, int]:
        arm = moments_arm(self.sums.traces, self.sums.cost_powers, self.effect)
        return arm, self.sums.traces

    def latency(self) -> tuple[Arm, int]:
        arm = moments_arm(self.sums.traces, self.sums.latency_powers, self.effect)
        return arm, self.sums.traces

    def errors(self) -> tuple[Arm, int]:
        return share_arm(self.sums.errors, self.sums.traces, self.effect), self.sums.traces

    def failed_calls(self) -> tuple[Arm, int]:
        effect = design_effect(self.side.totals["tool_calls"])
        failed = self.side.failed_calls.get(self.value, 0)
        return share_arm(failed, self.sums.calls, effect), self.sums.calls


def _samples(pair: Pair) -> tuple[int, int]:
    return int(pair[0].outcomes.sum()), int(pair[1].outcomes.sum())


def _fields(
    name: str, preferred: Preferred, compared: Compared, samples: tuple[int, int]
) -> dict[str, Any]:
    def bounds(interval: Interval | None) -> Bounds | None:
        return Bounds(lower=interval.lower, upper=interval.upper) if interval else None

    return {
        "measure": name,
        "preferred": preferred,
        "baseline": compared.baseline,
        "candidate": compared.candidate,
        "difference": compared.difference,
        "interval": bounds(compared.interval),
        "relative_difference": compared.relative_difference,
        "relative_interval": bounds(compared.relative_interval),
        "verdict": compared.verdict,
        "baseline_samples": samples[0],
        "candidate_samples": samples[1],
    }


def _describe(side: SideSums) -> ChangeSide:
    return ChangeSide(
        value=side.query.value,
        start_date=side.query.period.start,
        end_date=side.query.period.end,
        traces=side.traces,
    )
