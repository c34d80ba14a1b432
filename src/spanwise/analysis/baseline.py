"""What is normal for a metric at this hour, learned from its own past, and how far a value is off.

The centre is a median and the scale a median deviation, so that one bad hour in the past does not
move what is normal. The scale has a floor: without it a metric that never varied would alarm at
the first flicker, and a rate of three requests would count as much as one of three thousand.
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

# Turns a median deviation into a standard deviation, if the values were normal.
_MAD_TO_SIGMA = 1.4826
_LEAST_SHARE = 0.05
_WILSON_Z = 1.96


class Quantity(StrEnum):
    """What a metric measures decides how much it varies by mere chance."""

    COUNT = "count"
    RATE = "rate"
    AMOUNT = "amount"


@dataclass(frozen=True)
class Baseline:
    centre: float
    scale: float

    def score(self, value: float) -> float:
        """How many scales a value lies above (or, negative, below) what is normal."""
        return (value - self.centre) / self.scale

    def at(self, score: float) -> float:
        """The value that has this score: the edge of a band on a chart."""
        return self.centre + score * self.scale


@dataclass(frozen=True)
class Past:
    """What past values have in common, before it is known how many requests are judged by it."""

    centre: float
    spread: float

    @classmethod
    def describe(cls, reference: Sequence[float]) -> "Past | None":
        """Sum up past values; None while there are too few to say what is normal."""
        if len(reference) < MIN_POINTS:
            return None
        centre = median(reference)
        return cls(centre, _MAD_TO_SIGMA * median(abs(value - centre) for value in reference))

    def baseline(self, quantity: Quantity, samples: int = 0) -> Baseline | None:
        """The scale for a value that this many requests are behind: few of them vary more."""
        chance = _chance(self.centre, quantity, samples)
        scale = max(self.spread, _LEAST_SHARE * abs(self.centre), chance)
        return Baseline(self.centre, scale) if scale > 0 else None


def learn(reference: Sequence[float], quantity: Quantity, samples: int = 0) -> Baseline | None:
    """Learn from past values; None while there are too few to say what is normal.

    `samples` is the number of requests behind the value that is going to be judged: a rate of few
    requests varies more.
    """
    past = Past.describe(reference)
    return None if past is None else past.baseline(quantity, samples)


def is_firing(scores: Sequence[float | None], *, was_firing: bool) -> bool:
    """Judge the latest scores, oldest first: start at 4 in three of five, go on until below 2.

    A bucket without data (None) says nothing either way.
    """
    recent = [score for score in scores[-RECENT_BUCKETS:] if score is not None]
    if not recent:
        return was_firing
    if was_firing:
        return recent[-1] >= RECOVER_SCORE
    return sum(score > FIRE_SCORE for score in recent) >= FIRE_BUCKETS


def _chance(centre: float, quantity: Quantity, samples: int) -> float:
    """How much a value at the centre varies by chance alone."""
    match quantity:
        case Quantity.COUNT:
            return math.sqrt(abs(centre))
        case Quantity.RATE:
            return wilson_half_width(centre, samples)
        case Quantity.AMOUNT:
            return 0.0


def wilson_half_width(rate: float, samples: int) -> float:
    """Half the width of the Wilson interval of a rate; a whole half when there is no sample."""
    if samples <= 0:
        return 0.5
    square = _WILSON_Z**2
    spread = rate * (1 - rate) / samples + square / (4 * samples**2)
    return _WILSON_Z * math.sqrt(max(spread, 0.0)) / (1 + square / samples)
