"""Experiments: which version of something is better, by letting chance decide who gets which."""

from enum import StrEnum
from types import NoneType
from typing import Any

from spanwise.model.record import Noun, UtcTime


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
    """Which way is better."""

    INCREASE = "increase"
    DECREASE = "decrease"


class Variant(Noun):
    """One version. `config` is handed to whoever gets it."""

    key: str
    name: str
    weight: float
    config: dict[str, Any]

    @property
    def flag_value(self) -> Any:  # noqa: ANN401 -- any JSON
        """What a flag returns: the config's `value`, or else the config."""
        return self.config.get("value", self.config)

    @property
    def flag_type(self) -> str:
        """The type of that value, as a reader of JSON names it."""
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


class Metric(Noun):
    """What is compared: a number of traces, or the values of a signal."""

    key: str
    source: MetricSource
    metric: TraceMetric | None
    signal_name: str | None
    direction: Direction
    primary: bool


class Experiment(Noun):
    """The first variant is the control."""

    id: str
    name: str
    description: str | None
    hypothesis: str | None
    agent_id: str | None
    status: ExperimentStatus
    variants: list[Variant]
    metrics: list[Metric]
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
        """What a flag returns for a variant: one type for all variants, or else their keys."""
        [kind, *others] = {variant.flag_type for variant in self.variants}
        if others or kind == "missing":
            return key
        return next(variant.flag_value for variant in self.variants if variant.key == key)


class Assignment(Noun):
    experiment_id: str
    unit_id: str
    variant: str
    config: dict[str, Any]
    in_experiment: bool
    assigned_at: UtcTime


DEFAULT_METRICS = [
    Metric(
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
