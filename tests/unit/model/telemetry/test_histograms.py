"""Quantiles of histograms: interpolated in their bucket, also when bounds overlap."""

import math
import random

import pytest

from spanwise.model.telemetry.histograms import Bucket, estimate_quantile
from support.metrics import interpolate


def buckets_of(bounds: list[float], counts: list[int]) -> list[Bucket]:
    edges = [-math.inf, *bounds, math.inf]
    return [Bucket(edges[n], edges[n + 1], count) for n, count in enumerate(counts)]


@pytest.mark.parametrize("seed", range(50))
def test_a_quantile_is_that_of_prometheus(seed: int) -> None:
    chance = random.Random(seed)
    bounds = sorted({round(chance.uniform(0.1, 100), 3) for _ in range(chance.randint(1, 12))})
    counts = [chance.choice([0, 0, 1, chance.randrange(100)]) for _ in range(len(bounds) + 1)]
    for quantile in (0.01, 0.5, 0.95, 0.99, 1.0):
        expected = interpolate(bounds, counts, quantile)
        assert estimate_quantile(buckets_of(bounds, counts), quantile) == pytest.approx(expected)


def test_histograms_with_other_bounds_are_added() -> None:
    coarse, fine = Bucket(0, 10, 10), [Bucket(0, 5, 0), Bucket(5, 10, 10)]
    # Five values up to 5, fifteen between 5 and 10: the middle one is the fifth of those.
    assert estimate_quantile([coarse, *fine], 0.5) == pytest.approx(5 + 5 * 5 / 15)


def test_without_values_there_is_no_quantile() -> None:
    assert estimate_quantile([], 0.5) is None
    assert estimate_quantile([Bucket(0, 1, 0)], 0.5) is None
    assert estimate_quantile([Bucket(-math.inf, math.inf, 3)], 0.5) is None


def test_values_below_a_negative_bound_count_as_the_bound() -> None:
    assert estimate_quantile(buckets_of([-5.0, -1.0], [4, 1, 0]), 0.5) == -5
