"""SQL for the time to the first token of a span, from its attributes and events.

It is read from the attributes when it is needed: a column would cost every insert.
"""

from spanwise.model.telemetry.first_token import EVENT, MILLISECONDS, MOMENTS, SECONDS
from spanwise.storage.telemetry.engine.conditions import quoted

_START = "toUnixTimestamp64Nano(spans.start)"


def _number(key: str) -> str:
    """SQL for a numeric attribute or null; the first byte of a stored number is its type."""
    value = f"attributes[{quoted(key)}]"
    return f"toFloat64OrNull(if(ascii({value}) IN (3, 4), substring({value}, 2), {value}))"


def _seconds(key: str) -> str:
    """SQL for a time in seconds as milliseconds.

    Strands sends milliseconds here, and no token arrives after the end of its call.
    """
    return f"{_number(key)} * if({_number(key)} * 1e9 > spans.duration_ns, 1, 1000)"


def _moment(key: str) -> str:
    # Langfuse sends JSON, which has quotes.
    text = f"trimBoth(attributes[{quoted(key)}], '\"')"
    moment = f"parseDateTime64BestEffortOrNull({text}, 9, 'UTC')"
    return f"(toUnixTimestamp64Nano({moment}) - {_START}) / 1e6"


def _event() -> str:
    """SQL for the time of the event, which is stored as OTLP: a tag, eight bytes, then the name."""
    name = rf"char(18, {len(EVENT)}, {', '.join(str(ord(letter)) for letter in EVENT)})"
    event = f"arrayFirst(e -> ascii(e) = 9 AND position(e, {name}) = 10, events)"
    nano = f"reinterpretAsInt64(substring({event}, 2, 8))"
    return f"if(empty({event}), NULL, ({nano} - {_START}) / 1e6)"


_SOURCES = (
    *map(_seconds, SECONDS),
    *map(_number, MILLISECONDS),
    *map(_moment, MOMENTS),
    _event(),
)
_FIRST = f"coalesce({', '.join(_SOURCES)})"
# Milliseconds, or null for a span that does not say it or says what cannot be.
FIRST_TOKEN_MS = f"if({_FIRST} >= 0 AND isFinite({_FIRST}), {_FIRST}, NULL)"
