"""Reads the spans of one trace, column by column: one may have tens of thousands."""

import asyncio
import operator
from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import repeat
from typing import Any

from spanwise.model.telemetry.conventions import CALL_ID, CALL_IS_DERIVED
from spanwise.model.telemetry.messages import with_instructions
from spanwise.model.telemetry.spans import Span, SpanFields
from spanwise.storage.telemetry.engine.engine import Columns, Engine
from spanwise.storage.telemetry.spans.decoding import (
    CUT_MARKER,
    MAX_SHOWN_BYTES,
    Texts,
    in_utc,
    read_attributes,
    read_content,
    read_events,
    to_text,
)
from spanwise.storage.telemetry.spans.emitted_messages import Told, fill_in, find_told
from spanwise.storage.telemetry.spans.locations import IN_PLACE, Place
from spanwise.storage.telemetry.traces.aggregates import SUPERSEDED
from spanwise.storage.telemetry.traces.traces import AgentIds

_COLUMNS = """lower(hex(span_id)) AS id, lower(hex(parent_span_id)) AS parent, name, kind, start,
    duration_ns, status, status_message, error_type, agent_name, provider, model, input_tokens,
    output_tokens, cached_tokens, reasoning_tokens, cost, tool_name, session_id, user_id,
    environment, experiment_id, variant, service_name, workflow_name, attributes, events"""
_SHORT = """substring(input, 1, {shown:UInt32}) AS input,
    length(spans.input) > {shown:UInt32} AS input_is_cut,
    substring(output, 1, {shown:UInt32}) AS output,
    length(spans.output) > {shown:UInt32} AS output_is_cut"""
_WHOLE = "input, 0 AS input_is_cut, output, 0 AS output_is_cut"
_NO_PARENT = b"0" * 16
_CALL_ID, _CALL_IS_DERIVED = CALL_ID.encode(), CALL_IS_DERIVED.encode()


async def find_spans(
    engine: Engine, place: Place, agent_ids: AgentIds, *, has_logs: bool = True
) -> list[SpanFields]:
    """Return all spans of a trace in start order; long contents are cut, with a marker."""
    reading = engine.fetch_columns(
        f"""SELECT {_COLUMNS}, {_SHORT} FROM spans WHERE {IN_PLACE}
        ORDER BY version DESC LIMIT 1 BY span_id""",
        {**place.parameters, "shown": MAX_SHOWN_BYTES},
        tag="find_spans",
    )
    told: Mapping[str, Told] = {}
    if has_logs:
        columns, told = await asyncio.gather(
            reading, find_told(engine, place.workspace, place.trace_id)
        )
    else:
        columns = await reading
    # In a thread: others want to be answered meanwhile.
    return await asyncio.to_thread(_to_spans, columns, place.trace_id, told, agent_ids)


async def find_span(engine: Engine, place: Place, span_id: str, agent_ids: AgentIds) -> Span | None:
    """Return one span with its whole contents."""
    columns = await engine.fetch_columns(
        f"""SELECT {_COLUMNS}, {_WHOLE} FROM spans
        WHERE {IN_PLACE} AND span_id = unhex({{span:String}}) ORDER BY version DESC LIMIT 1""",
        {**place.parameters, "span": span_id},
        tag="find_span",
    )
    if not columns or columns["kind"][0] == SUPERSEDED.encode():
        return None
    told = await find_told(engine, place.workspace, place.trace_id)
    [span] = _show(columns, place.trace_id, columns["agent_name"], agent_ids)
    fill_in(span, told.get(span_id))
    return Span.model_validate(span)


def _to_spans(
    columns: Columns, trace_id: str, told: Mapping[str, Told], agent_ids: AgentIds
) -> list[SpanFields]:
    if not columns:
        return []
    columns = _without_superseded(columns)
    said = zip(
        _inherited(columns, "agent_name"),
        _inherited(columns, "workflow_name"),
        columns["service_name"],
        strict=True,
    )
    agents = [agent or workflow or service for agent, workflow, service in said]
    spans = _show(columns, trace_id, agents, agent_ids)
    for span in spans if told else ():
        fill_in(span, told.get(span["spanId"]), MAX_SHOWN_BYTES)
    return [spans[place] for place in _order(columns)]


