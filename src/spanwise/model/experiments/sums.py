"""Sums over an experiment's units: all that the statistics need from the store."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date

QUANTILE = 0.95
# Levels around the quantile for which the store returns values.
QUANTILE_LEVELS = (0.8, 0.85, 0.88, 0.9, 0.92, 0.93, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99, 0.999)


@dataclass(frozen=True)
class ClusterSums:
    """Sums over the units of one variant.

    Per unit, y is the sum of its outcomes and d their count; x and e are the same before its
    first exposure. A product is named by its factors: yd is the sum of y * d.
    """

    units: int = 0
    history: int = 0
    y: float = 0
    d: float = 0
    yy: float = 0
    dd: float = 0
    yd: float = 0
    x: float = 0
    e: float = 0
    xx: float = 0
    ee: float = 0
    xe: float = 0
    yx: float = 0
    ye: float = 0
    dx: float = 0
    de: float = 0
    yyy: float = 0
    yyd: float = 0
    ydd: float = 0
    ddd: float = 0

    def __add__(self, other: "ClusterSums") -> "ClusterSums":
        return ClusterSums(
            *(getattr(self, f.name) + getattr(other, f.name) for f in fields(ClusterSums))
        )


@dataclass(frozen=True)
class MetricSums:
    """A metric's sums by variant index and day of first exposure.

    Values are relative to `origin`, which lies near their mean: the squares of large, similar
    values would otherwise lose all precision.
    """

    origin: float = 0.0
    by_day: Mapping[tuple[int, date], ClusterSums] = field(default_factory=dict)

    def total(self, variant: int) -> ClusterSums:
        """Return the sums of one variant over all days."""
        days = (sums for (index, _), sums in self.by_day.items() if index == variant)
        return sum(days, ClusterSums())
