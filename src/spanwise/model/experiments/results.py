"""Results of an experiment, running or stopped."""

from enum import StrEnum

from spanwise.model.api_model import ApiModel
from spanwise.model.experiments.definition import Direction, ExperimentStatus


class Decision(StrEnum):
    KEEP_RUNNING = "keep_running"
    SHIP = "ship"
    NO_DIFFERENCE = "no_difference"
    INVALID = "invalid"


class Bounds(ApiModel):
    lower: float
    upper: float


class VariantUnits(ApiModel):
    """Units of a variant, with its actual and expected share."""

    variant: str
    units: int
    share: float | None
    expected_share: float


class SampleRatio(ApiModel):
    """Sample-ratio check: whether units are split by the weights. A mismatch indicates a bug."""

    p_value: float | None
    ok: bool


class VariantResult(ApiModel):
    """A metric of one variant; unknown values are null, and `reason` says why."""

    variant: str
    units: int
    mean: float | None
    stddev: float | None
    ci: Bounds | None
    lift: float | None
    lift_ci: Bounds | None
    p_value: float | None
    adjusted_p_value: float | None
    chance_to_win: float | None
    significant: bool
    reason: str | None


class VariantPoint(ApiModel):
    variant: str
    units: int
    mean: float | None
    lift: float | None
    lift_ci: Bounds | None


class TrendPoint(ApiModel):
    """The comparison over all units first exposed by the end of that day."""

    date: str
    variants: list[VariantPoint]


class Cuped(ApiModel):
    """Variance reduction from the units' values before the experiment (CUPED)."""

    theta: float
    variance_reduction: float
    units_with_history: int


class MetricResult(ApiModel):
    key: str
    direction: Direction
    primary: bool
    variants: list[VariantResult]
    cuped: Cuped | None
    trend: list[TrendPoint]


class Verdict(ApiModel):
    decision: Decision
    variant: str | None
    reason: str


class Forecast(ApiModel):
    """Time needed at the current rate to detect a lift of this size."""

    lift: float
    units_needed: int
    units_per_day: float
    days: float


class ExperimentResults(ApiModel):
    experiment_id: str
    status: ExperimentStatus
    units: int
    excluded_units: int
    per_variant: list[VariantUnits]
    srm: SampleRatio
    metrics: list[MetricResult]
    verdict: Verdict
    forecast: Forecast | None
