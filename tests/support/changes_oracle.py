"""The expected answer to a comparison of two sides, computed from traces in plain Python."""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from support.histories import percentile

Z_SQUARED = 1.959963984540054**2


@dataclass(frozen=True)
class Trace:
    """`cluster` is the number that the engine gives to its session, user or id."""

    cluster: int
    version: str
    latency_ms: float
    failed: bool
    cost: float
    tokens: int
    tools: Mapping[str, tuple[int, int]]
    ratings: Sequence[float]
    model: str
    # Calls and milliseconds of its tools, models and steps.
    parts: Mapping[tuple[str, str], tuple[int, float]] = field(default_factory=dict)


# Sum and number of outcomes of a trace.
Values = Callable[[Trace], tuple[float, float]]
MEASURES: dict[str, Values] = {
    "errorRate": lambda t: (float(t.failed), 1),
    "avgLatency": lambda t: (t.latency_ms, 1),
    "costPerTrace": lambda t: (t.cost, 1),
    "tokensPerTrace": lambda t: (t.tokens, 1),
    "signal:rating": lambda t: (sum(t.ratings), len(t.ratings)),
}


@dataclass(frozen=True)
class Mean:
    value: float
    clusters: int
    variance: float
    third: float
    outcomes: float


def measure(traces: Sequence[Trace], values: Values) -> Mean:
    """Return a ratio of sums, with the moments of the residuals of clusters."""
    sums: dict[int, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for trace in traces:
        y, d = values(trace)
        sums[trace.cluster][0] += y
        sums[trace.cluster][1] += d
    known = [(y, d) for y, d in sums.values() if d]
    n, total = len(known), sum(d for _, d in known)
    ratio = sum(y for y, _ in known) / total
    rest = [y - ratio * d for y, d in known]
    spread = sum(r * r for r in rest) / (n - 1)
    return Mean(
        ratio,
        n,
        spread / (total / n) ** 2,
        sum(r**3 for r in rest) / n / spread / (total / n) if spread else 0.0,
        total,
    )


def weigh(traces: Sequence[Trace], counts: Callable[[Trace], int], clusters: int) -> float:
    """Return how many times larger a variance is if all outcomes of a session are alike."""
    sums: dict[int, float] = defaultdict(float)
    for trace in traces:
        sums[trace.cluster] += counts(trace)
    total = sum(sums.values())
    mean = total / clusters
    empty = clusters - len(sums)
    spread = sum((n - mean) ** 2 for n in sums.values()) + empty * mean**2
    return max(1.0, clusters * spread / (clusters - 1) / total)


def measure_plain(values: Sequence[float], effect: float) -> Mean:
    """Return a mean of values, of which only a part are independent observations."""
    n = len(values)
    mean = sum(values) / n
    variance = sum((v - mean) ** 2 for v in values) / (n - 1)
    third = sum((v - mean) ** 3 for v in values) / n
    return Mean(mean, int(n / effect), variance, third / variance if variance else 0.0, n)


def difference(
    first: Mean, second: Mean, z_squared: float = Z_SQUARED
) -> tuple[float, float, float]:
    """Return the difference of two means with its interval."""
    gap = second.value - first.value
    weights = [mean.clusters * mean.variance for mean in (first, second)]
    # No value is further from the mean than sqrt(n) standard deviations.
    sizes = [min(abs(m.third), math.sqrt(m.clusters * m.variance)) for m in (first, second)]
    events = sizes[0] * weights[0] + sizes[1] * weights[1]
    size = max(abs(gap), events / sum(weights))
    width = 0.0
    for mean in (first, second):
        missed = (size / mean.clusters) ** 2 / 4
        width += z_squared * (mean.variance / mean.clusters + z_squared * missed)
    return gap, gap - math.sqrt(width), gap + math.sqrt(width)


def quantile(traces: Sequence[Trace], level: float) -> tuple[float, float, float]:
    """Return a quantile of the latency with its interval."""
    latencies = sorted(trace.latency_ms for trace in traces)
    value = percentile(latencies, level)
    below = measure(traces, lambda t: (float(t.latency_ms <= value), 1))
    missed = (below.third / below.clusters) ** 2 / 4
    width = math.sqrt(Z_SQUARED * (below.variance / below.clusters + Z_SQUARED * missed))
    return (
        value,
        percentile(latencies, level - width),
        percentile(latencies, level + width),
    )


def quantile_difference(
    first: Sequence[Trace], second: Sequence[Trace], level: float
) -> tuple[float, float, float]:
    (a, a_low, a_high), (b, b_low, b_high) = quantile(first, level), quantile(second, level)
    gap = b - a
    return gap, gap - math.hypot(b - b_low, a_high - a), gap + math.hypot(b_high - b, a - a_low)


def verdict(low: float, high: float) -> str:
    return "unclear" if low <= 0 <= high else "worse" if low > 0 else "better"


def found_difference(change: Mapping[str, Any]) -> tuple[float, float, float]:
    interval = change["interval"]
    return change["difference"], interval["lower"], interval["upper"]
