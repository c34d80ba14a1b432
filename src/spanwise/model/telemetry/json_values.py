"""Parsing of JSON that is stored as text."""

from typing import Any

import orjson

# JSON encoders give up at about 250 levels, and a response adds a few more.
MAX_DEPTH = 200


def parse_json(text: str, max_depth: int = MAX_DEPTH) -> Any:  # noqa: ANN401 -- any JSON value
    """Parse an object or a list; other text, or JSON nested too deep to encode, stays text."""
    if text[:1] not in {"{", "["}:
        return text
    try:
        parsed = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    return text if _is_too_deep(text, parsed, max_depth) else parsed


def _is_too_deep(text: str, parsed: Any, max_depth: int) -> bool:  # noqa: ANN401 -- any JSON value
    if text.count("[") + text.count("{") <= max_depth:
        return False
    level = [parsed]
    for _ in range(max_depth):
        inner = (v.values() if isinstance(v, dict) else v for v in level)
        level = [v for values in inner for v in values if isinstance(v, dict | list)]
        if not level:
            return False
    return True
