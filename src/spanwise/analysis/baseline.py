"""Robust baselines for anomaly rules: the normal value of a metric, and how far a value is off.

The center is a median and the scale a median absolute deviation, so one bad hour does not shift the
baseline. The scale has a floor: without it a constant metric would fire at the smallest change, and
a rate over three requests would count as much as one over three thousand.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

MIN_POINTS = 12
FIRE_SCORE = 4.0
RECOVER_SCORE = 2.0
FIRE_BUCKETS = 3
RECENT_BUCKETS = 5

# Converts a median absolute deviation into a standard deviation of normal values.
_MAD_TO_SIGMA = 1.4826
_MIN_RELATIVE_SCALE = 0.05
_WILSON_Z = 1.96


class Quantity(StrEnum):
    """The kind of a metric, which determines its random variation."""

    COUNT = "count"
    RATE = "rate"
    AMOUNT = "amount"


@dataclass(frozen=True)
class Baseline:
    center: float
    scale: float

    def score(self, value: float) -> float:
        """Return how many scales a value is above the center; negative when below."""
        return (value - self.center) / self.scale

    def at(self, score: float) -> float:
        """Return the value that has this score."""
        return self.center + score * self.scale


@dataclass(frozen=True)
class History:
    """Center and spread of past values; a baseline also needs the sample size of the new value."""

    center: float
    spread: float

    @classmethod
    def summarize(cls, reference: Sequence[float]) -> "History | None":
        """Summarize past values; None when there are too few of them."""
        if len(reference) < MIN_POINTS:
            return None
        center = median(reference)
        return cls(center, _MAD_TO_SIGMA * median(abs(value - center) for value in reference))

    def baseline(self, quantity: Quantity, samples: int = 0) -> Baseline | None:
        """Return the baseline for a value over this many requests: fewer requests vary more."""
        noise = _random_variation(self.center, quantity, samples)
        scale = max(self.spread, _MIN_RELATIVE_SCALE * abs(self.center), noise)
        return Baseline(self.center, scale) if scale > 0 else None


def is_firing(scores: Sequence[float | None]) -> bool:
    """Return whether three of the latest five scores are above 4; None means no data."""
    recent = [score for score in scores[-RECENT_BUCKETS:] if score is not None]
    return sum(score > FIRE_SCORE for score in recent) >= FIRE_BUCKETS


def _random_variation(center: float, quantity: Quantity, samples: int) -> float:
    """Return the standard deviation that a value at the center has by chance."""
    match quantity:
        case Quantity.COUNT:
            return math.sqrt(abs(center))
        case Quantity.RATE:
            return wilson_half_width(center, samples)
        case Quantity.AMOUNT:
            return 0.0


def wilson_half_width(rate: float, samples: int) -> float:
    """Return half the width of the Wilson interval of a rate; 0.5 without samples."""
    if samples <= 0:
        return 0.5
    square = _WILSON_Z**2
    spread = rate * (1 - rate) / samples + square / (4 * samples**2)
    return _WILSON_Z * math.sqrt(max(spread, 0.0)) / (1 + square / samples)