def _without_superseded(columns: Columns) -> Columns:
    """Leave out calls that were derived from a log record if the agent's own span is there."""
    stored = columns["attributes"]
    derived = {at for at, values in enumerate(stored) if _CALL_IS_DERIVED in values}
    if not derived:
        return columns
    own = {v[_CALL_ID] for at, v in enumerate(stored) if at not in derived and _CALL_ID in v}
    kept = [at for at, v in enumerate(stored) if at not in derived or v[_CALL_ID] not in own]
    return {name: [values[at] for at in kept] for name, values in columns.items()}


def _order(columns: Columns) -> list[int]:
    """Sort by start; at the same instant a parent comes before its children."""
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


def _inherited(columns: Columns, name: str) -> Sequence[bytes]:
    """Return what each span says, or else its nearest ancestor that says something."""
    if not any(columns[name]):
        return columns[name]
    said = dict(zip(columns["id"], columns[name], strict=True))
    parents = dict(zip(columns["id"], columns["parent"], strict=True))
    found: dict[bytes, bytes] = {}
    for span_id in said:
        silent: dict[bytes, None] = {}
        at = span_id
        while at in said and at not in found and at not in silent:
            if said[at]:
                found[at] = said[at]
            else:
                silent[at] = None
                at = parents[at]
        found |= dict.fromkeys(silent, found.get(at, b""))
    return [found[span_id] for span_id in said]


def _show(
    columns: Columns, trace_id: str, agents: Sequence[bytes], agent_ids: AgentIds
) -> list[SpanFields]:
    texts = Texts()

    def text(raw: Sequence[bytes]) -> list[str | None]:
        return [texts[value] or None for value in raw]

    starts = [*map(in_utc, columns["start"])]
    lasted = columns["duration_ns"]
    agent_names = text(agents)
    attributes = [read_attributes(stored, texts) for stored in columns["attributes"]]
    said = zip(_contents(columns, "input"), attributes, strict=True)
    fields = {
        "traceId": repeat(trace_id),
        "spanId": map(to_text, columns["id"]),
        "parentSpanId": [None if i == _NO_PARENT else texts[i] for i in columns["parent"]],
        "name": map(to_text, columns["name"]),
        "kind": text(columns["kind"]),
        "startTime": starts,
        "endTime": [
            start + timedelta(microseconds=nano / 1000)
            for start, nano in zip(starts, lasted, strict=True)
        ],
        "durationMs": [nano / 1e6 for nano in lasted],
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
        "reasoningTokens": columns["reasoning_tokens"],
        "totalTokens": map(operator.add, columns["input_tokens"], columns["output_tokens"]),
        "cost": columns["cost"],
        "toolName": text(columns["tool_name"]),
        "sessionId": text(columns["session_id"]),
        "userId": text(columns["user_id"]),
        "environment": text(columns["environment"]),
        "experimentId": text(columns["experiment_id"]),
        "variant": text(columns["variant"]),
        "serviceName": text(columns["service_name"]),
        "input": [with_instructions(messages, beside) for messages, beside in said],
        "output": _contents(columns, "output"),
        "attributes": attributes,
        "events": map(read_events, columns["events"]),
    }
    # `traceId` has no end; all others are as long as the trace.
    return [dict(zip(fields, span, strict=True)) for span in zip(*fields.values(), strict=False)]


def _contents(columns: Columns, name: str) -> list[Any]:
    return [
        stored.decode("utf-8", "ignore") + CUT_MARKER if is_cut else read_content(stored)
        for stored, is_cut in zip(columns[name], columns[f"{name}_is_cut"], strict=True)
    ]
