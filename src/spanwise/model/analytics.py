"""The answers of the analytics endpoints, and what one of them asks for."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import cached_property

from spanwise.model.record import Noun
from spanwise.model.telemetry.filters import TraceFilter
from spanwise.model.telemetry.spans import ErrorType
from spanwise.model.times import EARLIEST, BoundedRange, Granularity, TimeRange, bucket_label

# What stands where a trace has no agent or a call has no model.
NO_NAME = "unknown"
# An answer by name has so many names at most, the largest; the others are summed under this one.
MAX_NAMES = 1000
OTHER_NAMES = "(other)"


@dataclass(frozen=True)
class Question:
    """Which traces, between two moments, in which steps of time."""

    period: BoundedRange
    wanted: TraceFilter
    granularity: Granularity = Granularity.DAILY

    def within(self, period: BoundedRange) -> "Question":
        wanted = replace(self.wanted, period=TimeRange(period.start, period.end))
        return replace(self, period=period, wanted=wanted)

    def before(self) -> "Question":
        """The same for the period of the same length that ends where this one starts."""
        length = self.period.end - self.period.start
        start = max(EARLIEST, self.period.start - length)
        return self.within(BoundedRange(start, self.period.start))

    @cached_property
    def buckets(self) -> list[datetime]:
        """The start of every step; more than 10,000 of them are Invalid."""
        return self.period.buckets(self.granularity)

    def label(self, bucket: datetime) -> str:
        return bucket_label(bucket, self.granularity)


class ExportFormat(StrEnum):
    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


class KeyMetrics(Noun):
    total_traces: int
    success_rate: float
    avg_latency: float
    p95_latency: float
    active_agents: int
    active_alerts: int
    total_tokens: int
    estimated_cost: float


class Metrics(KeyMetrics):
    """Latencies in milliseconds, cost in US dollars. `previous` only when it was asked for."""

    previous: KeyMetrics | None = None


class OutcomePoint(Noun):
    date: str
    success: int
    failure: int


class Outcomes(Noun):
    total: int
    success: int
    failure: int
    success_rate: float
    failure_rate: float
    trend: list[OutcomePoint]


class RequestsPoint(Noun):
    date: str
    total: int
    by_agent: dict[str, int]


class PercentilesPoint(Noun):
    """Milliseconds; null where there was no trace."""

    date: str
    p50: float | None
    p95: float | None
    p99: float | None


class LatencyBucket(Noun):
    """Durations from `minMs`, inclusive, to `maxMs`, exclusive; the last bucket has no end."""

    bucket: str
    min_ms: int
    max_ms: int | None
    count: int
    percentage: float


class TokensPoint(Noun):
    date: str
    input_tokens: int
    output_tokens: int
    total_tokens: int


class CostPoint(Noun):
    date: str
    cost: float


class Costs(Noun):
    """US dollars. `unpricedModels` are the models whose calls count as 0 for want of a price."""

    total_cost: float
    by_model: dict[str, float]
    trend: list[CostPoint]
    unpriced_models: list[str]


class ErrorCount(Noun):
    type: ErrorType
    count: int
    percentage: float


class ErrorsByType(Noun):
    errors: list[ErrorCount]


class ErrorRatePoint(Noun):
    date: str
    total: int
    errors: int
    error_rate: float


class ToolUsage(Noun):
    """Agent name to tool name to number of calls."""

    heatmap: dict[str, dict[str, int]]
