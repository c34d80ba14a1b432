"""Simulates how often experiments are decided wrongly when they are checked 100 times.

Units are drawn with numpy; every look is evaluated by the code of the service.
`BENCH_PARTS=peeking make bench` runs everything, tests/unit/analysis/test_peeking.py a part.
"""

import json
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from spanwise.analysis.experiments import Measured, check_sample_ratio, compare
from spanwise.analysis.variant_statistics import to_arm
from spanwise.model.experiments.definition import Direction, ExperimentMetric, MetricSource, Variant
from spanwise.model.experiments.results import VariantResult
from spanwise.model.experiments.sums import ClusterSums

LOOKS = 100
SIZES = (500, 5000, 50_000)
# Share of the units that are in the control.
EVEN, UNEVEN = 0.5, 0.9
# Units drawn at once; keeps memory below 200 MB.
BATCH_UNITS = 1_000_000

Values = NDArray[np.float64]
# Each unit's total and its number of outcomes; rows are runs.
Draw = Callable[[np.random.Generator, tuple[int, int]], tuple[Values, Values]]

VARIANTS = [Variant(key=key, name=key, weight=1, config={}) for key in ("control", "treatment")]
METRIC = ExperimentMetric(
    key="score",
    source=MetricSource.SIGNAL,
    metric=None,
    signal_name="score",
    direction=Direction.INCREASE,
    primary=True,
)


def rate(share: float) -> Draw:
    """Units with one outcome each: success or failure."""
    return lambda rng, shape: ((rng.random(shape) < share).astype(float), np.ones(shape))


def normal(rng: np.random.Generator, shape: tuple[int, int]) -> tuple[Values, Values]:
    return rng.normal(10, 3, shape), np.ones(shape)


def lognormal(sigma: float, factor: float = 1.0) -> Draw:
    return lambda rng, shape: (factor * rng.lognormal(0, sigma, shape), np.ones(shape))


def counts(rng: np.random.Generator, shape: tuple[int, int]) -> tuple[Values, Values]:
    """90 % zeros, the others Poisson."""
    return np.where(rng.random(shape) < 0.9, 0.0, rng.poisson(3, shape)), np.ones(shape)


def long_counts(rng: np.random.Generator, shape: tuple[int, int]) -> tuple[Values, Values]:
    """90 % zeros, the others negative binomial with a mean of 9.5 and a long tail."""
    some = rng.negative_binomial(0.5, 0.05, shape)
    return np.where(rng.random(shape) < 0.9, 0.0, some), np.ones(shape)


def clustered_rate(share: float, concentration: float = 2.0) -> Draw:
    """Units with at least two outcomes, whose success rate differs between units."""

    def draw(rng: np.random.Generator, shape: tuple[int, int]) -> tuple[Values, Values]:
        outcomes = 1 + rng.geometric(0.3, shape)
        rates = rng.beta(share * concentration, (1 - share) * concentration, shape)
        return rng.binomial(outcomes, rates).astype(float), outcomes.astype(float)

    return draw


METRICS: dict[str, Draw] = {
    "success rate 0.1 %": rate(0.001),
    "success rate 1 %": rate(0.01),
    "success rate 2 %": rate(0.02),
    "success rate 5 %": rate(0.05),
    "success rate 30 %": rate(0.3),
    "success rate 97 %": rate(0.97),
    "normal": normal,
    "lognormal, sigma 1.2": lognormal(1.2),
    "lognormal, sigma 2": lognormal(2.0),
    "counts, 90 % zeros, Poisson": counts,
    "counts, 90 % zeros, negative binomial": long_counts,
    "clustered success rate 5 %": clustered_rate(0.05),
    "clustered success rate 60 %": clustered_rate(0.6),
    "clustered success rate 97 %": clustered_rate(0.97),
}


@dataclass(frozen=True)
class Look:
    """The published result at a total number of units."""

    units: int
    result: VariantResult


def choose_looks(units: int, looks: int = LOOKS) -> NDArray[np.int64]:
    """Return the unit counts of the looks: dense at first, when results vary most."""
    return np.unique(np.geomspace(20, units, looks).astype(np.int64))


