"""Log records."""

from enum import StrEnum
from typing import Any

from spanwise.model.api_model import ApiModel, UtcTime

# OTLP divides each level into four numbers of severity.
NUMBERS_PER_LEVEL = 4


class LogLevel(StrEnum):
    TRACE = "trace"
    DEBUG = "debug"
    INFO = "info"
    WARN = "warn"
    ERROR = "error"
    FATAL = "fatal"

    @property
    def severity(self) -> int:
        """The lowest OTLP severity number of this level."""
        return 1 + NUMBERS_PER_LEVEL * list(LogLevel).index(self)


class Log(ApiModel):
    id: str
    timestamp: UtcTime
    level: LogLevel
    message: str
    trace_id: str | None
    span_id: str | None
    agent_id: str | None
    agent_name: str | None
    attributes: dict[str, Any]
