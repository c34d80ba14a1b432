"""Reads the spans of one trace, column by column: a trace may have tens of thousands."""

import asyncio
import operator
from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import repeat
from typing import Any

from spanwise.model.agents import AgentIds
from spanwise.model.telemetry.conventions import CALL_ID, CALL_IS_DERIVED, USAGE_KINDS
from spanwise.model.telemetry.conversation.conversations import (
    CONVERSATION_KINDS,
    normalize_messages,
)
from spanwise.model.telemetry.conversation.messages import with_instructions
from spanwise.model.telemetry.spans import Span, SpanFields
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.query import Columns
from spanwise.storage.telemetry.rows.call_deduplication import Call, find_counted_in
from spanwise.storage.telemetry.rows.decoding import (
    CUT_MARKER,
    MAX_SHOWN_BYTES,
    TextCache,
    in_utc,
    read_attributes,
    read_content,
    read_events,
    to_text,
)
from spanwise.storage.telemetry.rows.first_token import FIRST_TOKEN_MS
from spanwise.storage.telemetry.rows.locations import SPANS_AT_LOCATION, WITH_BOUNDS, TraceLocation
from spanwise.storage.telemetry.rows.shown_spans import SUPERSEDED
from spanwise.storage.telemetry.spans.emitted_messages import (
    LoggedMessages,
    add_logged_messages,
    find_messages,
)
from spanwise.storage.telemetry.write.trace_rows import UNNAMED_SERVICE

_COLUMNS = f"""lower(hex(span_id)) AS id, lower(hex(parent_span_id)) AS parent, name, kind, start,
    toUnixTimestamp64Nano(start) AS start_nano, duration_ns, status, status_message, error_type,
    agent_name, provider, model, response_id, input_tokens, output_tokens, cached_tokens,
    cache_write_tokens, reasoning_tokens, cost, tool_name, session_id, user_id, environment,
    experiment_id, variant, service_name, workflow_name, attributes, events,
    {FIRST_TOKEN_MS} AS first_token_ms"""
_TRUNCATED_CONTENT = """substring(input, 1, {shown:UInt32}) AS input,
    length(spans.input) > {shown:UInt32} AS input_is_cut,
    substring(output, 1, {shown:UInt32}) AS output,
    length(spans.output) > {shown:UInt32} AS output_is_cut"""
_FULL_CONTENT = "input, 0 AS input_is_cut, output, 0 AS output_is_cut"
_NO_PARENT = b"0" * 16
_USAGE_KINDS = {kind.encode() for kind in USAGE_KINDS}
_CALL_NAMES = (
    *("id", "parent", "kind", "response_id", "input_tokens", "output_tokens", "cached_tokens"),
    *("cache_write_tokens", "reasoning_tokens", "start_nano"),
)
_CALL_COLUMNS = f"""lower(hex(span_id)) AS id, lower(hex(parent_span_id)) AS parent,
    toUnixTimestamp64Nano(start) AS start_nano, {", ".join(_CALL_NAMES[2:-1])}"""
_UNNAMED_SERVICE = UNNAMED_SERVICE.encode()
_CALL_ID, _CALL_IS_DERIVED = CALL_ID.encode(), CALL_IS_DERIVED.encode()


async def read_spans(engine: Engine, location: TraceLocation) -> Columns:
    """Read all spans of a trace, for `to_spans`."""
    return await engine.fetch_columns(
        f"""{WITH_BOUNDS}
        SELECT {_COLUMNS}, {_TRUNCATED_CONTENT} FROM spans WHERE {SPANS_AT_LOCATION}
        ORDER BY version DESC LIMIT 1 BY span_id""",
        {**location.parameters, "shown": MAX_SHOWN_BYTES},
        tag="read_spans",
    )


async def to_spans(
    columns: Columns, trace_id: str, messages: Mapping[str, LoggedMessages], agent_ids: AgentIds
) -> list[SpanFields]:
    """Return spans in start order; long content is truncated, with a marker."""
    # In a thread, because decoding a large trace would block the event loop.
    return await asyncio.to_thread(_to_spans, columns, trace_id, messages, agent_ids)


