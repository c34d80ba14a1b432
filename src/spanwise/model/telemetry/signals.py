"""Signals: named values such as a user's rating, optionally linked to a trace."""

from typing import Any

from spanwise.model.api_model import ApiModel, UtcTime

# Statistics use third powers of sums, which cannot overflow up to this value.
MAX_SIGNAL = 1e15


class Signal(ApiModel):
    id: str
    signal_name: str
    value: float
    trace_id: str | None
    span_id: str | None
    agent_id: str | None
    session_id: str | None
    user_id: str | None
    experiment_id: str | None
    variant: str | None
    comment: str | None
    metadata: dict[str, Any]
    timestamp: UtcTime
    created_at: UtcTime


class SignalTrend(ApiModel):
    date: str
    count: int
    avg: float | None


class SignalSummary(ApiModel):
    signal_name: str
    count: int
    avg: float
    min: float
    max: float
    sum: float
    stddev: float
    p50: float
    p95: float
    last_value: float
    last_at: UtcTime
    trend: list[SignalTrend]


class SignalBin(ApiModel):
    """Values from `start`, inclusive, to `end`, exclusive except in the last bin.

    A bin of a single value has the same `start` and `end`.
    """

    start: float
    end: float
    count: int


class SignalHistogram(ApiModel):
    signal_name: str
    count: int
    bins: list[SignalBin]
