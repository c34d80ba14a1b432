"""Definition of an experiment: variants, metrics, status, and assignments of units."""

from enum import StrEnum
from types import NoneType
from typing import Any

from pydantic import ConfigDict

from spanwise.model.api_model import ApiModel, UtcTime


class ExperimentStatus(StrEnum):
    DRAFT = "draft"
    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"


class MetricSource(StrEnum):
    TRACE = "trace"
    SIGNAL = "signal"


class TraceMetric(StrEnum):
    SUCCESS_RATE = "successRate"
    LATENCY = "latency"
    P95_LATENCY = "p95Latency"
    COST = "cost"
    TOKENS = "tokens"


class Direction(StrEnum):
    """The direction of improvement."""

    INCREASE = "increase"
    DECREASE = "decrease"


class Variant(ApiModel):
    """One variant. `config` is returned with every assignment to it."""

    key: str
    name: str
    weight: float
    config: dict[str, Any]

    @property
    def flag_value(self) -> Any:  # noqa: ANN401 -- any JSON
        """The value of a feature flag: the config's `value`, else the whole config."""
        return self.config.get("value", self.config)

    @property
    def flag_type(self) -> str:
        """The JSON type of the flag value; `missing` without a config."""
        return _JSON_TYPES[type(self.flag_value)] if self.config else "missing"


_JSON_TYPES = {
    dict: "object",
    list: "array",
    str: "string",
    bool: "boolean",
    int: "number",
    float: "number",
    NoneType: "null",
}


class ExperimentMetric(ApiModel):
    """A metric to compare: a trace metric, or the values of a signal."""

    # Keep the schema name of the OpenAPI document.
    __qualname__ = "Metric"
    __module__ = "spanwise.model.experiments"
    model_config = ConfigDict(title="Metric")

    key: str
    source: MetricSource
    metric: TraceMetric | None
    signal_name: str | None
    direction: Direction
    primary: bool


class Experiment(ApiModel):
    """The first variant is the control."""

    id: str
    name: str
    description: str | None
    hypothesis: str | None
    agent_id: str | None
    status: ExperimentStatus
    variants: list[Variant]
    metrics: list[ExperimentMetric]
    traffic_percent: float
    created_at: UtcTime
    started_at: UtcTime | None
    paused_at: UtcTime | None
    stopped_at: UtcTime | None
    winner: str | None

    @property
    def control(self) -> Variant:
        return self.variants[0]

    def flag_value_of(self, key: str) -> Any:  # noqa: ANN401 -- any JSON
        """Return a variant's flag value, or its key unless all values have the same type."""
        [kind, *others] = {variant.flag_type for variant in self.variants}
        if others or kind == "missing":
            return key
        return next(variant.flag_value for variant in self.variants if variant.key == key)


class Assignment(ApiModel):
    experiment_id: str
    unit_id: str
    variant: str
    config: dict[str, Any]
    in_experiment: bool
    assigned_at: UtcTime


DEFAULT_METRICS = [
    ExperimentMetric(
        key=metric,
        source=MetricSource.TRACE,
        metric=metric,
        signal_name=None,
        direction=direction,
        primary=metric is TraceMetric.SUCCESS_RATE,
    )
    for metric, direction in (
        (TraceMetric.SUCCESS_RATE, Direction.INCREASE),
        (TraceMetric.LATENCY, Direction.DECREASE),
        (TraceMetric.COST, Direction.DECREASE),
    )
]
