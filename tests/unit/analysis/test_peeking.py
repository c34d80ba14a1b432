"""The promise that peeking does no harm, by simulation: whole experiments looked at 100 times."""

import numpy as np

from spanwise.analysis.comparison import Arm, fixed_p_value, relative_lift
from spanwise.analysis.experiments import Measured, compare
from spanwise.model.experiments import Direction, Metric, MetricSource, TraceMetric, Variant

LOOKS = 100
UNITS = 5000
VARIANTS = [Variant(key=key, name=key, weight=1, config={}) for key in ("a", "b")]


def metric(key: TraceMetric, direction: Direction, *, primary: bool) -> Metric:
    return Metric(
        key=key,
        source=MetricSource.TRACE,
        metric=key,
        signal_name=None,
        direction=direction,
        primary=primary,
    )


METRICS = [
    metric(TraceMetric.SUCCESS_RATE, Direction.INCREASE, primary=True),
    metric(TraceMetric.LATENCY, Direction.DECREASE, primary=False),
    metric(TraceMetric.COST, Direction.DECREASE, primary=False),
]
LOOK_AT = np.unique(np.geomspace(20, UNITS, LOOKS).astype(int))


def draw(rng: np.random.Generator, lift: float = 0.0) -> list[np.ndarray]:
    """One arm: success, latency and cost of each unit, the last two with heavy tails."""
    return [
        (rng.random(UNITS) < 0.6 * (1 + lift)).astype(float),
        rng.lognormal(6, 0.8, UNITS),
        rng.lognormal(-4, 1.2, UNITS),
    ]


def arms_at(arm: list[np.ndarray]) -> list[list[Arm]]:
    """For each metric, the arm as it stands at each look."""
    return [
        [
            Arm.from_sums(int(n), float(total), float(squares))
            for n, total, squares in zip(
                LOOK_AT,
                np.cumsum(values)[LOOK_AT - 1],
                np.cumsum(values**2)[LOOK_AT - 1],
                strict=True,
            )
        ]
        for values in arm
    ]


def first_found(rng: np.random.Generator, lift: float = 0.0) -> tuple[int | None, bool]:
    """The look at which anything was called significant, and whether the naive test ever did."""
    control, variant = arms_at(draw(rng)), arms_at(draw(rng, lift))
    found, naive = None, False
    for look in range(len(LOOK_AT)):
        measured = [
            Measured(m, [control[row][look], variant[row][look]]) for row, m in enumerate(METRICS)
        ]
        results = compare(measured, VARIANTS)
        if found is None and any(r.variants[1].significant for r in results):
            found = look
        estimate = relative_lift(control[0][look], variant[0][look])
        naive = naive or (estimate is not None and fixed_p_value(estimate) < 0.05)
    return found, naive


def test_an_experiment_without_a_difference_is_rarely_called_one_however_often_looked_at() -> None:
    rng = np.random.default_rng(20260131)
    runs = [first_found(rng) for _ in range(200)]
    false_alarms = sum(found is not None for found, _ in runs) / len(runs)
    naive_alarms = sum(naive for _, naive in runs) / len(runs)
    rates = f"{false_alarms:.1%} of {len(runs)} called, naive {naive_alarms:.1%}"
    print(f"A/A, {LOOKS} looks: {rates}")  # noqa: T201 -- shown by `pytest -s`
    assert false_alarms <= 0.05
    # The test has teeth: the ordinary p-value, looked at as often, cries wolf.
    assert naive_alarms > 0.15


def test_a_true_difference_of_ten_percent_is_found() -> None:
    rng = np.random.default_rng(20260201)
    runs = [first_found(rng, lift=0.1)[0] for _ in range(40)]
    looks = [found for found in runs if found is not None]
    units = 2 * int(np.median(LOOK_AT[looks]))
    rates = f"found in {len(looks)} of {len(runs)} runs, typically with {units:,} units"
    print(f"+10 %: {rates}")  # noqa: T201 -- shown by `pytest -s`
    assert len(looks) / len(runs) >= 0.95
