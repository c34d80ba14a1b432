"""Request bodies of the REST endpoints: spans, logs and signals in plain JSON.

A batch of spans or logs is refused as a whole when its shape is wrong: broken JSON, a field of the
wrong type, too many items. A row of the right shape with an invalid value (no id, too old) is
rejected, and the others are stored, unless too many are rejected.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, Generic, TypeVar

import orjson
from pydantic import (
    AfterValidator,
    BeforeValidator,
    FailFast,
    Field,
    StrictInt,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_core import PydanticCustomError

from spanwise.ingest.counts import check_json
from spanwise.model.api_model import ApiModel, UtcTime, new_id, utc_now
from spanwise.model.errors import FieldProblem, Invalid
from spanwise.model.telemetry.logs import LogLevel
from spanwise.model.telemetry.signals import MAX_SIGNAL, Signal
from spanwise.model.telemetry.spans import ErrorType, SpanKind, SpanStatus
from spanwise.model.times import EARLIEST, EARLIEST_STORED, LATEST, LATEST_STORED, MAX_AHEAD

MAX_SIGNALS = 1000
MAX_SIGNAL_ID_CHARACTERS = 128
MAX_SIGNAL_NAME_CHARACTERS = 128
MAX_TEXT_CHARACTERS = 65_536
MAX_LABEL_CHARACTERS = 512
MAX_DEPTH = 64
MAX_PROBLEMS = 100
# Describing what is wrong with a row takes several times as long as validating it.
MAX_REJECTED = 1000
# pydantic lets no other thread run while it validates a list.
_SLICE_ROWS = 100
# The engine stores 18 digits, 12 of them after the decimal point.
MAX_COST_USD = 1_000_000
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")

T = TypeVar("T")


def _number(value: Any) -> Any:  # noqa: ANN401 -- runs before the type is known
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise PydanticCustomError("number_type", "must be a number")
    return value


def _iso_time(value: Any) -> Any:  # noqa: ANN401
    # Pydantic would also accept numbers and numeric text as Unix times.
    if isinstance(value, datetime) or (isinstance(value, str) and _DATE.match(value)):
        return value
    error_type = "time_value" if isinstance(value, str) else "time_type"
    raise PydanticCustomError(error_type, "must be an ISO 8601 time such as 2026-01-31T12:00:00Z")


def _in_range(value: datetime) -> datetime:
    if not EARLIEST <= value < LATEST:
        raise ValueError("must lie between 1970 and 2199")
    return value


def _in_stored_range(value: datetime) -> datetime:
    if not EARLIEST_STORED <= value < LATEST_STORED:
        raise ValueError("must lie between 2000 and 2099")
    return value


def _plausible(value: datetime) -> datetime:
    if not EARLIEST_STORED <= value <= utc_now() + MAX_AHEAD:
        raise ValueError("must lie after 1999 and at most two days ahead")
    return value


def _nonzero(value: str) -> str:
    # Invalid according to W3C Trace Context.
    if not value.strip("0"):
        raise ValueError("must not be all zeros")
    return value


def _shallow(value: Any) -> Any:  # noqa: ANN401
    if depth_exceeds(value, MAX_DEPTH):
        raise PydanticCustomError(_TOO_DEEP, f"is nested deeper than {MAX_DEPTH} levels")
    return value


_TOO_DEEP = "too_deep"


def depth_exceeds(value: Any, limit: int) -> bool:  # noqa: ANN401
    """Return whether JSON is nested deeper than the limit. Does not recurse."""
    level = [value]
    for _ in range(limit + 1):
        level = [
            child
            for item in level
            if isinstance(item, dict | list)
            for child in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return False
    return True


Number = Annotated[float, BeforeValidator(_number), Field(allow_inf_nan=False)]
Time = Annotated[UtcTime, BeforeValidator(_iso_time), AfterValidator(_in_range)]
LogTime = Annotated[UtcTime, BeforeValidator(_iso_time), AfterValidator(_in_stored_range)]
SpanTime = Annotated[UtcTime, BeforeValidator(_iso_time), AfterValidator(_plausible)]
Count = Annotated[StrictInt, Field(ge=0, le=2**32 - 1)]
Text = Annotated[str, StringConstraints(max_length=MAX_TEXT_CHARACTERS)]
Label = Annotated[str, StringConstraints(max_length=MAX_LABEL_CHARACTERS)]
SignalId = Annotated[str, StringConstraints(min_length=1, max_length=MAX_SIGNAL_ID_CHARACTERS)]
SignalName = Annotated[str, StringConstraints(min_length=1, max_length=MAX_SIGNAL_NAME_CHARACTERS)]
TraceId = Annotated[str, StringConstraints(pattern="^[0-9a-fA-F]{32}$", to_lower=True)]
SpanId = Annotated[str, StringConstraints(pattern="^[0-9a-fA-F]{16}$", to_lower=True)]
NonzeroTraceId = Annotated[TraceId, AfterValidator(_nonzero)]
NonzeroSpanId = Annotated[SpanId, AfterValidator(_nonzero)]
Json = Annotated[Any, AfterValidator(_shallow)]
JsonObject = Annotated[dict[str, Any], AfterValidator(_shallow)]


class NewEvent(ApiModel):
    name: Label
    time: Time | None = None
    attributes: JsonObject = Field(default_factory=dict)


class NewSpan(ApiModel):
    """A span as accepted by `POST /spans`. Only the ids, the name and the start are required."""

    trace_id: NonzeroTraceId
    span_id: NonzeroSpanId
    parent_span_id: SpanId | None = None
    name: Annotated[str, StringConstraints(min_length=1, max_length=1024)]
    kind: SpanKind | None = None
    start_time: SpanTime
    end_time: SpanTime | None = None
    duration_ms: Annotated[Number, Field(ge=0)] | None = None
    status: SpanStatus = SpanStatus.UNSET
    status_message: Text | None = None
    error_type: ErrorType | None = None
    agent_name: Label | None = None
    provider: Label | None = None
    model: Label | None = None
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cached_tokens: Count | None = None
    reasoning_tokens: Count | None = None
    cost: Annotated[Number, Field(ge=0, lt=MAX_COST_USD)] | None = None
    tool_name: Label | None = None
    session_id: Label | None = None
    user_id: Label | None = None
    environment: Label | None = None
    experiment_id: Label | None = None
    variant: Label | None = None
    service_name: Label | None = None
    input: Json = None
    output: Json = None
    attributes: JsonObject = Field(default_factory=dict)
    # Stops at the first problem: an event of three bytes has one.
    events: Annotated[list[NewEvent], FailFast()] = Field(default_factory=list)

    @field_validator("end_time")
    @classmethod
    def _end_is_after_start(cls, value: datetime | None, info: ValidationInfo) -> datetime | None:
        start = info.data.get("start_time")
        if value is not None and start is not None and value < start:
            raise ValueError("must not lie before startTime")
        return value

    @field_validator("duration_ms")
    @classmethod
    def _end_is_plausible(cls, value: float | None, info: ValidationInfo) -> float | None:
        start = info.data.get("start_time")
        if value is not None and start is not None:
            longest_ms = (utc_now() + MAX_AHEAD - start) / timedelta(milliseconds=1)
            if value > longest_ms:
                raise ValueError("must end at most two days ahead")
        return value


class NewLog(ApiModel):
    """A log record as accepted by `POST /logs`."""

    message: Annotated[str, StringConstraints(max_length=1_048_576)]
    level: LogLevel = LogLevel.INFO
    timestamp: LogTime | None = None
    trace_id: TraceId | None = None
    span_id: SpanId | None = None
    agent_id: Label | None = None
    agent_name: Label | None = None
    attributes: JsonObject = Field(default_factory=dict)


class NewSignal(ApiModel):
    """A signal as accepted by `POST /signals`. A chosen `id` makes a retry harmless."""

    signal_name: SignalName
    value: Annotated[Number, Field(ge=-MAX_SIGNAL, le=MAX_SIGNAL)]
    id: SignalId | None = None
    trace_id: TraceId | None = None
    span_id: SpanId | None = None
    agent_id: Label | None = None
    session_id: Label | None = None
    user_id: Label | None = None
    experiment_id: Label | None = None
    variant: Label | None = None
    comment: Text | None = None
    metadata: JsonObject = Field(default_factory=dict)
    timestamp: Time | None = None

    def complete(self) -> Signal:
        """Return the signal with an id and a time, if it has none."""
        now = utc_now()
        values = self.model_dump()
        values["id"] = self.id or new_id("sig")
        values["timestamp"] = self.timestamp or now
        return Signal(**values, created_at=now)


_SPANS = TypeAdapter(list[NewSpan])
_LOGS = TypeAdapter(list[NewLog])
_SIGNALS = TypeAdapter(list[NewSignal])


def load_json(body: bytes, max_values: int) -> Any:  # noqa: ANN401 -- any JSON
    check_json(body, max_values, "values")
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Invalid.field("body", f"is not valid JSON ({error})") from None


@dataclass(frozen=True)
class Rejection:
    """An invalid row of a batch: its index in the list and its problems."""

    index: int
    problems: Sequence[FieldProblem]

    @property
    def reason(self) -> str:
        return "; ".join(f"{problem.field}: {problem.message}" for problem in self.problems)


@dataclass(frozen=True)
class Parsed(Generic[T]):
    """The valid rows of a batch, and the rejected ones."""

    items: list[T]
    rejections: Sequence[Rejection] = ()


def parse_spans(body: Any, max_items: int) -> Parsed[NewSpan]:  # noqa: ANN401 -- any JSON
    return _parse_rows(body, "spans", _SPANS.validate_python, max_items)


def parse_logs(body: Any, max_items: int) -> Parsed[NewLog]:  # noqa: ANN401
    return _parse_rows(body, "logs", _LOGS.validate_python, max_items)


def parse_signal(body: Any) -> NewSignal:  # noqa: ANN401
    return _parse_all([body], _SIGNALS.validate_python, None)[0]


def parse_signals(body: Any) -> list[NewSignal]:  # noqa: ANN401
    if isinstance(body, list):
        body = {"signals": body}
    if not isinstance(body, dict) or not isinstance(body.get("signals"), list):
        raise Invalid.field("signals", "is required, a list of 1 to 1000 signals")
    if not body["signals"]:
        raise Invalid.field("signals", "must hold at least one signal")
    items, prefix = _items_of(body, "signals", MAX_SIGNALS)
    return _parse_all(items, _SIGNALS.validate_python, prefix)


def _items_of(body: Any, plural: str, max_items: int) -> tuple[list[Any], str | None]:  # noqa: ANN401
    """Return the items of a body, and the plural name that they are listed under, if any."""
    if not isinstance(body, dict):
        raise Invalid.field("body", f"must be an object, or an object with a list of {plural}")
    if plural not in body:
        return [body], None
    items = body[plural]
    if not isinstance(items, list):
        raise Invalid.field(plural, "must be a list")
    if len(items) > max_items:
        raise Invalid.field(plural, f"has {len(items):,} items; at most {max_items:,} are allowed")
    return items, plural


def _parse_all(items: list[Any], validate: Callable[[Any], list[T]], plural: str | None) -> list[T]:
    """Validate items, all or none."""
    parsed: list[T] = []
    for start in range(0, len(items), _SLICE_ROWS):
        try:
            parsed += validate(items[start : start + _SLICE_ROWS])
        except ValidationError as error:
            raise _refuse(_rejections(_problems_of(error), start), plural) from None
    return parsed


def _parse_rows(
    body: Any,  # noqa: ANN401
    plural: str,
    validate: Callable[[Any], list[T]],
    max_items: int,
) -> Parsed[T]:
    """Validate rows and leave out invalid ones; raise Invalid when the shape is wrong."""
    items, prefix = _items_of(body, plural, max_items)
    good: list[T] = []
    rejections: list[Rejection] = []
    for start in range(0, len(items), _SLICE_ROWS):
        rows = items[start : start + _SLICE_ROWS]
        try:
            good += validate(rows)
            continue
        except ValidationError as error:
            problems = _problems_of(error)
        if malformed := [problem for problem in problems if _is_malformed(problem)]:
            raise _refuse(_rejections(malformed, start), prefix)
        found = _rejections(problems, start)
        rejections += found
        if len(rejections) > MAX_REJECTED:
            raise _refuse(rejections, prefix, f"more than {MAX_REJECTED:,} {plural} are invalid; ")
        rejected = {rejection.index for rejection in found}
        good += validate([row for at, row in enumerate(rows, start) if at not in rejected])
    if rejections and not good:
        raise _refuse(rejections, prefix)
    return Parsed(good, rejections)


def _problems_of(error: ValidationError) -> list[Any]:
    """Return pydantic's error dictionaries."""
    return list(error.errors(include_url=False, include_context=False))


