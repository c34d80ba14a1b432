"""What the REST endpoints take: spans, logs and signals in plain JSON, with clear refusals."""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

import orjson
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StrictInt,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)

from spanwise.model.errors import FieldProblem, Invalid
from spanwise.model.logs import LogLevel
from spanwise.model.noun import Noun, UtcTime
from spanwise.model.spans import ErrorType, SpanKind, SpanStatus
from spanwise.model.times import EARLIEST, LATEST

MAX_SIGNALS = 1000
MAX_DEPTH = 64
_MAX_PROBLEMS = 50
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")

T = TypeVar("T")


def _number(value: Any) -> Any:  # noqa: ANN401 -- runs before the type is known
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("must be a number")
    return value


def _iso_time(value: Any) -> Any:  # noqa: ANN401
    # Left alone, pydantic would also take numbers and numeric text as Unix times.
    if not isinstance(value, datetime) and not (isinstance(value, str) and _DATE.match(value)):
        raise ValueError("must be an ISO 8601 time such as 2026-01-31T12:00:00Z")
    return value


def _in_range(value: datetime) -> datetime:
    if not EARLIEST <= value < LATEST:
        raise ValueError("must lie between 1970 and 2199")
    return value


def _shallow(value: Any) -> Any:  # noqa: ANN401
    if depth_exceeds(value, MAX_DEPTH):
        raise ValueError(f"is nested deeper than {MAX_DEPTH} levels")
    return value


def depth_exceeds(value: Any, limit: int) -> bool:  # noqa: ANN401
    """Say whether JSON is nested deeper than the limit, without recursing into it."""
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
Count = Annotated[StrictInt, Field(ge=0, le=2**32 - 1)]
Text = Annotated[str, StringConstraints(max_length=65_536)]
Label = Annotated[str, StringConstraints(max_length=512)]
TraceId = Annotated[str, StringConstraints(pattern="^[0-9a-fA-F]{32}$", to_lower=True)]
SpanId = Annotated[str, StringConstraints(pattern="^[0-9a-fA-F]{16}$", to_lower=True)]
Json = Annotated[Any, AfterValidator(_shallow)]
JsonObject = Annotated[dict[str, Any], AfterValidator(_shallow)]


class NewEvent(Noun):
    name: Label
    time: Time | None = None
    attributes: JsonObject = Field(default_factory=dict)


class NewSpan(Noun):
    """A span as `POST /spans` takes it. Only the ids, the name and the start are required."""

    trace_id: TraceId
    span_id: SpanId
    parent_span_id: SpanId | None = None
    name: Annotated[str, StringConstraints(min_length=1, max_length=1024)]
    kind: SpanKind | None = None
    start_time: Time
    end_time: Time | None = None
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
    cost: Annotated[Number, Field(ge=0)] | None = None
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
    events: list[NewEvent] = Field(default_factory=list)


class NewLog(Noun):
    """A log record as `POST /logs` takes it."""

    message: Annotated[str, StringConstraints(max_length=1_048_576)]
    level: LogLevel = LogLevel.INFO
    timestamp: Time | None = None
    trace_id: TraceId | None = None
    span_id: SpanId | None = None
    agent_id: Label | None = None
    agent_name: Label | None = None
    attributes: JsonObject = Field(default_factory=dict)


class NewSignal(Noun):
    """A signal as `POST /signals` takes it. A chosen `id` makes a retry harmless."""

    signal_name: Annotated[str, StringConstraints(min_length=1, max_length=128)]
    value: Number
    id: Annotated[str, StringConstraints(min_length=1, max_length=128)] | None = None
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


_SPANS = TypeAdapter(list[NewSpan])
_LOGS = TypeAdapter(list[NewLog])
_SIGNALS = TypeAdapter(list[NewSignal])


def load_json(body: bytes) -> Any:  # noqa: ANN401 -- any JSON
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Invalid.field("body", f"is not valid JSON ({error})") from None


def parse_spans(body: Any, max_items: int) -> list[NewSpan]:  # noqa: ANN401 -- any JSON
    return _parse(body, "spans", _SPANS.validate_python, max_items)


def parse_logs(body: Any, max_items: int) -> list[NewLog]:  # noqa: ANN401
    return _parse(body, "logs", _LOGS.validate_python, max_items)


def parse_signal(body: Any) -> NewSignal:  # noqa: ANN401
    return _parse({"signals": [body]}, "signals", _SIGNALS.validate_python, 1, named=False)[0]


def parse_signals(body: Any) -> list[NewSignal]:  # noqa: ANN401
    if isinstance(body, list):
        body = {"signals": body}
    if not isinstance(body, dict) or not isinstance(body.get("signals"), list):
        raise Invalid.field("signals", "is required, a list of 1 to 1000 signals")
    if not body["signals"]:
        raise Invalid.field("signals", "must hold at least one signal")
    return _parse(body, "signals", _SIGNALS.validate_python, MAX_SIGNALS)


def _parse(
    body: Any,  # noqa: ANN401
    plural: str,
    validate: Callable[[Any], list[T]],
    max_items: int,
    *,
    named: bool = True,
) -> list[T]:
    """Read one item, or many under their plural name; all are good or none is taken."""
    if not isinstance(body, dict):
        raise Invalid.field("body", f"must be an object, or an object with a list of {plural}")
    is_many = plural in body
    items = body[plural] if is_many else [body]
    if not isinstance(items, list):
        raise Invalid.field(plural, "must be a list")
    if len(items) > max_items:
        raise Invalid.field(plural, f"holds {len(items):,} items; at most {max_items:,} are taken")
    try:
        return validate(items)
    except ValidationError as error:
        prefix = plural if is_many and named else None
        raise _describe(error.errors(), prefix) from None


def _describe(problems: Sequence[Any], plural: str | None) -> Invalid:
    details = []
    for problem in problems[:_MAX_PROBLEMS]:
        index, *path = problem["loc"]
        field = ".".join(str(part) for part in path) or "item"
        if plural is not None:
            field = f"{plural}[{index}].{field}" if path else f"{plural}[{index}]"
        missing = problem["type"] == "missing"
        message = "is required" if missing else problem["msg"].removeprefix("Value error, ")
        details.append(FieldProblem(field=field, message=message))
    return Invalid(f"{details[0].field}: {details[0].message}", details)


def to_unix_nano(moment: datetime) -> int:
    """Convert exactly; a float of seconds would lose microseconds."""
    delta = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (delta.days * 86_400 + delta.seconds) * 1_000_000_000 + delta.microseconds * 1000
