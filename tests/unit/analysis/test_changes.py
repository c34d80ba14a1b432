"""Intervals of differences cover the truth, also when traces of a session are correlated."""

import numpy as np
import pytest

from spanwise.analysis.changes import (
    Observed,
    compare_arms,
    compare_quantiles,
    count_arm,
    count_discoveries,
    find_quantile,
)
from spanwise.analysis.comparison import Arm
from spanwise.model.dashboards.changes import (
    CLUSTERS,
    ChangeVerdict,
    Latencies,
    Preferred,
    Quantile,
)

Floats = np.ndarray
UNDECIDED = (ChangeVerdict.UNCLEAR, ChangeVerdict.TOO_FEW)


def draw_traces(rng: np.random.Generator, sessions: int, *, slower: float = 1.0) -> Floats:
    """Return session, latency and error of each trace; sessions have a level of their own."""
    sizes = 1 + rng.poisson(2, sessions)
    session = np.repeat(rng.integers(0, CLUSTERS, sessions), sizes)
    level = np.repeat(rng.normal(0, 0.5, sessions), sizes)
    latency = 300 * slower * np.exp(level + rng.normal(0, 0.5, session.size))
    fails = np.repeat(rng.beta(0.5, 9.5, sessions), sizes)
    return np.stack([session, latency, rng.random(session.size) < fails])


def observe(traces: Floats, values: Floats) -> Observed:
    return Observed(sum_clusters(traces, values), sum_clusters(traces, np.ones(traces.shape[1])))


def sum_clusters(traces: Floats, values: Floats) -> Floats:
    return np.bincount(traces[0].astype(int), values, CLUSTERS).astype(float)


def latencies(traces: Floats) -> Latencies:
    return Latencies(traces[1], traces[0].astype(np.int64))


def verdicts(first: Floats, second: Floats) -> dict[str, ChangeVerdict]:
    found = {}
    for name, row in (("latency", 1), ("errors", 2)):
        pair = [observe(side, side[row]) for side in (first, second)]
        few = pair[0].observations, pair[1].observations
        arms = [one.to_arm() for one in pair]
        found[name] = compare_arms(arms[0], arms[1], Preferred.LOWER, observations=few).verdict
    for name, level in (("p50", 0.5), ("p95", 0.95)):
        quantiles = [find_quantile(latencies(side), level) for side in (first, second)]
        found[name] = compare_quantiles(
            quantiles[0], quantiles[1], Preferred.LOWER, observations=(100, 100)
        ).verdict
    days = [count_arm(observe(side, side[1]).outcomes, 7.0) for side in (first, second)]
    found["traces"] = compare_arms(
        days[0], days[1], Preferred.NEITHER, observations=(100, 100)
    ).verdict
    return found


@pytest.mark.parametrize(
    ("sessions", "rounds"),
    [
        (60, 100),
        (400, 300),
        pytest.param(60, 800, marks=pytest.mark.long),
        pytest.param(400, 800, marks=pytest.mark.long),
        pytest.param(4000, 400, marks=pytest.mark.long),
    ],
)
def test_about_95_of_100_comparisons_of_the_same_are_unclear(sessions: int, rounds: int) -> None:
    rng = np.random.default_rng(sessions)
    unclear: dict[str, int] = {}
    for _ in range(rounds):
        first = draw_traces(rng, rng.poisson(sessions))
        second = draw_traces(rng, rng.poisson(sessions))
        for name, verdict in verdicts(first, second).items():
            unclear[name] = unclear.get(name, 0) + (verdict in UNDECIDED)
    # Four standard errors below, and small samples may be conservative.
    least = 0.95 - 4 * np.sqrt(0.05 * 0.95 / rounds)
    shares = {name: count / rounds for name, count in unclear.items()}
    assert all(share > least for share in shares.values()), shares
    if sessions >= 400:
        assert all(share < 0.985 for share in shares.values()), shares


def test_a_release_that_is_slower_is_found() -> None:
    rng = np.random.default_rng(3)
    found = verdicts(draw_traces(rng, 2000), draw_traces(rng, 2000, slower=1.3))
    assert found["p50"] is found["p95"] is found["latency"] is ChangeVerdict.WORSE
    assert found["errors"] is ChangeVerdict.UNCLEAR


def test_intervals_of_quantiles_are_those_of_both_sides_combined() -> None:
    compared = compare_quantiles(
        Quantile(100, 90, 105), Quantile(150, 138, 170), Preferred.LOWER, observations=(100, 100)
    )
    assert compared.interval is not None
    assert compared.relative_interval is not None
    assert compared.interval.lower == pytest.approx(50 - 13)
    assert compared.interval.upper == pytest.approx(50 + np.hypot(20, 10))
    # At the bounds of the ratio, baseline times ratio and candidate just do not differ.
    low, high = compared.relative_interval.lower + 1, compared.relative_interval.upper + 1
    assert 150 - low * 100 == pytest.approx(np.hypot(12, low * 5))
    assert high * 100 - 150 == pytest.approx(np.hypot(20, high * 10))


def test_few_observations_have_no_verdict() -> None:
    few = Arm(29, 1.0, 0.1)
    compared = compare_arms(few, Arm(29, 9.0, 0.1), Preferred.LOWER, observations=(29, 29))
    assert compared.verdict is ChangeVerdict.TOO_FEW
    assert (compared.difference, compared.interval) == (8.0, None)
    quantiles = Quantile(5, None, 7), Quantile(9, 8, 10)
    compared = compare_quantiles(*quantiles, Preferred.LOWER, observations=(100, 100))
    assert (compared.verdict, compared.interval) == (ChangeVerdict.TOO_FEW, None)


def test_equal_constants_do_not_differ_and_other_constants_do() -> None:
    one, two = Arm(50, 1.0, 0.0), Arm(50, 2.0, 0.0)
    same = compare_arms(one, one, Preferred.LOWER, observations=(50, 50))
    assert same.verdict is ChangeVerdict.UNCLEAR
    assert (
        compare_arms(one, two, Preferred.LOWER, observations=(50, 50)).verdict
        is ChangeVerdict.WORSE
    )
    assert (
        compare_arms(two, one, Preferred.LOWER, observations=(50, 50)).verdict
        is ChangeVerdict.BETTER
    )
    assert (
        compare_arms(two, one, Preferred.NEITHER, observations=(50, 50)).verdict
        is ChangeVerdict.LOWER
    )


def test_discoveries_are_those_of_benjamini_and_hochberg() -> None:
    # The example of their paper, with 15 p-values.
    values = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240]
    values += [0.4262, 0.5719, 0.6528, 0.7590, 1.0]
    assert count_discoveries(values) == 4
    assert count_discoveries([]) == 0
    assert count_discoveries([0.5]) == 0
