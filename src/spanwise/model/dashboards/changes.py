"""Changes: what differs between two periods, releases, models or other groups of traces."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from spanwise.model.api_model import ApiModel, UtcTime
from spanwise.model.experiments.results import Bounds
from spanwise.model.telemetry.filters import TraceFilter
from spanwise.model.times import BoundedRange

# Traces of a session, else of a user, are in the same of these clusters; others in one by their id.
CLUSTERS = 1024
# Fewer independent observations on one side allow no verdict.
MIN_OBSERVATIONS = 30
MAX_CONTRIBUTORS = 20


class ChangeVerdict(StrEnum):
    """`higher` and `lower` are for measures of which neither is better.

    `unclear`: chance explains the difference. `tooFew`: there are too few observations.
    """

    BETTER = "better"
    WORSE = "worse"
    HIGHER = "higher"
    LOWER = "lower"
    UNCLEAR = "unclear"
    TOO_FEW = "tooFew"


class Preferred(StrEnum):
    """Which direction of a measure is better."""

    LOWER = "lower"
    NEITHER = "neither"


class Change(ApiModel):
    """A measure on both sides, and the difference (candidate minus baseline) with its interval.

    The relative difference is null for a baseline of zero. Samples are traces, tool calls or
    signals.
    """

    measure: str
    preferred: Preferred
    baseline: float | None
    candidate: float | None
    difference: float | None
    interval: Bounds | None
    relative_difference: float | None
    relative_interval: Bounds | None
    verdict: ChangeVerdict
    baseline_samples: int
    candidate_samples: int


class Contributor(Change):
    """A change among the traces with one value of a dimension, such as a model or a tool."""

    dimension: str
    value: str


class ChangeSide(ApiModel):
    """`value` is null when periods are compared."""

    value: str | None
    start_date: UtcTime
    end_date: UtcTime
    traces: int


class Changes(ApiModel):
    """`tested` is the number of possible contributors, for which their intervals are widened."""

    dimension: str | None
    baseline: ChangeSide
    candidate: ChangeSide
    measures: list[Change]
    contributors: list[Contributor]
    tested: int


@dataclass(frozen=True)
class SideQuery:
    """The traces of one side: those of a period that match a filter."""

    value: str | None
    period: BoundedRange
    wanted: TraceFilter


@dataclass(frozen=True)
class ChangesQuery:
    dimension: str | None
    baseline: SideQuery
    candidate: SideQuery


Array = npt.NDArray[np.float64]
# Sums by cluster, by name.
Sums = Mapping[str, Array]
# A dimension and a value of it.
GroupKey = tuple[str, str]


@dataclass(frozen=True)
class GroupSums:
    """Sums over the traces with one value of a dimension; powers are of 1, 2 and 3."""

    traces: int
    errors: int = 0
    calls: int = 0
    latency_powers: tuple[float, float, float] = (0.0, 0.0, 0.0)
    cost_powers: tuple[float, float, float] = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Latencies:
    """The latency of every trace in milliseconds, and its cluster."""

    values: Array
    clusters: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Quantile:
    """A quantile of one side with its 95 % interval; None for a bound that the data has not."""

    value: float
    lower: float | None
    upper: float | None


@dataclass(frozen=True)
class SideSums:
    """What is read of one side."""

    query: SideQuery
    totals: Sums
    latencies: Latencies
    groups: Mapping[GroupKey, GroupSums]
    # By tool.
    failed_calls: Mapping[str, int]
    signals: Mapping[str, Sums]

    @property
    def traces(self) -> int:
        return int(self.totals["traces"].sum())

    @property
    def days(self) -> float:
        period = self.query.period
        return max((period.end - period.start).total_seconds(), 1.0) / 86_400
