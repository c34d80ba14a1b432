"""The planned number of units finds the lift in about four of five experiments."""

import math
import random

import pytest

from spanwise.analysis.comparison import ALPHA, critical_score_squared
from spanwise.analysis.planning import plan_units


@pytest.mark.parametrize(("rate", "lift"), [(0.5, 0.1), (0.2, 0.25)])
def test_a_planned_experiment_finds_its_lift(rate: float, lift: float) -> None:
    units = plan_units(rate, rate * (1 - rate), lift, 2)
    assert units is not None
    rng = random.Random(4)
    deviation = math.sqrt(2 * rate * (1 - rate) / units)
    critical = math.sqrt(critical_score_squared(2 * units, ALPHA))
    scores = (rng.gauss(rate * lift, deviation) / deviation for _ in range(20_000))
    found = sum(score > critical for score in scores) / 20_000
    assert found == pytest.approx(0.8, abs=0.01)


def test_more_is_needed_for_less() -> None:
    plans = [plan_units(0.5, 0.25, lift, 2) for lift in (0.2, 0.1, 0.05)]
    assert None not in plans
    assert plans == sorted(plans, key=lambda units: units or 0)
    assert (plan_units(0.5, 0.25, 0.1, 4) or 0) > (plans[1] or 0)


@pytest.mark.parametrize(("mean", "variance"), [(0, 0.25), (1e-9, 1e9)])
def test_what_cannot_be_found_has_no_plan(mean: float, variance: float) -> None:
    assert plan_units(mean, variance, 0.1, 2) is None
