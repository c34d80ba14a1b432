"""Synthetic traffic of one agent, minute by minute, the same for the same seed."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spanwise.model.alerts import Window

MINUTE = 60
DAY_MINUTES = 1440
# A Monday, 00:00 UTC.
ORIGIN = 1_767_571_200

Floats = NDArray[np.float64]


@dataclass
class Traffic:
    """Requests, errors, summed latency and p95 latency of every minute."""

    requests: Floats
    errors: Floats
    latency: Floats
    tail: Floats

    def __post_init__(self) -> None:
        columns = (self.requests, self.errors, self.latency, self.tail * self.requests)
        table = np.stack(columns, axis=1)
        # Cumulative sums per minute: a window is the difference of two of them.
        self._cumulative = [(0.0, 0.0, 0.0, 0.0), *map(tuple, np.cumsum(table, axis=0).tolist())]

    def window(self, end: int, minutes: int) -> Window:
        """Aggregate the minutes before the minute with this number."""
        first, last = self._cumulative[max(end - minutes, 0)], self._cumulative[end]
        requests, errors, latency, tail = (b - a for a, b in zip(first, last, strict=True))
        samples = round(requests)
        if samples == 0:
            return Window()
        return Window(
            samples,
            {
                "errorRate": errors / samples,
                "avgLatency": latency / samples,
                "p95": tail / samples,
                "cost": samples * 0.01,
                "totalTokens": samples * 100.0,
            },
        )

    def windows(self, minutes: int, first: int = 0) -> Iterator[tuple[int, Window]]:
        for end in range(first + 1, len(self.requests) + 1):
            yield ORIGIN + end * MINUTE, self.window(end, minutes)

    def buckets(self, minutes: int) -> dict[int, Window]:
        starts = range(0, len(self.requests) - minutes + 1, minutes)
        return {ORIGIN + start * MINUTE: self.window(start + minutes, minutes) for start in starts}


def make_traffic(
    days: int,
    seed: int,
    *,
    per_minute: float = 300,
    error_rate: float = 0.03,
    daily: float = 0.6,
    weekend: float = 0.5,
    latency_daily: float = 0.25,
) -> Traffic:
    """Return traffic with daily and weekly seasons and random noise."""
    random = np.random.default_rng(seed)
    minutes = np.arange(days * DAY_MINUTES)
    wave = np.sin(2 * np.pi * (minutes / DAY_MINUTES - 0.375))
    is_weekend = minutes // DAY_MINUTES % 7 >= 5
    expected = per_minute * (1 + daily * wave) * np.where(is_weekend, weekend, 1.0)
    requests = random.poisson(expected).astype(float)
    level = 800 * (1 + latency_daily * wave) * np.where(is_weekend, 0.9, 1.0)
    chance = random.standard_normal(len(minutes)) / np.sqrt(np.maximum(requests, 1))
    tail_chance = random.standard_normal(len(minutes)) / np.sqrt(np.maximum(requests, 1))
    return Traffic(
        requests=requests,
        errors=random.binomial(requests.astype(int), error_rate).astype(float),
        latency=requests * level * np.maximum(1 + 0.6 * chance, 0.1),
        tail=2.2 * level * np.maximum(1 + 1.8 * tail_chance, 0.1),
    )


def disturb(traffic: Traffic, first: int, last: int | None = None, **factors: Any) -> Traffic:
    """Return the same traffic with some columns multiplied from one minute to another."""
    changed = {field.name: getattr(traffic, field.name).copy() for field in fields(traffic)}
    for name, factor in factors.items():
        changed[name][first:last] *= factor
    return Traffic(**changed)
