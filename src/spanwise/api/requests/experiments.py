"""Request bodies of the experiment routes and their validation."""

from collections.abc import Sequence
from typing import Annotated, Any, Self

from pydantic import Field, StringConstraints, field_validator, model_validator

from spanwise.api.requests.fields import LongText, Name
from spanwise.ingest.rest_bodies import JsonObject, Number
from spanwise.model.api_model import ApiModel
from spanwise.model.experiments.definition import (
    DEFAULT_METRICS,
    Direction,
    ExperimentMetric,
    MetricSource,
    TraceMetric,
    Variant,
)

MIN_VARIANTS, MAX_VARIANTS = 2, 10
MAX_METRICS = 20
MAX_UNITS = 1000

# No control characters, because a key is also a label and the value of a flag.
Key = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[^\x00-\x1f\x7f]+$")]
SignalName = Annotated[str, StringConstraints(min_length=1, max_length=128)]
UnitId = Annotated[str, StringConstraints(min_length=1, max_length=512, pattern=r"^[^\x00]+$")]
Percent = Annotated[Number, Field(ge=0, le=100)]

_LOWER_IS_BETTER = {
    TraceMetric.LATENCY,
    TraceMetric.P95_LATENCY,
    TraceMetric.COST,
    TraceMetric.TOKENS,
}


class NewVariant(ApiModel):
    key: Key
    name: Name | None = None
    weight: Annotated[Number, Field(ge=0, le=1e9)] = 1
    config: JsonObject = Field(default_factory=dict)

    def to_variant(self) -> Variant:
        return Variant(
            key=self.key, name=self.name or self.key, weight=self.weight, config=self.config
        )


class NewMetric(ApiModel):
    """A trace metric has `metric`, a signal metric has `signalName`."""

    key: Key | None = None
    source: MetricSource = MetricSource.TRACE
    metric: TraceMetric | None = None
    signal_name: SignalName | None = None
    direction: Direction | None = None
    primary: Annotated[bool, Field(strict=True)] = False

    @model_validator(mode="after")
    def _require_metric_or_signal(self) -> Self:
        if self.source is MetricSource.TRACE and self.metric is None:
            raise ValueError(
                f"needs a metric, one of {', '.join(TraceMetric)}; "
                "or the source signal and a signalName"
            )
        if self.source is MetricSource.SIGNAL and self.signal_name is None:
            raise ValueError("needs a signalName, since its source is signal")
        return self

    def to_metric(self) -> ExperimentMetric:
        is_trace = self.source is MetricSource.TRACE
        default = Direction.DECREASE if self.metric in _LOWER_IS_BETTER else Direction.INCREASE
        return ExperimentMetric(
            key=self.effective_key,
            source=self.source,
            metric=self.metric if is_trace else None,
            signal_name=None if is_trace else self.signal_name,
            direction=self.direction or (default if is_trace else Direction.INCREASE),
            primary=self.primary,
        )

    @property
    def effective_key(self) -> str:
        named = self.metric if self.source is MetricSource.TRACE else self.signal_name
        return self.key or str(named)


Variants = Annotated[list[NewVariant], Field(min_length=MIN_VARIANTS, max_length=MAX_VARIANTS)]
Metrics = Annotated[list[NewMetric], Field(min_length=1, max_length=MAX_METRICS)]


def _check_variants(variants: Sequence[NewVariant]) -> None:
    _reject_duplicates([variant.key for variant in variants])
    if sum(variant.weight for variant in variants) == 0:
        raise ValueError("at least one weight must be above zero")
    types = {variant.key: variant.to_variant().flag_type for variant in variants}
    if len(set(types.values())) > 1:
        shown = ", ".join(f"{key}: {kind}" for key, kind in types.items())
        raise ValueError(
            "a flag must have one type: give every variant a config, or none, and values of the "
            f"same JSON type (found {shown})"
        )


def _reject_duplicates(keys: Sequence[str]) -> None:
    duplicates = sorted({key for key in keys if keys.count(key) > 1})
    if duplicates:
        raise ValueError(f"the key {duplicates[0]!r} occurs more than once")


class NewExperiment(ApiModel):
    """The first variant is the control."""

    name: Name
    description: LongText | None = None
    hypothesis: LongText | None = None
    agent_id: Annotated[LongText, StringConstraints(max_length=512)] | None = None
    variants: Variants
    metrics: Metrics | None = None
    traffic_percent: Percent = 100

    @field_validator("variants")
    @classmethod
    def _validate_variants(cls, variants: list[NewVariant]) -> list[NewVariant]:
        _check_variants(variants)
        return variants

    @field_validator("metrics")
    @classmethod
    def _validate_metric_keys(cls, metrics: list[NewMetric] | None) -> list[NewMetric] | None:
        _reject_duplicates([metric.effective_key for metric in metrics or ()])
        return metrics

    def to_fields(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "description": self.description,
            "hypothesis": self.hypothesis,
            "agent_id": self.agent_id,
            "variants": [variant.to_variant() for variant in self.variants],
            "metrics": to_metrics(self.metrics),
            "traffic_percent": self.traffic_percent,
        }


class ExperimentChange(ApiModel):
    """Only the given fields change."""

    name: Name | None = None
    description: LongText | None = None
    hypothesis: LongText | None = None
    agent_id: Annotated[LongText, StringConstraints(max_length=512)] | None = None
    variants: Variants | None = None
    metrics: Metrics | None = None
    traffic_percent: Percent | None = None

    @field_validator("name", "variants", "metrics", "traffic_percent")
    @classmethod
    def _reject_null(cls, value: Any) -> Any:  # noqa: ANN401 -- runs for several types
        if value is None:
            raise ValueError("must not be null")
        return value

    @field_validator("variants")
    @classmethod
    def _validate_variants(cls, variants: list[NewVariant]) -> list[NewVariant]:
        _check_variants(variants)
        return variants

    @field_validator("metrics")
    @classmethod
    def _validate_metric_keys(cls, metrics: list[NewMetric]) -> list[NewMetric]:
        _reject_duplicates([metric.effective_key for metric in metrics])
        return metrics

    def to_fields(self) -> dict[str, Any]:
        fields: dict[str, Any] = {name: getattr(self, name) for name in self.model_fields_set}
        if self.variants is not None:
            fields["variants"] = [variant.to_variant() for variant in self.variants]
        if self.metrics is not None:
            fields["metrics"] = to_metrics(self.metrics)
        return fields


class ExperimentStart(ApiModel):
    """Resuming a paused experiment may raise the traffic, never lower it."""

    traffic_percent: Percent | None = None


class ExperimentStop(ApiModel):
    winner: Key | None = None


class UnitBatch(ApiModel):
    unit_ids: Annotated[list[UnitId], Field(min_length=1, max_length=MAX_UNITS)]


def to_metrics(given: Sequence[NewMetric] | None) -> list[ExperimentMetric]:
    """Apply the defaults; when no metric is marked as primary, the first is."""
    metrics = DEFAULT_METRICS if given is None else [metric.to_metric() for metric in given]
    if not any(metric.primary for metric in metrics):
        metrics = [metrics[0].model_copy(update={"primary": True}), *metrics[1:]]
    return metrics