async def find_span(
    engine: Engine, location: TraceLocation, span_id: str, agent_ids: AgentIds
) -> Span | None:
    """Return one span with its full content."""
    columns = await engine.fetch_columns(
        f"""{WITH_BOUNDS} SELECT {_COLUMNS}, {_FULL_CONTENT} FROM spans
        WHERE {SPANS_AT_LOCATION} AND span_id = unhex({{span:String}})
        ORDER BY version DESC LIMIT 1""",
        {**location.parameters, "span": span_id},
        tag="find_span",
    )
    if not columns or columns["kind"][0] == SUPERSEDED.encode():
        return None
    messages = await find_messages(engine, location.workspace, location.trace_id)
    [span] = _to_fields(columns, location.trace_id, columns["agent_name"], agent_ids)
    span["countedIn"] = await _find_counted_in(engine, location, span)
    add_logged_messages(span, messages)
    _add_messages(span)
    return Span.model_validate(span)


async def _find_counted_in(engine: Engine, location: TraceLocation, span: SpanFields) -> str | None:
    """Return the span in which the call of this one is counted, None when it counts itself."""
    if span["kind"] not in USAGE_KINDS:
        return None
    columns = await engine.fetch_columns(
        f"""{WITH_BOUNDS} SELECT {_CALL_COLUMNS} FROM spans WHERE {SPANS_AT_LOCATION}
        ORDER BY version DESC LIMIT 1 BY span_id""",
        location.parameters,
        tag="find_calls",
    )
    return find_counted_in(_to_calls(columns)).get(span["spanId"])


def _to_calls(columns: Columns) -> list[Call[str]]:
    rows = zip(*(columns[name] for name in _CALL_NAMES), strict=True)
    return [
        Call(
            to_text(span_id),
            to_text(parent),
            kind == b"llm",
            to_text(response),
            read + written,
            cached + cache_written + reasoning,
            start,
        )
        for (
            span_id,
            parent,
            kind,
            response,
            read,
            written,
            cached,
            cache_written,
            reasoning,
            start,
        ) in rows
        if kind in _USAGE_KINDS
    ]


def _to_spans(
    columns: Columns, trace_id: str, messages: Mapping[str, LoggedMessages], agent_ids: AgentIds
) -> list[SpanFields]:
    if not columns:
        return []
    columns = _drop_superseded(columns)
    names = zip(
        _inherit(columns, "agent_name"),
        _inherit(columns, "workflow_name"),
        columns["service_name"],
        strict=True,
    )
    root = _root_name(columns)
    agents = [
        agent or workflow or (root if service.startswith(_UNNAMED_SERVICE) else service)
        for agent, workflow, service in names
    ]
    spans = _to_fields(columns, trace_id, agents, agent_ids)
    counted_in = find_counted_in(_to_calls(columns))
    for span in spans:
        span["countedIn"] = counted_in.get(span["spanId"])
        if messages:
            add_logged_messages(span, messages, MAX_SHOWN_BYTES)
        _add_messages(span)
    return [spans[index] for index in _start_order(columns)]


def _add_messages(span: SpanFields) -> None:
    """Add the normalized messages of a span's input and output."""
    is_conversation = span["kind"] in CONVERSATION_KINDS
    span["messages"] = {
        side: normalize_messages(span[side], role, span["attributes"]) if is_conversation else None
        for side, role in (("input", "user"), ("output", "assistant"))
    }


def _drop_superseded(columns: Columns) -> Columns:
    """Drop calls derived from a log record when the agent also sent a span of the call."""
    stored = columns["attributes"]
    derived = {at for at, values in enumerate(stored) if _CALL_IS_DERIVED in values}
    if not derived:
        return columns
    own = {v[_CALL_ID] for at, v in enumerate(stored) if at not in derived and _CALL_ID in v}
    kept = [at for at, v in enumerate(stored) if at not in derived or v[_CALL_ID] not in own]
    return {name: [values[at] for at in kept] for name, values in columns.items()}


def _root_name(columns: Columns) -> bytes:
    """Return the name of the earliest root, which is the agent of a service without a name."""
    roots = [at for at, parent in enumerate(columns["parent"]) if parent == _NO_PARENT]
    first = min(roots, key=columns["start"].__getitem__, default=None)
    return b"" if first is None else columns["name"][first]


