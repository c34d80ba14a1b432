"""Some instrumentations write a call's messages not on its span but into logs beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from spanwise.model.messages import DETAILS_EVENT, INPUT_EVENTS, OUTPUT_EVENTS
from spanwise.model.spans import Span

MESSAGE_EVENTS = (*INPUT_EVENTS, *OUTPUT_EVENTS, DETAILS_EVENT)
MAX_RECORDS = 10_000


@dataclass
class _Contents:
    input: list[Any] = field(default_factory=list)
    output: list[Any] = field(default_factory=list)


def lacks_content(spans: Sequence[Span]) -> bool:
    return any(span.input is None or span.output is None for span in spans)


def fill_contents(
    spans: Sequence[Span], records: Sequence[Mapping[str, Any]], max_bytes: int | None = None
) -> list[Span]:
    """Give spans without an input or output the messages that log records say they had."""
    contents: dict[str, _Contents] = {}
    for record in records:
        _collect(contents.setdefault(record["span_id"], _Contents()), record)
    return [
        _fill(span, contents[span.span_id], max_bytes) if span.span_id in contents else span
        for span in spans
    ]


def _collect(into: _Contents, record: Mapping[str, Any]) -> None:
    event, values = record["event"], record["values"]
    if event == DETAILS_EVENT:
        into.input += _messages(values.get("gen_ai.input.messages"))
        into.output += _messages(values.get("gen_ai.output.messages"))
    elif event in INPUT_EVENTS:
        into.input.append(_message(INPUT_EVENTS[event], values))
    elif event in OUTPUT_EVENTS:
        into.output.append(_message(OUTPUT_EVENTS[event], values))


def _messages(value: Any) -> list[Any]:  # noqa: ANN401 -- a list, or JSON that says one
    if isinstance(value, str):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            return [value]
    return value if isinstance(value, list) else [value] if value else []


def _message(role: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Make one chat message of an event; a choice holds its message one level deeper."""
    plain = {key: value for key, value in values.items() if not key.startswith("gen_ai.")}
    inner = plain.pop("message", None)
    if isinstance(inner, dict):
        plain = {**inner, **plain}
    return {"role": plain.pop("role", None) or role, **plain}


def _fill(span: Span, contents: _Contents, max_bytes: int | None) -> Span:
    found: dict[str, Any] = {}
    if span.input is None and contents.input:
        found["input"] = _cut(contents.input, max_bytes)
    if span.output is None and contents.output:
        found["output"] = _cut(contents.output, max_bytes)
    return span.model_copy(update=found) if found else span


def _cut(messages: list[Any], max_bytes: int | None) -> Any:  # noqa: ANN401 -- JSON or text
    text = orjson.dumps(messages)
    if max_bytes is None or len(text) <= max_bytes:
        return messages
    shown = text[:max_bytes].decode(errors="ignore")
    return f"{shown}… [cut at 64 KiB; the span's own address has the whole]"
