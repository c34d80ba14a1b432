"""Finds what contributes to the differences of two sides, and what explains them.

All possible contributors are tested together. The time that a trace spends in a tool, a model or a
step explains a part of the mean latency, the cost of a model a part of the cost, and the traces
that fail with an error a part of the error rate.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from spanwise.analysis.change_fields import change_fields, compare_effective
from spanwise.analysis.changes import (
    count_discoveries,
    design_effect,
    moments_arm,
    p_value,
    share_arm,
)
from spanwise.analysis.comparison import ALPHA, Arm, Estimate, estimate
from spanwise.model.dashboards.changes import (
    MAX_CONTRIBUTORS,
    MAX_UNPRICED,
    MIN_OBSERVATIONS,
    Change,
    ChangeVerdict,
    Contributor,
    GroupKey,
    GroupSums,
    PartSums,
    Preferred,
    SideSums,
)
from spanwise.model.dashboards.queries import Entity

# Values of each dimension that are compared: those with the most traces, or the most time.
MAX_VALUES = 10
# A smaller part of a difference does not explain it.
MIN_EXPLAINED = 0.25
STEP = "step"
TIME, CALLS = "timePerTrace", "callsPerTrace"
# Measures that are specific to a model or tool; the others repeat the totals where all traces have
# the value.
_OWN_MEASURES = {("model", "costPerTrace"), ("tool", "toolErrorRate")}
_CHANGED = {ChangeVerdict.WORSE, ChangeVerdict.BETTER}

Sides = tuple[SideSums, SideSums]


@dataclass(frozen=True)
class _Candidate:
    """A candidate contributor."""

    key: GroupKey
    measure: str
    preferred: Preferred
    arms: tuple[Arm, Arm]
    samples: tuple[int, int]
    calls: tuple[float, float] | None = None

    def estimate(self) -> Estimate | None:
        if min(arm.units for arm in self.arms) < MIN_OBSERVATIONS:
            return None
        return estimate(*self.arms)

    def compare(self, alpha: float) -> Contributor:
        compared = compare_effective(*self.arms, self.preferred, alpha)
        before, now = self.calls or (None, None)
        return Contributor(
            dimension=self.key[0],
            value=self.key[1],
            baseline_calls=before,
            candidate_calls=now,
            **change_fields(self.measure, self.preferred, compared, self.samples),
        )


class Contributors(NamedTuple):
    """The first contributors, and how many were tested."""

    contributors: list[Contributor]
    tested: int


def find_contributors(
    dimension: str | None,
    of: Entity,
    baseline: SideSums,
    candidate: SideSums,
    measures: Sequence[Change],
) -> Contributors:
    """Find the first contributors.

    Those that explain most of a measure come first, then the most significant ones. All are tested
    together: the intervals are widened to those of the discoveries of Benjamini and Hochberg
    (Benjamini and Yekutieli 2005), so that an interval excludes zero if and only if its contributor
    is a discovery.
    """
    sides = baseline, candidate
    tested = [
        (one, found)
        for one in (*_list_groups(dimension, of, sides), *_list_parts(sides))
        if (found := one.estimate()) is not None
    ]
    discoveries = count_discoveries([p_value(found) for _, found in tested])
    alpha = ALPHA * max(discoveries, 1) / max(len(tested), 1)
    tested.sort(key=lambda pair: -pair[1].score_squared())
    compared = explain([one.compare(alpha) for one, _ in tested], measures)
    return Contributors(rank(compared, measures)[:MAX_CONTRIBUTORS], len(tested))


def explain(contributors: Sequence[Contributor], measures: Sequence[Change]) -> list[Contributor]:
    """Add which measure each contributor explains, and how much of it.

    What moved from one model to another is no explanation: a contributor explains at most the
    difference of all values of its dimension together.
    """
    totals = {change.measure: change.difference for change in measures}
    together: dict[tuple[str, str], float] = {}
    for one in contributors:
        group = one.dimension, one.measure
        together[group] = together.get(group, 0) + (one.difference or 0)
    explained = []
    for one in contributors:
        name = _explained_measure(one)
        total = totals.get(name or "")
        share = 0.0
        if total and one.difference and one.verdict is not ChangeVerdict.UNCLEAR:
            parts = one.difference, together[one.dimension, one.measure]
            share = min(part / total for part in parts)
        if name is not None and share >= MIN_EXPLAINED and _has_changed(name, measures):
            found = {"explains": name, "explained": share}
        else:
            found = {}
        explained.append(one.model_copy(update=found))
    return explained


def _explained_measure(one: Contributor) -> str | None:
    if one.measure == TIME:
        return "avgLatency"
    if (one.dimension, one.measure) in {("model", "costPerTrace"), ("errorType", "errorRate")}:
        return one.measure
    return None


def _has_changed(name: str, measures: Iterable[Change]) -> bool:
    # A few slow traces change a percentile rather than the mean.
    names = {"avgLatency", "p50", "p95"} if name == "avgLatency" else {name}
    return any(change.measure in names and change.verdict in _CHANGED for change in measures)


def rank(contributors: Sequence[Contributor], measures: Iterable[Change]) -> list[Contributor]:
    """Sort: what explains a measure that got worse, then one that got better, then the others.

    A step contains the tools and models that it calls, so it comes after them, unless they explain
    less than half.
    """
    by_name = {change.measure: change for change in measures}

    def order(one: Contributor) -> tuple[int, float, int, float]:
        total = by_name.get(one.explains or "")
        if total is None or one.explained is None or total.difference is None:
            return 2, 0.0, 0, 0.0
        contains_others = one.dimension == STEP and any(
            other.explains == one.explains
            and other.dimension != STEP
            and (other.explained or 0) >= 0.5  # noqa: PLR2004 -- half of the difference
            for other in contributors
        )
        relative = abs(total.relative_difference or 0)
        return int(total.difference < 0), -relative, int(contains_others), -one.explained

    return sorted(contributors, key=order)


def _list_groups(dimension: str | None, of: Entity, sides: Sides) -> Iterable[_Candidate]:
    """List what is measured of the traces or calls with one value of a dimension."""
    counts = [{key: sums.outcomes for key, sums in side.groups.items()} for side in sides]
    for key in _choose(counts):
        if key[0] == dimension:
            continue
        is_of_all = all(
            count.get(key) == side.outcomes for count, side in zip(counts, sides, strict=True)
        )
        for one in _measure_group(key, of, sides):
            if not is_of_all or (key[0], one.measure) in _OWN_MEASURES:
                yield one


def _list_parts(sides: Sides) -> Iterable[_Candidate]:
    """List time and calls per trace of tools, models and steps."""
    times = [{key: sums.time_powers[0] for key, sums in side.parts.items()} for side in sides]
    for key in _choose(times):
        found = [_Part.of(key, side) for side in sides]
        sampled = sides[0].sampled, sides[1].sampled
        calls = found[0].calls(), found[1].calls()
        means = calls[0].mean, calls[1].mean
        arms = found[0].time(), found[1].time()
        yield _Candidate(key, TIME, Preferred.LOWER, arms, sampled, means)
        yield _Candidate(key, CALLS, Preferred.NEITHER, calls, sampled)


def _choose(amounts: Iterable[Mapping[GroupKey, float]]) -> list[GroupKey]:
    """Return the values with the greatest amount on both sides, by dimension."""
    totals: dict[GroupKey, float] = {}
    for side in amounts:
        for key, amount in side.items():
            totals[key] = totals.get(key, 0) + amount
    chosen: dict[str, list[GroupKey]] = {}
    for key in sorted(totals, key=lambda key: (-totals[key], key)):
        chosen.setdefault(key[0], []).append(key)
    return [key for keys in chosen.values() for key in keys[:MAX_VALUES]]


def _measure_group(key: GroupKey, of: Entity, sides: Sides) -> Iterable[_Candidate]:
    groups = _Group.of(key, sides[0]), _Group.of(key, sides[1])

    def pair(
        measure: str, make: Callable[["_Group"], tuple[Arm, int]], preferred: Preferred
    ) -> _Candidate:
        (first, before), (second, now) = make(groups[0]), make(groups[1])
        return _Candidate(key, measure, preferred, (first, second), (before, now))

    lower, neither = Preferred.LOWER, Preferred.NEITHER
    if key[0] == "errorType":
        return [pair("errorRate", _Group.share, lower)]
    found = [pair("share", _Group.share, neither)]
    if of is Entity.TRACES and key[0] == "tool":
        return [*found, pair("toolErrorRate", _Group.failed_calls, lower)]
    is_own = of is Entity.SPANS or key[0] == "agent"
    if is_own:
        # Errors and latency of whole traces would blame a model for everything else in them.
        found += [
            pair("errorRate", _Group.errors, lower),
            pair("avgLatency", _Group.latency, lower),
        ]
    if all(group.has_known_cost for group in groups):
        name = "costPerCall" if of is Entity.SPANS else "costPerTrace"
        found.append(pair(name, _Group.cost if is_own else _Group.cost_of_all, lower))
    return found


@dataclass(frozen=True)
class _Group:
    """The outcomes of a side with one value; means are over them, or over all of the side."""

    value: str
    sums: GroupSums
    side: SideSums

    @classmethod
    def of(cls, key: GroupKey, side: SideSums) -> "_Group":
        return cls(key[1], side.groups.get(key, GroupSums(0)), side)

    @property
    def effect(self) -> float:
        return design_effect(self.side.totals["outcomes"])

    @property
    def has_known_cost(self) -> bool:
        return self.sums.unpriced <= MAX_UNPRICED * self.sums.outcomes

    def share(self) -> tuple[Arm, int]:
        arm = share_arm(self.sums.outcomes, self.side.outcomes, self.effect)
        return arm, self.side.outcomes

    def cost_of_all(self) -> tuple[Arm, int]:
        arm = moments_arm(self.side.outcomes, self.sums.cost_powers, self.effect)
        return arm, self.side.outcomes

    def cost(self) -> tuple[Arm, int]:
        known = self.sums.outcomes - self.sums.unpriced
        return moments_arm(known, self.sums.cost_powers, self.effect), known

    def latency(self) -> tuple[Arm, int]:
        arm = moments_arm(self.sums.outcomes, self.sums.latency_powers, self.effect)
        return arm, self.sums.outcomes

    def errors(self) -> tuple[Arm, int]:
        return share_arm(self.sums.errors, self.sums.outcomes, self.effect), self.sums.outcomes

    def failed_calls(self) -> tuple[Arm, int]:
        effect = design_effect(self.side.totals["tool_calls"])
        failed = self.side.failed_calls.get(self.value, 0)
        return share_arm(failed, self.sums.calls, effect), self.sums.calls


@dataclass(frozen=True)
class _Part:
    """A tool, model or step of one side; means are over all of its traces."""

    sums: PartSums
    side: SideSums

    @classmethod
    def of(cls, key: GroupKey, side: SideSums) -> "_Part":
        return cls(side.parts.get(key, PartSums()), side)

    def time(self) -> Arm:
        return self._mean(self.sums.time_powers)

    def calls(self) -> Arm:
        return self._mean(self.sums.call_powers)

    def _mean(self, powers: tuple[float, float, float]) -> Arm:
        return moments_arm(self.side.sampled, powers, design_effect(self.side.totals["outcomes"]))
