"""OTLP metrics: metric metadata, queries and their results."""

from dataclasses import dataclass
from enum import StrEnum

from spanwise.model.api_model import ApiModel, UtcTime
from spanwise.model.telemetry.filters import FilterCondition
from spanwise.model.times import BoundedRange, Granularity

# OpenTelemetry's limit for the names of instruments.
MAX_METRIC_NAME = 255
MAX_GROUP_KEYS = 3
# The attribute of a masked point that keeps its series apart from others.
MASKED_SERIES = "spanwise.series"


class MetricType(StrEnum):
    SUM = "sum"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"
    EXPONENTIAL_HISTOGRAM = "exponentialHistogram"
    SUMMARY = "summary"


class Temporality(StrEnum):
    DELTA = "delta"
    CUMULATIVE = "cumulative"


class Aggregation(StrEnum):
    SUM = "sum"
    RATE = "rate"
    AVG = "avg"
    MIN = "min"
    MAX = "max"
    LAST = "last"
    COUNT = "count"
    P50 = "p50"
    P95 = "p95"
    P99 = "p99"


QUANTILES = {Aggregation.P50: 0.5, Aggregation.P95: 0.95, Aggregation.P99: 0.99}
HISTOGRAMS = frozenset({MetricType.HISTOGRAM, MetricType.EXPONENTIAL_HISTOGRAM})
_OF_TOTALS = (Aggregation.SUM, Aggregation.RATE, Aggregation.AVG, Aggregation.COUNT)
_OF_HISTOGRAMS = (*_OF_TOTALS, Aggregation.MIN, Aggregation.MAX, *QUANTILES)
# The aggregations that mean something for a type, the most useful one first.
AGGREGATIONS: dict[MetricType, tuple[Aggregation, ...]] = {
    MetricType.SUM: tuple(Aggregation),
    MetricType.GAUGE: (
        *(Aggregation.AVG, Aggregation.MIN, Aggregation.MAX, Aggregation.LAST, Aggregation.COUNT),
        *QUANTILES,
    ),
    MetricType.HISTOGRAM: _OF_HISTOGRAMS,
    MetricType.EXPONENTIAL_HISTOGRAM: _OF_HISTOGRAMS,
    MetricType.SUMMARY: _OF_TOTALS,
}


class MetricName(ApiModel):
    """A metric, as its latest point describes it.

    The keys are what points can be grouped by, the aggregations those that its type has.
    """

    name: str
    description: str
    unit: str
    type: MetricType
    temporality: Temporality | None
    is_monotonic: bool
    series_count: int
    last_seen_at: UtcTime
    attribute_keys: list[str]
    resource_keys: list[str]
    service_names: list[str]
    aggregations: list[Aggregation]


@dataclass(frozen=True)
class MetricQuery:
    name: str
    aggregation: Aggregation
    period: BoundedRange
    group_by: tuple[str, ...] = ()
    filters: tuple[FilterCondition, ...] = ()
    granularity: Granularity | None = None
    limit: int = 20


class MetricPoint(ApiModel):
    """`value` is null when there is nothing to aggregate."""

    date: str
    value: float | None


class MetricRow(ApiModel):
    """A group: its attribute values, its value over the whole period, and over time."""

    group: dict[str, str]
    value: float | None
    points: list[MetricPoint] | None = None


class MetricQueryResult(ApiModel):
    """The largest groups first. `total` counts all groups; `truncated` says that some are missing.

    `isEstimate` is true for values that are interpolated from the buckets of histograms.
    """

    name: str
    unit: str
    type: MetricType | None
    is_estimate: bool
    rows: list[MetricRow]
    total: int
    truncated: bool
