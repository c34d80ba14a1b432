"""Estimates quantiles from the buckets of histograms."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Bucket:
    """The number of values above `lower`, up to and including `upper`."""

    lower: float
    upper: float
    count: float


def estimate_quantile(buckets: Iterable[Bucket], quantile: float) -> float | None:
    """Interpolate a quantile, with the values of each bucket spread evenly; None without values.

    Buckets may overlap: those of histograms with other bounds are simply added. Of the first and
    the last bucket, which are open, only the inner bound is known.
    """
    closed = [_close(bucket) for bucket in buckets if bucket.count > 0]
    total = sum(bucket.count for bucket in closed)
    if not total or any(not math.isfinite(bucket.lower + bucket.upper) for bucket in closed):
        return None
    edges = sorted({edge for bucket in closed for edge in (bucket.lower, bucket.upper)})
    positions = {edge: index for index, edge in enumerate(edges)}
    at_edge, between = _spread(closed, positions)
    rank, seen = quantile * total, 0.0
    for index, edge in enumerate(edges):
        seen += at_edge[index]
        if seen >= rank:
            return edge
        if index + 1 == len(edges):
            break
        inside = between[index]
        if inside > 0 and seen + inside >= rank:
            return edge + (edges[index + 1] - edge) * (rank - seen) / inside
        seen += inside
    # Reached only when rounding leaves a little of the total unseen.
    return edges[-1]


def _spread(
    buckets: Sequence[Bucket], positions: dict[float, int]
) -> tuple[list[float], list[float]]:
    """Return how many values lie at each edge, and how many between it and the next."""
    edges = list(positions)
    at_edge = [0.0] * len(edges)
    density_changes = [0.0] * (len(edges) + 1)
    counts = [0.0] * len(edges)
    single: dict[int, float] = {}
    for bucket in buckets:
        first, last = positions[bucket.lower], positions[bucket.upper]
        if first == last:
            at_edge[first] += bucket.count
        elif last == first + 1:
            single[first] = single.get(first, 0.0) + bucket.count
        else:
            density = bucket.count / (bucket.upper - bucket.lower)
            density_changes[first] += density
            density_changes[last] -= density
    density = 0.0
    for index in range(len(edges) - 1):
        density += density_changes[index]
        spread = max(density, 0.0) * (edges[index + 1] - edges[index])
        counts[index] = spread + single.get(index, 0.0)
    return at_edge, counts


def _close(bucket: Bucket) -> Bucket:
    """Replace infinite bounds; a histogram of positive numbers is assumed to begin at 0."""
    lower, upper = bucket.lower, bucket.upper
    if lower == -math.inf:
        lower = 0.0 if 0 < upper < math.inf else upper
    if upper == math.inf:
        upper = lower
    return Bucket(lower, upper, bucket.count)
