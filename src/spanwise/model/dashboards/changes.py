"""Changes: what differs between two periods, releases, models or other groups of traces."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from spanwise.model.api_model import ApiModel, UtcTime
from spanwise.model.dashboards.queries import Entity
from spanwise.model.experiments.results import Bounds
from spanwise.model.telemetry.filters import FilterCondition, TraceFilter
from spanwise.model.times import BoundedRange

# Traces of a session, else of a user, are in the same of these clusters; others in one by their id.
CLUSTERS = 1024
# Fewer independent observations on one side allow no verdict.
MIN_OBSERVATIONS = 30
MAX_CONTRIBUTORS = 20
# More traces of a side are sampled for times and calls of tools, models and steps.
MAX_PART_TRACES = 200_000
# A side with a greater share of usage without a price has an unknown cost.
MAX_UNPRICED = 0.01
# Shares of an agent that differ by less are the same mix of agents.
MAX_SHARE_DIFFERENCE = 0.1
# A call has one value of these, a trace may have several: their calls are compared, not their
# traces.
CALL_DIMENSIONS = ("model", "provider", "tool")


class ChangeVerdict(StrEnum):
    """`higher` and `lower` are for measures of which neither is better.

    `unclear`: chance explains the difference. `tooFew`: there are too few observations. `noData`: a
    side has none. `unpriced`: a side has usage without a price, so its cost is not known.
    `incomparable`: the sides have different agents, which may be the reason of any difference.
    """

    BETTER = "better"
    WORSE = "worse"
    HIGHER = "higher"
    LOWER = "lower"
    UNCLEAR = "unclear"
    TOO_FEW = "tooFew"
    NO_DATA = "noData"
    UNPRICED = "unpriced"
    INCOMPARABLE = "incomparable"


class Preferred(StrEnum):
    """Which direction of a measure is better."""

    LOWER = "lower"
    NEITHER = "neither"


class Change(ApiModel):
    """A measure on both sides, and the difference (candidate minus baseline) with its interval.

    The relative difference is null for a baseline of zero. Samples are traces, calls, tool calls or
    signals; observations are how many of them are independent: 30 are needed on both sides.
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
    baseline_observations: int
    candidate_observations: int


class Contributor(Change):
    """A change among the traces or calls with one value of a dimension, such as a model or a tool.

    `explains` is the measure whose difference is partly due to it, and `explained` its share of
    that difference. Of a time per trace, calls are the mean number of calls per trace.
    """

    dimension: str
    value: str
    baseline_calls: float | None = None
    candidate_calls: float | None = None
    explains: str | None = None
    explained: float | None = None


class ChangeSide(ApiModel):
    """`value` is null when periods are compared, and `calls` when traces are.

    `unpriced` is the number of its traces or calls whose usage has no price. `similar` are values
    that exist, if there is nothing with this one.
    """

    value: str | None
    start_date: UtcTime
    end_date: UtcTime
    traces: int
    calls: int | None
    unpriced: int
    unpriced_models: list[str]
    similar: list[str]


class AgentShare(ApiModel):
    """The shares of an agent in the traces or calls of both sides."""

    agent: str
    baseline: float
    candidate: float


class Mix(StrEnum):
    """Whether both sides have the same agents, in about the same shares."""

    SAME = "same"
    DIFFERENT = "different"
    DISJOINT = "disjoint"


class AgentMix(ApiModel):
    """Unless the mix is the same, there are no verdicts. The agents of most traces come first."""

    mix: Mix
    agents: list[AgentShare]


class Changes(ApiModel):
    """`of` says whether traces or calls were compared; `agents` is null when periods or agents are.

    `tested` is the number of possible contributors, for which their intervals are widened.
    """

    dimension: str | None
    of: Entity
    baseline: ChangeSide
    candidate: ChangeSide
    agents: AgentMix | None
    measures: list[Change]
    contributors: list[Contributor]
    tested: int


@dataclass(frozen=True)
class SideQuery:
    """The traces of one side: those of a period that match a filter."""

    value: str | None
    period: BoundedRange
    filters: TraceFilter


@dataclass(frozen=True)
class ChangesQuery:
    dimension: str | None
    baseline: SideQuery
    candidate: SideQuery

    @property
    def of(self) -> Entity:
        return Entity.SPANS if self.dimension in CALL_DIMENSIONS else Entity.TRACES

    def value_of(self, side: SideQuery) -> FilterCondition | None:
        """Return the condition that a trace or call has the value of a side."""
        if self.dimension is None:
            return None
        return FilterCondition(field=self.dimension, value=side.value)


Array = npt.NDArray[np.float64]
# Sums by cluster, by name.
Sums = Mapping[str, Array]
# A dimension and a value of it.
GroupKey = tuple[str, str]


# Sums of powers 1, 2 and 3 of the values of all outcomes.
Powers = tuple[float, float, float]
NO_POWERS: Powers = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class GroupSums:
    """Sums over the traces or calls with one value of a dimension.

    Costs are those of the outcomes that are not `unpriced`.
    """

    outcomes: int
    errors: int = 0
    calls: int = 0
    latency_powers: Powers = NO_POWERS
    cost_powers: Powers = NO_POWERS
    unpriced: int = 0


@dataclass(frozen=True)
class PartSums:
    """Calls of a tool, model or step, and their time in milliseconds, per sampled trace."""

    call_powers: Powers = NO_POWERS
    time_powers: Powers = NO_POWERS


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
    """What is read of one side. Its outcomes are its traces, or its calls."""

    query: SideQuery
    totals: Sums
    latencies: Latencies
    groups: Mapping[GroupKey, GroupSums]
    # By tool.
    failed_calls: Mapping[str, int]
    signals: Mapping[str, Sums]
    unpriced_models: Sequence[str] = ()
    # Those of all traces, or of as many as `sampled` says.
    parts: Mapping[GroupKey, PartSums] = field(default_factory=dict)
    sampled: int = 0

    @property
    def outcomes(self) -> int:
        return int(self.totals["outcomes"].sum())

    @property
    def traces(self) -> int:
        return int(self.totals["traces"].sum())

    @property
    def unpriced(self) -> int:
        return int(self.totals["unpriced"].sum())

    @property
    def days(self) -> float:
        period = self.query.period
        return max((period.end - period.start).total_seconds(), 1.0) / 86_400
