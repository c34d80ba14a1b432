"""Filters for traces, spans, sessions, signals, logs and metrics, as values.

All of them are lists of conditions; what differs is the fields that the rows have. The storage
layer compiles them to SQL.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Self, TypeVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StrictBool,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic.alias_generators import to_camel

from spanwise.model.api_model import ApiModel
from spanwise.model.errors import FieldProblem, Invalid
from spanwise.model.times import TimeRange

ATTRIBUTE = "attribute:"
# Fields of traces and spans to group by.
DIMENSIONS = (
    *("agent", "model", "provider", "tool", "kind", "status", "errorType", "environment", "userId"),
    *("sessionId", "service", "serviceVersion", "experiment", "variant"),
)
# The group of failures that a span belongs to; a trace belongs to those of all its spans.
FAILURE = "failure"
NUMBER_FIELDS = ("durationMs", "cost", "inputTokens", "outputTokens", "totalTokens")
TEXT_FIELDS = (*DIMENSIONS, "name", "traceId", FAILURE)
LOG_FIELDS = ("agent", "level", "message", "service", "serviceVersion", "spanId", "traceId")
SIGNAL_FIELDS = (
    *("agent", "comment", "experiment", "sessionId", "signalName", "spanId", "traceId", "userId"),
    *("value", "variant"),
)
_ALL_FIELDS = sorted({*TEXT_FIELDS, *NUMBER_FIELDS, *LOG_FIELDS, *SIGNAL_FIELDS})
MAX_CONDITIONS = 20
MAX_VALUES = 100
# A key has no control characters: PostgreSQL cannot store all of them in a view.
ATTRIBUTE_PATTERN = rf"{ATTRIBUTE}[^\x00-\x1f]{{1,256}}"

FilterField = Annotated[
    str,
    StringConstraints(pattern=rf"^({'|'.join(_ALL_FIELDS)}|{ATTRIBUTE_PATTERN})$"),
]
Text = Annotated[str, StringConstraints(max_length=512, pattern=r"^[^\x00]*$")]
Scalar = Text | StrictBool | Annotated[float, Field(strict=True)]


class Operator(StrEnum):
    EQ = "eq"
    NE = "ne"
    IN = "in"
    GT = "gt"
    GTE = "gte"
    LT = "lt"
    LTE = "lte"
    CONTAINS = "contains"
    EXISTS = "exists"

    @property
    def compares(self) -> bool:
        return self in {Operator.GT, Operator.GTE, Operator.LT, Operator.LTE}


class FilterCondition(ApiModel):
    """One condition on a field of a row, or on one of its attributes (`attribute:<key>`).

    `in` takes a list, `exists` true (the default) or false, and the comparisons a number.
    """

    field: FilterField
    op: Operator = Operator.EQ
    value: Scalar | Annotated[list[Scalar], Field(min_length=1, max_length=MAX_VALUES)] | None = (
        None
    )

    @property
    def is_number(self) -> bool:
        return self.field in NUMBER_FIELDS or self.field == "value"

    @property
    def attribute(self) -> str | None:
        """The key of the attribute, None for another field."""
        is_attribute = self.field.startswith(ATTRIBUTE)
        return self.field.removeprefix(ATTRIBUTE) if is_attribute else None

    @property
    def values(self) -> list[str | bool | float]:
        """The value, or all values of a list."""
        if isinstance(self.value, list):
            return self.value
        return [] if self.value is None else [self.value]

    @model_validator(mode="after")
    def _check_value(self) -> Self:
        numbers = all(isinstance(v, float) for v in self.values)
        match self.op:
            case Operator.EXISTS:
                if not (self.value is None or isinstance(self.value, bool)):
                    raise ValueError("the value of exists is true or false")
                return self
            case Operator.IN:
                if not isinstance(self.value, list):
                    raise ValueError("the value of in is a list")
            case _ if self.value is None or isinstance(self.value, list):
                raise ValueError(f"{self.op} needs one value")
        if self.op.compares and not (numbers and (self.is_number or self.attribute)):
            raise ValueError(f"{self.op} needs a number, and a field with numbers")
        is_text = isinstance(self.value, str) and self.value and not self.is_number
        if self.op is Operator.CONTAINS and not is_text:
            raise ValueError("contains needs a text, and a field with text")
        if self.is_number and not numbers:
            raise ValueError(f"{self.field} is compared with numbers")
        if not self.is_number and not self.attribute and not self._has_texts():
            raise ValueError(f"{self.field} is compared with text")
        return self

    def _has_texts(self) -> bool:
        return all(isinstance(value, str) for value in self.values)


def _only(
    rows: str, fields: Collection[str]
) -> Callable[[list[FilterCondition]], list[FilterCondition]]:
    """Return a check that the fields of conditions are those of some rows."""

    def check(conditions: list[FilterCondition]) -> list[FilterCondition]:
        for condition in conditions:
            if condition.attribute is None and condition.field not in fields:
                known = ", ".join((*fields, f"{ATTRIBUTE}<key>"))
                raise ValueError(f"{rows} have no {condition.field}, but {known}")
        return conditions

    return check


def _name_attribute(condition: object) -> object:
    """Data points have attributes only, so their prefix may be missing."""
    if not isinstance(condition, Mapping) or not isinstance(name := condition.get("field"), str):
        return condition
    return {**condition, "field": name if name.startswith(ATTRIBUTE) else f"{ATTRIBUTE}{name}"}


_Conditions = Annotated[list[FilterCondition], Field(max_length=MAX_CONDITIONS)]
Conditions = Annotated[
    _Conditions, AfterValidator(_only("traces and spans", (*TEXT_FIELDS, *NUMBER_FIELDS)))
]
LogConditions = Annotated[_Conditions, AfterValidator(_only("logs", LOG_FIELDS))]
SignalConditions = Annotated[_Conditions, AfterValidator(_only("signals", SIGNAL_FIELDS))]
PointConditions = Annotated[
    list[Annotated[FilterCondition, BeforeValidator(_name_attribute)]],
    Field(max_length=MAX_CONDITIONS),
]
_OF_TRACES: TypeAdapter[list[FilterCondition]] = TypeAdapter(Conditions)
OF_LOGS: TypeAdapter[list[FilterCondition]] = TypeAdapter(LogConditions)
OF_SIGNALS: TypeAdapter[list[FilterCondition]] = TypeAdapter(SignalConditions)


def parse_conditions(
    text: str | None, rows: TypeAdapter[list[FilterCondition]] = _OF_TRACES
) -> tuple[FilterCondition, ...]:
    """Parse the `filters` parameter: a JSON list of conditions."""
    if text is None:
        return ()
    try:
        return tuple(rows.validate_json(text))
    except ValidationError as error:
        details = [
            FieldProblem(
                field=".".join(map(str, ("filters", *problem["loc"]))), message=problem["msg"]
            )
            for problem in error.errors()
        ]
        raise Invalid(f"{details[0].field}: {details[0].message}", details) from None


def equal(**values: str | None) -> tuple[FilterCondition, ...]:
    """Return a condition for every value that is given; `session_id` is the field `sessionId`."""
    return tuple(
        FilterCondition(field=to_camel(name), value=str(value))
        for name, value in values.items()
        if value is not None
    )


def compare(field: str, op: Operator, value: float | None) -> tuple[FilterCondition, ...]:
    return () if value is None else (FilterCondition(field=field, op=op, value=float(value)),)


@dataclass(frozen=True)
class TraceFilter:
    """All conditions must hold. Agents are given by name: ids are resolved beforehand.

    A trace matches a condition on a field of its spans if one of them does.
    """

    period: TimeRange = field(default_factory=TimeRange)
    conditions: tuple[FilterCondition, ...] = ()
    search: str | None = None

    @property
    def agent(self) -> str | None:
        """The agent, if traces of one are wanted."""
        agents = [c.value for c in self.conditions if (c.field, c.op) == ("agent", Operator.EQ)]
        return str(agents[0]) if agents else None


@dataclass(frozen=True)
class RowFilter:
    """Conditions on spans, logs or signals, all of which the row itself must meet.

    Agents are given by name. A signal without agent, session, user, experiment or variant has that
    of its trace, and so has a span.
    """

    period: TimeRange = field(default_factory=TimeRange)
    conditions: tuple[FilterCondition, ...] = ()
    search: str | None = None


AnyFilter = TypeVar("AnyFilter", TraceFilter, RowFilter)


class TraceSort(StrEnum):
    START_TIME = "startTime"
    DURATION = "duration"
    COST = "cost"
    TOKENS = "tokens"


class SpanSort(StrEnum):
    START_TIME = "startTime"
    DURATION = "duration"
    COST = "cost"


class SessionSort(StrEnum):
    """`time` is the end of the last trace."""

    TIME = "time"
    COST = "cost"
    TRACES = "traces"
    DURATION = "duration"
    ERRORS = "errors"


class Order(StrEnum):
    ASC = "asc"
    DESC = "desc"
