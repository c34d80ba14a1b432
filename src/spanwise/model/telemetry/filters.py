"""Filters for traces, signals, logs and sessions; the storage layer compiles them to SQL."""

from dataclasses import dataclass, field
from enum import StrEnum

from spanwise.model.telemetry.logs import LogLevel
from spanwise.model.telemetry.spans import ErrorType, TraceStatus
from spanwise.model.times import TimeRange


@dataclass(frozen=True)
class TraceFilter:
    """All given conditions must hold. `agent_name` is a name: ids are resolved beforehand."""

    period: TimeRange = field(default_factory=TimeRange)
    agent_name: str | None = None
    status: TraceStatus | None = None
    model: str | None = None
    provider: str | None = None
    tool: str | None = None
    error_type: ErrorType | None = None
    session_id: str | None = None
    user_id: str | None = None
    environment: str | None = None
    experiment_id: str | None = None
    variant: str | None = None
    min_duration_ms: float | None = None
    max_duration_ms: float | None = None
    min_cost: float | None = None
    search: str | None = None


@dataclass(frozen=True)
class SignalFilter:
    """Agent, session, user, experiment and variant default to those of the signal's trace."""

    period: TimeRange = field(default_factory=TimeRange)
    signal_name: str | None = None
    trace_id: str | None = None
    agent_name: str | None = None
    session_id: str | None = None
    user_id: str | None = None
    experiment_id: str | None = None
    variant: str | None = None


@dataclass(frozen=True)
class LogFilter:
    """`level` matches that level and above."""

    period: TimeRange = field(default_factory=TimeRange)
    level: LogLevel | None = None
    search: str | None = None
    trace_id: str | None = None
    agent_name: str | None = None


@dataclass(frozen=True)
class SessionFilter:
    """Restricts the traces that sessions are built from."""

    period: TimeRange = field(default_factory=TimeRange)
    agent_name: str | None = None
    user_id: str | None = None
    environment: str | None = None


class TraceSort(StrEnum):
    START_TIME = "startTime"
    DURATION = "duration"
    COST = "cost"
    TOKENS = "tokens"


class Order(StrEnum):
    ASC = "asc"
    DESC = "desc"
