"""Plans an experiment: how many units a lift needs to be found."""

import math

from spanwise.analysis.comparison import ALPHA, critical_score_squared

# The normal quantile of a power of 80 %.
_POWER_SCORE = 0.8416
MAX_UNITS = 10**9


def plan_units(mean: float, variance: float, lift: float, variants: int) -> int | None:
    """Return the units per variant with which a lift becomes significant in four of five cases.

    The test is the sequential one of the results, so looking early costs nothing. Every variant is
    compared with the control, which the level is divided by. None if more than a billion would be
    needed.
    """
    gap = abs(lift * mean)
    if gap == 0 or not math.isfinite(gap) or variance < 0:
        return None
    alpha = ALPHA / (variants - 1)

    def is_enough(units: int) -> bool:
        needed = math.sqrt(critical_score_squared(2 * units, alpha)) + _POWER_SCORE
        return gap >= needed * math.sqrt(2 * variance / units)

    low, high = 1, 2
    while not is_enough(high):
        low, high = high, high * 2
        if high > MAX_UNITS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high