def simulate(
    control: Draw, treatment: Draw, at: NDArray[np.int64], runs: int, split: float = EVEN
) -> Iterator[Iterator[Look]]:
    """Run experiments and yield the looks of each, in order."""
    rng = np.random.default_rng(20260131)
    ends = [np.maximum(1, (at * part).astype(np.int64)) for part in (split, 1 - split)]
    left = runs
    while left:
        batch = min(left, max(1, BATCH_UNITS // int(at[-1])))
        left -= batch
        arms = [
            _sums_at(*draw(rng, (batch, int(end[-1]))), end)
            for draw, end in zip((control, treatment), ends, strict=True)
        ]
        for run in range(batch):
            yield _iterate_looks(at, [arm[:, run] for arm in arms])


_SUMS = ("units", "y", "d", "yy", "dd", "yd", "yyy", "yyd", "ydd", "ddd")


def _sums_at(y: Values, d: Values, ends: NDArray[np.int64]) -> Values:
    """Compute all sums (axis 0) of each run (axis 1) over the units up to each look (axis 2)."""
    products = [np.ones_like(y), y, d, y * y, d * d, y * d]
    products += [y * y * y, y * y * d, y * d * d, d * d * d]
    starts = np.concatenate([[0], ends[:-1]])
    # reduceat returns the next value, not zero, where an arm does not grow between two looks.
    is_empty = starts == ends
    parts = np.add.reduceat(np.stack(products), np.minimum(starts, y.shape[1] - 1), axis=2)
    parts[:, :, is_empty] = 0
    summed: Values = np.cumsum(parts, axis=2)
    return summed


def _iterate_looks(at: NDArray[np.int64], arms: list[Values]) -> Iterator[Look]:
    for index, units in enumerate(at):
        sums = [dict(zip(_SUMS, map(float, arm[:, index]), strict=True)) for arm in arms]
        found = [to_arm(ClusterSums(**{**s, "units": int(s["units"])})) for s in sums]  # type: ignore[arg-type]
        [result] = compare([Measured(METRIC, found)], VARIANTS)
        yield Look(int(units), result.variants[1])


def false_positive_share(draw: Draw, units: int, runs: int, split: float = EVEN) -> float:
    """Return the share of experiments without a difference that are ever significant."""
    looks = simulate(draw, draw, choose_looks(units), runs, split)
    return sum(any(look.result.significant for look in run) for run in looks) / runs


def share_missed(control: Draw, treatment: Draw, lift: float, units: int, runs: int) -> float:
    """Return the share of experiments in which `liftCi` ever excludes the true lift."""

    def misses(look: Look) -> bool:
        bounds = look.result.lift_ci
        return bounds is not None and not bounds.lower <= lift <= bounds.upper

    looks = simulate(control, treatment, choose_looks(units), runs)
    return sum(any(map(misses, run)) for run in looks) / runs


def median_units_to_detect(
    control: Draw, treatment: Draw, units: int, step: int, runs: int
) -> float:
    """Return the median number of units at which a true difference is significant."""
    at = np.arange(step, units + 1, step)
    found = [
        next((look.units for look in run if look.result.significant), units)
        for run in simulate(control, treatment, at, runs)
    ]
    return statistics.median(found)


def srm_share(share: float, units: int, runs: int) -> float:
    """Return the share of splits with two equal weights that ever fail the ratio check."""
    rng = np.random.default_rng(20260131)
    at = choose_looks(units)
    first = np.cumsum(rng.binomial(np.diff(at, prepend=0), share, (runs, len(at))), axis=1)
    return (
        sum(
            any(
                not check_sample_ratio([int(a), int(n - a)], [1, 1]).ok
                for a, n in zip(run, at, strict=True)
            )
            for run in first
        )
        / runs
    )


@dataclass(frozen=True)
class Row:
    """False positive shares of one metric, by number of units, for both splits."""

    metric: str
    even: list[float]
    uneven: list[float]


# Control, treatment and the true lift.
DIFFERENCES: dict[str, tuple[Draw, Draw, float]] = {
    "success rate 1 % → 2 %": (rate(0.01), rate(0.02), 1.0),
    "success rate 30 % → 33 %": (rate(0.3), rate(0.33), 0.1),
    "success rate 97 % → 99 %": (rate(0.97), rate(0.99), 0.99 / 0.97 - 1),
    "success rate 95 % → 0.1 %": (rate(0.95), rate(0.001), 0.001 / 0.95 - 1),
    "lognormal, sigma 1.2, times 1.5": (lognormal(1.2), lognormal(1.2, 1.5), 0.5),
    "lognormal, sigma 2, times 3": (lognormal(2.0), lognormal(2.0, 3.0), 2.0),
    "clustered success rate 5 % → 10 %": (clustered_rate(0.05), clustered_rate(0.1), 1.0),
}


def main(runs: int) -> None:
    rows = []
    for name, draw in METRICS.items():
        shares = [
            [false_positive_share(draw, units, runs, split) for units in SIZES]
            for split in (EVEN, UNEVEN)
        ]
        rows.append(Row(name, *shares))
        sys.stderr.write(f"{rows[-1]}\n")
    outcome = {
        "runs": runs,
        "units": list(SIZES),
        "false_positives": [asdict(row) for row in rows],
        "missed": {
            name: share_missed(*difference, 5000, runs) for name, difference in DIFFERENCES.items()
        },
        "units_to_detect": median_units_to_detect(rate(0.3), rate(0.33), 20_000, 100, runs),
        "srm_false_alarms": srm_share(0.5, 50_000, 20 * runs),
        "srm_detected": srm_share(0.52, 20_000, runs),
    }
    sys.stdout.write(json.dumps(outcome))


if __name__ == "__main__":
    main(int(sys.argv[1]))
