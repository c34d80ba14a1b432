"""Signals: named values, such as a user's rating, that belong to a trace or to nothing."""

from typing import Any

from spanwise.model.record import Noun, UtcTime

# Statistics use third powers of sums of values; up to here they cannot overflow.
MAX_SIGNAL = 1e15


class Signal(Noun):
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


class SignalTrend(Noun):
    date: str
    count: int
    avg: float | None


class SignalSummary(Noun):
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
