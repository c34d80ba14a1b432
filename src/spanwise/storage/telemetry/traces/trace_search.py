"""Finds words in the spans of one trace, also in contents that the trace shows truncated."""

from collections.abc import Sequence

import orjson

from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.rows.locations import SPANS_AT_LOCATION, WITH_BOUNDS, TraceLocation
from spanwise.storage.telemetry.rows.shown_spans import IS_SHOWN

MAX_MATCHES = 10_000
# Searched one by one: joining them would copy the contents.
_TEXTS = (
    *("name", "status_message", "input", "output"),
    *(
        "arrayStringConcat(mapKeys(attributes), ' ')",
        "arrayStringConcat(mapValues(attributes), ' ')",
    ),
)


async def search_spans(engine: Engine, location: TraceLocation, words: Sequence[str]) -> list[str]:
    """Return the ids of the spans that contain all words, in any case, in start order."""
    parameters = dict(location.parameters)
    conditions = []
    for number, word in enumerate(words):
        parameters[f"word_{number}"] = word
        parameters[f"escaped_{number}"] = _in_json(word)
        found = (
            f"multiSearchAnyCaseInsensitiveUTF8({text},"
            f" [{{word_{number}:String}}, {{escaped_{number}:String}}])"
            for text in _TEXTS
        )
        conditions.append(f"({' OR '.join(found)})")
    rows = await engine.fetch(
        f"""{WITH_BOUNDS} SELECT lower(hex(span_id)) AS id FROM (
            SELECT * FROM spans WHERE {SPANS_AT_LOCATION}
            ORDER BY version DESC LIMIT 1 BY span_id)
        WHERE {IS_SHOWN} AND {" AND ".join(conditions)}
        ORDER BY start, id LIMIT {MAX_MATCHES}""",
        parameters,
        tag="search_spans",
    )
    return [row["id"] for row in rows]


def _in_json(word: str) -> str:
    """Return a word as it is inside a JSON string: contents may be stored as JSON."""
    return orjson.dumps(word).decode()[1:-1]
