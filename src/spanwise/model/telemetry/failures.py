"""Failures: groups of failed spans that fail the same way."""

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from spanwise.model.api_model import ApiModel, UtcTime
from spanwise.model.page import PageRequest
from spanwise.model.telemetry.filters import FilterCondition
from spanwise.model.times import BoundedRange

PREFIX = "flr_"


class FailureStatus(StrEnum):
    """`new`: first seen within a day. `regressed`: seen again after a week without.

    Marking a failure as known or muted ends both; a known failure can regress again.
    """

    NEW = "new"
    REGRESSED = "regressed"
    KNOWN = "known"
    MUTED = "muted"


class FailurePoint(ApiModel):
    time: UtcTime
    count: int


class FailureExample(ApiModel):
    """A failed span with its own message."""

    trace_id: str
    span_id: str
    start_time: UtcTime
    message: str


class FailureGroup(ApiModel):
    """Spans of an agent in which the same tool or model failed with the same error and message.

    Quoted values, ids and numbers are left out of the message; the examples, the latest first,
    have theirs. `user_ids` are those with the most failures.
    """

    id: str
    title: str
    agent_name: str
    operation: str
    kind: str
    error_type: str
    message: str
    count: int
    traces: int
    users: int
    user_ids: list[str]
    first_seen_at: UtcTime
    last_seen_at: UtcTime
    trend: list[FailurePoint]
    status: FailureStatus
    example_trace_ids: list[str]
    examples: list[FailureExample]


class FailureMark(ApiModel):
    """The status that a person gave to a failure."""

    id: str
    status: FailureStatus
    marked_at: UtcTime


@dataclass(frozen=True)
class FailureQuery:
    period: BoundedRange
    page: PageRequest
    agent_name: str | None = None
    environment: str | None = None
    status: FailureStatus | None = None
    # Part of a title.
    search: str | None = None
    # On the failed span; session, experiment and variant are those of its trace.
    conditions: tuple[FilterCondition, ...] = ()
    group: int | None = None
    now: datetime | None = None


def failure_id(group: int) -> str:
    return f"{PREFIX}{group:016x}"


def parse_failure_id(text: str) -> int | None:
    """Return the number of the group; None if the text is no id of a failure."""
    found = re.fullmatch(f"{PREFIX}([0-9a-f]{{16}})", text)
    return int(found[1], 16) if found else None
