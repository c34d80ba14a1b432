"""What came of an experiment, so far."""

from enum import StrEnum

from spanwise.model.experiments.definition import Direction, ExperimentStatus
from spanwise.model.record import Noun


class Decision(StrEnum):
    KEEP_RUNNING = "keep_running"
    SHIP = "ship"
    NO_DIFFERENCE = "no_difference"
    INVALID = "invalid"


class Bounds(Noun):
    lower: float
    upper: float


class VariantUnits(Noun):
    """How many units a variant has, and which share of all it has and should have."""

    variant: str
    units: int
    share: float | None
    expected_share: float


class SampleRatio(Noun):
    """Whether units were split as the weights say; a mismatch means that something is broken."""

    p_value: float | None
    ok: bool


class VariantResult(Noun):
    """A metric of one variant; what cannot be told is null, and `reason` says why."""

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


class VariantPoint(Noun):
    variant: str
    units: int
    mean: float | None
    lift: float | None
    lift_ci: Bounds | None


class TrendPoint(Noun):
    """The comparison over the units that were first assigned by the end of the day."""

    date: str
    variants: list[VariantPoint]


class Cuped(Noun):
    """What knowing the units' earlier behaviour took off the variance."""

    theta: float
    variance_reduction: float
    units_with_history: int


class MetricResult(Noun):
    key: str
    direction: Direction
    primary: bool
    variants: list[VariantResult]
    cuped: Cuped | None
    trend: list[TrendPoint]


class Verdict(Noun):
    decision: Decision
    variant: str | None
    reason: str


class Forecast(Noun):
    """How long it would take at the present rate to find a difference of this size."""

    lift: float
    units_needed: int
    units_per_day: float
    days: float


class ExperimentResults(Noun):
    experiment_id: str
    status: ExperimentStatus
    units: int
    excluded_units: int
    per_variant: list[VariantUnits]
    srm: SampleRatio
    metrics: list[MetricResult]
    verdict: Verdict
    forecast: Forecast | None
