"""Assigns variants to units by hashing, without state, so every replica gives the same answer.

Two independent hashes decide whether a unit is in the experiment and which variant it gets, so more
traffic adds units and never changes the variant of one. docs/experiments.md has test vectors;
changing the hash would reassign units of running experiments.
"""

import hashlib
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

_RESOLUTION = 2**64
_ALL_PERCENT = 100


def hash_to_unit_interval(salt: str, purpose: str, unit_id: str) -> float:
    """Map a unit to [0, 1), uniformly, and independently for each salt and purpose."""
    # With the salt's length, different salts and units cannot give the same text.
    text = f"{len(salt)}:{salt}|{purpose}|{unit_id}"
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).digest()
    return int.from_bytes(digest[:8]) / _RESOLUTION


def is_in_traffic(salt: str, unit_id: str, traffic_percent: float) -> bool:
    if traffic_percent >= _ALL_PERCENT:
        return True
    return hash_to_unit_interval(salt, "traffic", unit_id) * _ALL_PERCENT < traffic_percent


def choose_variant(salt: str, unit_id: str, weights: Sequence[float]) -> int:
    """Return the index of the unit's variant; weights of any sum are relative."""
    edges = list(accumulate(weights))
    point = hash_to_unit_interval(salt, "variant", unit_id) * edges[-1]
    # A variant of weight zero has an empty range and is never chosen.
    index = bisect_right(edges, point)
    if index < len(weights):
        return index
    # Rounding can put the point on the last edge.
    return max(index for index, weight in enumerate(weights) if weight > 0)