def _start_order(columns: Columns) -> list[int]:
    """Return indexes sorted by start; at the same instant a parent comes before its children."""
    ids, starts = columns["id"], columns["start"]
    parents = dict(zip(ids, columns["parent"], strict=True))
    depth: dict[bytes, int] = {}

    def depth_of(span_id: bytes) -> int:
        chain = []
        at = span_id
        while at in parents and at not in depth and at not in chain:
            chain.append(at)
            at = parents[at]
        base = depth.get(at, 0)
        for steps, member in enumerate(reversed(chain), 1):
            depth[member] = base + steps
        return depth[span_id]

    return sorted(range(len(ids)), key=lambda at: (starts[at], depth_of(ids[at]), ids[at]))


def _inherit(columns: Columns, name: str) -> Sequence[bytes]:
    """Return each span's value or, when empty, that of its nearest ancestor with a value."""
    if not any(columns[name]):
        return columns[name]
    values = dict(zip(columns["id"], columns[name], strict=True))
    parents = dict(zip(columns["id"], columns["parent"], strict=True))
    found: dict[bytes, bytes] = {}
    for span_id in values:
        empty: dict[bytes, None] = {}
        at = span_id
        while at in values and at not in found and at not in empty:
            if values[at]:
                found[at] = values[at]
            else:
                empty[at] = None
                at = parents[at]
        found |= dict.fromkeys(empty, found.get(at, b""))
    return [found[span_id] for span_id in values]


def _to_fields(
    columns: Columns, trace_id: str, agents: Sequence[bytes], agent_ids: AgentIds
) -> list[SpanFields]:
    texts = TextCache()

    def text(raw: Sequence[bytes]) -> list[str | None]:
        return [texts[value] or None for value in raw]

    starts = [*map(in_utc, columns["start"])]
    durations = columns["duration_ns"]
    agent_names = text(agents)
    attributes = [read_attributes(stored, texts) for stored in columns["attributes"]]
    inputs = zip(_read_contents(columns, "input"), attributes, strict=True)
    fields = {
        "traceId": repeat(trace_id),
        "spanId": map(to_text, columns["id"]),
        "parentSpanId": [None if i == _NO_PARENT else texts[i] for i in columns["parent"]],
        "name": map(to_text, columns["name"]),
        "kind": text(columns["kind"]),
        "startTime": starts,
        "endTime": [
            start + timedelta(microseconds=nano / 1000)
            for start, nano in zip(starts, durations, strict=True)
        ],
        "durationMs": [nano / 1e6 for nano in durations],
        "status": text(columns["status"]),
        "statusMessage": text(columns["status_message"]),
        "errorType": text(columns["error_type"]),
        "agentId": [agent_ids.get(name or "") for name in agent_names],
        "agentName": agent_names,
        "provider": text(columns["provider"]),
        "model": text(columns["model"]),
        "inputTokens": columns["input_tokens"],
        "outputTokens": columns["output_tokens"],
        "cachedTokens": columns["cached_tokens"],
        "cacheWriteTokens": columns["cache_write_tokens"],
        "reasoningTokens": columns["reasoning_tokens"],
        "totalTokens": map(operator.add, columns["input_tokens"], columns["output_tokens"]),
        "cost": columns["cost"],
        "timeToFirstTokenMs": columns["first_token_ms"],
        "toolName": text(columns["tool_name"]),
        "sessionId": text(columns["session_id"]),
        "userId": text(columns["user_id"]),
        "environment": text(columns["environment"]),
        "experimentId": text(columns["experiment_id"]),
        "variant": text(columns["variant"]),
        "serviceName": text(columns["service_name"]),
        "input": [with_instructions(content, extra) for content, extra in inputs],
        "output": _read_contents(columns, "output"),
        "attributes": attributes,
        "events": map(read_events, columns["events"]),
    }
    # `traceId` repeats without end; all other columns have one value per span.
    return [dict(zip(fields, span, strict=True)) for span in zip(*fields.values(), strict=False)]


def _read_contents(columns: Columns, name: str) -> list[Any]:
    return [
        stored.decode("utf-8", "ignore") + CUT_MARKER if is_cut else read_content(stored)
        for stored, is_cut in zip(columns[name], columns[f"{name}_is_cut"], strict=True)
    ]
