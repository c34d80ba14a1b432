"""Peeking does not raise the false positive rate: simulated experiments, checked 100 times.

`BENCH_PARTS=peeking make bench` does the same with more runs and units; docs/experiments.md has its
table.
"""

import math

import pytest
from bench.peeking import (
    DIFFERENCES,
    METRICS,
    UNEVEN,
    false_positive_share,
    median_units_to_detect,
    rate,
    share_missed,
    srm_share,
)

UNITS = 5000
# The number of simulated experiments; `make test-all` runs more.
with_runs = pytest.mark.parametrize("runs", [20, pytest.param(300, marks=pytest.mark.long)])


def limit_of(runs: int) -> float:
    """Return five percent plus two standard errors of this many runs."""
    return 0.05 + 2 * math.sqrt(0.05 * 0.95 / runs)


@with_runs
@pytest.mark.parametrize("name", METRICS)
def test_an_experiment_without_a_difference_is_rarely_significant(name: str, runs: int) -> None:
    assert false_positive_share(METRICS[name], UNITS, runs) <= limit_of(runs)


@with_runs
@pytest.mark.parametrize(
    "name",
    ["success rate 1 %", "success rate 97 %", "lognormal, sigma 2", "clustered success rate 5 %"],
)
def test_false_positives_stay_rare_with_a_90_10_split(name: str, runs: int) -> None:
    assert false_positive_share(METRICS[name], UNITS, runs, UNEVEN) <= limit_of(runs)


@with_runs
@pytest.mark.parametrize("name", DIFFERENCES)
def test_the_interval_contains_the_true_lift_at_every_look(name: str, runs: int) -> None:
    assert share_missed(*DIFFERENCES[name], UNITS, runs) <= limit_of(runs)


@with_runs
def test_a_true_difference_of_ten_percent_is_detected(runs: int) -> None:
    # The delta method needed 8,100 units in the same simulation.
    assert median_units_to_detect(rate(0.3), rate(0.33), 12_000, 100, runs) <= 8100


@with_runs
def test_the_sample_ratio_check_has_few_false_alarms_and_detects_a_broken_split(runs: int) -> None:
    assert srm_share(0.5, 50_000, 20 * runs) <= 0.001
    assert srm_share(0.52, 20_000, 2 * runs) >= 0.85
    assert srm_share(0.6, 1000, 2 * runs) >= 0.85
