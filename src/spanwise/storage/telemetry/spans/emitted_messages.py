"""Reads messages and flag decisions that log records carry for spans.

Some instrumentations emit messages not on the span but as log records with its ids, which may
arrive before or after it. They are joined when a trace is read.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from spanwise.model.telemetry.conventions import RECORD_POSITION
from spanwise.model.telemetry.conversation.messages import (
    ANSWER_EVENTS,
    DETAILS_EVENT,
    FLAG_EVENTS,
    INPUT_EVENTS,
    OUTPUT_EVENTS,
    PROMPT_EVENTS,
    read_flag,
    to_message,
)
from spanwise.model.telemetry.spans import SpanFields
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.rows.decoding import (
    CUT_MARKER,
    TextCache,
    read_attributes,
    read_content,
)

MAX_RECORDS = 10_000

_EVENTS = (
    *(*INPUT_EVENTS, *OUTPUT_EVENTS, *sorted(FLAG_EVENTS), DETAILS_EVENT),
    *(*PROMPT_EVENTS, *ANSWER_EVENTS),
)
# Attribute of a coding agent's call, and of the record with its answer.
_REQUEST_ID = "request_id"


@dataclass
class LoggedMessages:
    """The content of one span's log records."""

    inputs: list[Any] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)
    flag: tuple[str, str] | None = None


async def find_messages(engine: Engine, workspace: str, trace_id: str) -> dict[str, LoggedMessages]:
    """Return the logged messages of a trace by the id of their span or request."""
    rows = await engine.fetch(
        f"""SELECT span_id, if(attributes['event.name'] = '', event_name, attributes['event.name'])
                AS event, message, attributes
        FROM logs FINAL
        WHERE workspace = {{workspace:String}} AND trace_id = {{trace:String}} AND span_id != ''
            AND event IN {{events:Array(String)}}
        ORDER BY time, version, toUInt32OrZero(attributes['{RECORD_POSITION}']), id
        LIMIT {{limit:UInt32}}""",
        {
            "workspace": workspace,
            "trace": trace_id,
            "events": list(_EVENTS),
            "limit": MAX_RECORDS,
        },
        tag="find_messages",
        raw=True,
    )
    messages: dict[str, LoggedMessages] = defaultdict(LoggedMessages)
    texts = TextCache()
    for row in rows:
        body = read_content(row["message"])
        values = read_attributes(row["attributes"], texts)
        values |= body if isinstance(body, dict) else {}
        event = row["event"].decode()
        key = values.get(_REQUEST_ID) if event in ANSWER_EVENTS else row["span_id"].decode()
        _add_record(messages[str(key)], event, values)
    return messages


def _add_record(messages: LoggedMessages, event: str, values: Mapping[str, Any]) -> None:
    if event in PROMPT_EVENTS:
        messages.inputs += _to_list(values.get(PROMPT_EVENTS[event]))
    elif event in ANSWER_EVENTS:
        messages.outputs += _to_list(values.get(ANSWER_EVENTS[event]))
    elif event in INPUT_EVENTS:
        messages.inputs.append(to_message(INPUT_EVENTS[event], values))
    elif event in OUTPUT_EVENTS:
        messages.outputs.append(to_message(OUTPUT_EVENTS[event], values))
    elif event in FLAG_EVENTS:
        messages.flag = messages.flag or read_flag(values)
    else:
        messages.inputs += _to_list(values.get("gen_ai.input.messages"))
        messages.outputs += _to_list(values.get("gen_ai.output.messages"))


def _to_list(value: Any) -> list[Any]:  # noqa: ANN401 -- a list, or a list as JSON
    if isinstance(value, str):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            return [value]
    return value if isinstance(value, list) else [value] if value else []


def add_logged_messages(
    span: SpanFields, messages: Mapping[str, LoggedMessages], max_bytes: int | None = None
) -> None:
    """Fill fields that the span itself does not have; content beyond `max_bytes` is truncated."""
    for key in (span["spanId"], span["attributes"].get(_REQUEST_ID)):
        found = messages.get(key) if isinstance(key, str) else None
        if found is None:
            continue
        if span["input"] is None and found.inputs:
            span["input"] = _truncate(found.inputs, max_bytes)
        if span["output"] is None and found.outputs:
            span["output"] = _truncate(found.outputs, max_bytes)
        if span["experimentId"] is None and found.flag is not None:
            span["experimentId"], span["variant"] = found.flag


def _truncate(messages: list[Any], max_bytes: int | None) -> Any:  # noqa: ANN401 -- JSON or text
    text = orjson.dumps(messages)
    if max_bytes is None or len(text) <= max_bytes:
        return messages
    return text[:max_bytes].decode(errors="ignore") + CUT_MARKER
