"""What log records tell about the spans they belong to.

Some instrumentations send messages and decided flags not with the span but as log records that
carry its ids, before or after it. They are joined when a trace is read.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from spanwise.model.telemetry.messages import (
    DETAILS_EVENT,
    FLAG_EVENTS,
    INPUT_EVENTS,
    OUTPUT_EVENTS,
    read_flag,
    to_message,
)
from spanwise.model.telemetry.spans import SpanFields
from spanwise.storage.telemetry.engine.engine import Engine
from spanwise.storage.telemetry.spans.decoding import (
    CUT_MARKER,
    Texts,
    read_attributes,
    read_content,
)

MAX_RECORDS = 10_000

_EVENTS = (*INPUT_EVENTS, *OUTPUT_EVENTS, *sorted(FLAG_EVENTS), DETAILS_EVENT)


@dataclass
class Told:
    """What the log records of one span say."""

    inputs: list[Any] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)
    flag: tuple[str, str] | None = None


async def find_told(engine: Engine, workspace: str, trace_id: str) -> dict[str, Told]:
    """Return what log records tell, by the span they belong to."""
    rows = await engine.fetch(
        """SELECT span_id, if(event_name = '', attributes['event.name'], event_name) AS event,
            message, attributes
        FROM logs FINAL
        WHERE workspace = {workspace:String} AND trace_id = {trace:String} AND span_id != ''
            AND event IN {events:Array(String)}
        ORDER BY time, version, id LIMIT {limit:UInt32}""",
        {
            "workspace": workspace,
            "trace": trace_id,
            "events": list(_EVENTS),
            "limit": MAX_RECORDS,
        },
        tag="find_told",
        raw=True,
    )
    told: dict[str, Told] = defaultdict(Told)
    texts = Texts()
    for row in rows:
        body = read_content(row["message"])
        said = read_attributes(row["attributes"], texts)
        said |= body if isinstance(body, dict) else {}
        _take(told[row["span_id"].decode()], row["event"].decode(), said)
    return told


def _take(told: Told, event: str, values: Mapping[str, Any]) -> None:
    if event in INPUT_EVENTS:
        told.inputs.append(to_message(INPUT_EVENTS[event], values))
    elif event in OUTPUT_EVENTS:
        told.outputs.append(to_message(OUTPUT_EVENTS[event], values))
    elif event in FLAG_EVENTS:
        told.flag = told.flag or read_flag(values)
    else:
        told.inputs += _listed(values.get("gen_ai.input.messages"))
        told.outputs += _listed(values.get("gen_ai.output.messages"))


def _listed(value: Any) -> list[Any]:  # noqa: ANN401 -- a list, or JSON that says one
    if isinstance(value, str):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            return [value]
    return value if isinstance(value, list) else [value] if value else []


def fill_in(span: SpanFields, said: Told | None, max_bytes: int | None = None) -> None:
    """Give a span what it does not say itself; contents beyond `max_bytes` are cut."""
    if said is None:
        return
    if span["input"] is None and said.inputs:
        span["input"] = _cut(said.inputs, max_bytes)
    if span["output"] is None and said.outputs:
        span["output"] = _cut(said.outputs, max_bytes)
    if span["experimentId"] is None and said.flag is not None:
        span["experimentId"], span["variant"] = said.flag


def _cut(messages: list[Any], max_bytes: int | None) -> Any:  # noqa: ANN401 -- JSON or text
    text = orjson.dumps(messages)
    if max_bytes is None or len(text) <= max_bytes:
        return messages
    return text[:max_bytes].decode(errors="ignore") + CUT_MARKER