def _is_malformed(problem: Any) -> bool:  # noqa: ANN401 -- pydantic's error dictionary
    kind: str = problem["type"]
    if kind == "enum":
        return not isinstance(problem["input"], str)
    if kind == "int_type" and isinstance(problem["input"], float):
        # orjson reads integers beyond 64 bits as floats.
        return abs(problem["input"]) < 2**63
    return kind.endswith("_type") or kind == _TOO_DEEP


def _rejections(problems: Sequence[Any], start: int = 0) -> list[Rejection]:
    """Group problems by row; `start` is the index of the first row that was validated."""
    by_index: dict[int, list[FieldProblem]] = {}
    for problem in problems:
        index, *path = problem["loc"]
        missing = problem["type"] == "missing"
        message = "is required" if missing else problem["msg"].removeprefix("Value error, ")
        field = ".".join(str(part) for part in path) or "item"
        by_index.setdefault(start + index, []).append(FieldProblem(field=field, message=message))
    return [Rejection(index, found) for index, found in by_index.items()]


def _refuse(rejections: Sequence[Rejection], plural: str | None, reason: str = "") -> Invalid:
    details = []
    for rejection in rejections[:MAX_PROBLEMS]:
        for problem in rejection.problems:
            field = problem.field
            if plural is not None:
                place = f"{plural}[{rejection.index}]"
                field = place if field == "item" else f"{place}.{field}"
            details.append(FieldProblem(field=field, message=problem.message))
    return Invalid(f"{reason}{details[0].field}: {details[0].message}", details[:MAX_PROBLEMS])
