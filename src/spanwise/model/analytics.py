"""Analytics: the query, and the result of each endpoint."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import cached_property

from spanwise.model.api_model import ApiModel
from spanwise.model.telemetry.filters import TraceFilter
from spanwise.model.telemetry.spans import ErrorType
from spanwise.model.times import EARLIEST, BoundedRange, Granularity, TimeRange, bucket_label

# The period of analytics, up to now, unless another is given.
DEFAULT_DAYS = 30
# Group name for traces without an agent and calls without a model.
NO_NAME = "unknown"
# Groupings keep the largest MAX_NAMES names; the rest are summed under OTHER_NAMES.
MAX_NAMES = 1000
OTHER_NAMES = "(other)"


@dataclass(frozen=True)
class Question:
    """An analytics query: a period, a trace filter and the bucket size."""

    period: BoundedRange
    filters: TraceFilter
    granularity: Granularity = Granularity.DAILY

    def within(self, period: BoundedRange) -> "Question":
        filters = replace(self.filters, period=TimeRange(period.start, period.end))
        return replace(self, period=period, filters=filters)

    def before(self) -> "Question":
        """Return the query for the preceding period of the same length."""
        length = self.period.end - self.period.start
        start = max(EARLIEST, self.period.start - length)
        return self.within(BoundedRange(start, self.period.start))

    @cached_property
    def buckets(self) -> list[datetime]:
        """The start of every bucket; raises Invalid for more than 10,000."""
        return self.period.buckets(self.granularity)

    def label(self, bucket: datetime) -> str:
        return bucket_label(bucket, self.granularity)


class ExportFormat(StrEnum):
    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


class KeyMetrics(ApiModel):
    total_traces: int
    success_rate: float
    avg_latency: float
    p95_latency: float
    active_agents: int
    active_alerts: int
    total_tokens: int
    estimated_cost: float
    unpriced_tokens: int


class Metrics(KeyMetrics):
    """Latencies in milliseconds, cost in US dollars. `previous` only on request.

    `p95Latency` may be within 0.5 % of the exact value; all other figures are exact.
    """

    previous: KeyMetrics | None = None


class OutcomePoint(ApiModel):
    date: str
    success: int
    failure: int


class Outcomes(ApiModel):
    total: int
    success: int
    failure: int
    success_rate: float
    failure_rate: float
    trend: list[OutcomePoint]


class RequestsPoint(ApiModel):
    date: str
    total: int
    by_agent: dict[str, int]


class PercentilesPoint(ApiModel):
    """Milliseconds, which may be within 0.5 % of the exact value; null without traces."""

    date: str
    p50: float | None
    p95: float | None
    p99: float | None


class LatencyBucket(ApiModel):
    """Durations from `minMs`, inclusive, to `maxMs`, exclusive; the last bucket is open."""

    bucket: str
    min_ms: int
    max_ms: int | None
    count: int
    percentage: float


class TokensPoint(ApiModel):
    date: str
    input_tokens: int
    output_tokens: int
    total_tokens: int


class CostPoint(ApiModel):
    date: str
    cost: float
    unpriced_tokens: int


class Costs(ApiModel):
    """US dollars, and the tokens that count as 0 because no price is known."""

    total_cost: float
    by_model: dict[str, float]
    by_tool: dict[str, float]
    trend: list[CostPoint]
    unpriced_tokens: int
    unpriced_tokens_by_model: dict[str, int]
    unpriced_models: list[str]


class ErrorCount(ApiModel):
    type: ErrorType
    count: int
    percentage: float


class ErrorsByType(ApiModel):
    errors: list[ErrorCount]


class ErrorRatePoint(ApiModel):
    date: str
    total: int
    errors: int
    error_rate: float


class ToolUsage(ApiModel):
    """Number of calls by agent name and tool name."""

    heatmap: dict[str, dict[str, int]]
