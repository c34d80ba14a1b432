"""Which variant a unit gets: decided by a hash alone, so every replica gives the same answer.

Two independent hashes: one says whether a unit is in the experiment, the other which variant it
gets. Raising the traffic only adds units, and never moves one that is in. Test vectors are in
docs/experiments.md; changing this file in a way that moves them would reassign people.
"""

import hashlib
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

_RESOLUTION = 2**64
_ALL_PERCENT = 100


def unit_interval(salt: str, purpose: str, unit_id: str) -> float:
    """Map a unit to [0, 1), evenly, and independently between salts and purposes."""
    # The lengths keep ("a", "bc") and ("ab", "c") apart.
    text = f"{len(salt)}:{salt}|{purpose}|{unit_id}"
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).digest()
    return int.from_bytes(digest[:8]) / _RESOLUTION


def is_in_traffic(salt: str, unit_id: str, traffic_percent: float) -> bool:
    if traffic_percent >= _ALL_PERCENT:
        return True
    return unit_interval(salt, "traffic", unit_id) * _ALL_PERCENT < traffic_percent


def choose_variant(salt: str, unit_id: str, weights: Sequence[float]) -> int:
    """Return the index of the unit's variant; weights need not add up to anything in particular."""
    edges = list(accumulate(weights))
    point = unit_interval(salt, "variant", unit_id) * edges[-1]
    # A weight of zero has no width, so nothing lands on it.
    index = bisect_right(edges, point)
    if index < len(weights):
        return index
    # Rounding must not fall off the end.
    return max(index for index, weight in enumerate(weights) if weight > 0)
