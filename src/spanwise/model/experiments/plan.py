"""The plan of an experiment: how many units and days a lift needs to be found."""

from dataclasses import dataclass

from spanwise.model.api_model import ApiModel
from spanwise.model.experiments.definition import TraceMetric


class ExperimentPlan(ApiModel):
    """Measured on the users of the last 28 days: sessions or traces count where users are unknown.

    `units_per_variant` is null if there is no data, or if more than a billion would be needed.
    """

    baseline: float | None
    units: int
    units_per_day: float
    units_per_variant: int | None
    days: float | None


@dataclass(frozen=True)
class PlanRequest:
    """The lift to find, relative to the control; of a signal if that is named."""

    metric: TraceMetric
    signal_name: str | None
    agent_name: str | None
    lift: float
    variants: int


@dataclass(frozen=True)
class UnitMeans:
    """A metric per unit: the number of units, their mean and variance, and units per day."""

    units: int
    mean: float
    variance: float
    units_per_day: float
