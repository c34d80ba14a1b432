"""SQL for the time to the first token of a span, from its attributes and events.

It is read from the attributes when it is needed: a column would cost every insert.
"""

from spanwise.model.telemetry.first_token import EVENT, MILLISECONDS, MOMENTS, SECONDS
from spanwise.storage.telemetry.engine.attribute_text import stored_values, texts

_START = "toUnixTimestamp64Nano(spans.start)"


def _durations() -> str:
    """SQL for times since the start in milliseconds, null where an attribute is missing.

    Strands sends milliseconds where seconds are expected, and no token arrives after the end of its
    call.
    """
    numbers = f"arrayMap(text -> toFloat64OrNull(text), {texts(SECONDS + MILLISECONDS)})"
    is_seconds = [1] * len(SECONDS) + [0] * len(MILLISECONDS)
    factor = "if(is_seconds AND time * 1e9 <= spans.duration_ns, 1000, 1)"
    return f"arrayMap((time, is_seconds) -> time * {factor}, {numbers}, {is_seconds})"


def _moments() -> str:
    # Langfuse sends JSON, which has quotes.
    moment = "parseDateTime64BestEffortOrNull(trimBoth(text, '\"'), 9, 'UTC')"
    since_start = f"(toUnixTimestamp64Nano({moment}) - {_START}) / 1e6"
    return f"arrayMap(text -> {since_start}, {stored_values(MOMENTS)})"


def _events() -> str:
    """SQL for the times of the event. It is stored as OTLP: a tag, eight bytes, then the name."""
    name = rf"char(18, {len(EVENT)}, {', '.join(str(ord(letter)) for letter in EVENT)})"
    found = f"arrayFilter(event -> ascii(event) = 9 AND position(event, {name}) = 10, events)"
    nano = "reinterpretAsInt64(substring(event, 2, 8))"
    return f"arrayMap(event -> ({nano} - {_START}) / 1e6, {found})"


_SOURCES = (_durations(), _moments(), _events())
_FIRST = (
    f"arraySlice(arrayFilter(time -> isNotNull(time), arrayConcat({', '.join(_SOURCES)})), 1, 1)"
)
# Milliseconds; null if missing or invalid.
FIRST_TOKEN_MS = f"arrayFilter(time -> time >= 0 AND isFinite(time), {_FIRST})[1]"
