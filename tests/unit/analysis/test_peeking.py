"""The promise that peeking does no harm, by simulation: whole experiments looked at 100 times.

`BENCH_PARTS=peeking make bench` is the same with more runs and units; docs/experiments.md has its
table.
"""

import math

import pytest
from bench.peeking import (
    DIFFERENCES,
    METRICS,
    UNEVEN,
    rate,
    share_called,
    share_invalid,
    share_missed,
    units_to_find,
)

RUNS = 100
UNITS = 5000
# Five percent and two standard errors of so few runs.
LIMIT = 0.05 + 2 * math.sqrt(0.05 * 0.95 / RUNS)


@pytest.mark.parametrize("name", METRICS)
def test_an_experiment_without_a_difference_is_rarely_called_one(name: str) -> None:
    assert share_called(METRICS[name], UNITS, RUNS) <= LIMIT


@pytest.mark.parametrize(
    "name",
    ["success rate 1 %", "success rate 97 %", "lognormal, sigma 2", "clustered success rate 5 %"],
)
def test_nor_when_one_arm_has_a_tenth_of_the_units(name: str) -> None:
    assert share_called(METRICS[name], UNITS, RUNS, UNEVEN) <= LIMIT


@pytest.mark.parametrize("name", DIFFERENCES)
def test_the_interval_holds_the_true_lift_at_every_look(name: str) -> None:
    assert share_missed(*DIFFERENCES[name], UNITS, RUNS) <= LIMIT


def test_a_true_difference_of_ten_percent_is_found() -> None:
    # The delta method that this replaced took 8,100 units in the same simulation.
    assert units_to_find(rate(0.3), rate(0.33), 12_000, 100, RUNS) <= 8100


def test_a_sound_split_is_hardly_ever_invalid_and_a_broken_one_is_found() -> None:
    assert share_invalid(0.5, 50_000, 2000) <= 0.001
    assert share_invalid(0.52, 20_000, 200) >= 0.85
    assert share_invalid(0.6, 1000, 200) >= 0.85
