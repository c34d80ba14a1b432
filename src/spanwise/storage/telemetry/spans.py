"""Reads the spans of one trace."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from spanwise.model.messages import with_instructions
from spanwise.model.spans import Span, SpanStatus
from spanwise.storage.telemetry.engine import Engine, Rows
from spanwise.storage.telemetry.places import IN_PLACE, Place
from spanwise.storage.telemetry.told import Told, fill_in, find_told
from spanwise.storage.telemetry.traces import AgentIds
from spanwise.storage.telemetry.values import (
    CUT_MARKER,
    MAX_SHOWN_BYTES,
    in_utc,
    or_none,
    read_attributes,
    read_content,
    read_events,
    to_text,
)

_COLUMNS = """lower(hex(trace_id)) AS trace, lower(hex(span_id)) AS id,
    lower(hex(parent_span_id)) AS parent, is_root, name, kind, start, duration_ns, status,
    status_message, error_type, agent_name, provider, model, input_tokens, output_tokens,
    cached_tokens, reasoning_tokens, cost, tool_name, session_id, user_id, environment,
    experiment_id, variant, service_name, workflow_name, attributes, resource, events"""
_SHORT = """substring(input, 1, {shown:UInt32}) AS input,
    length(spans.input) > {shown:UInt32} AS input_is_cut,
    substring(output, 1, {shown:UInt32}) AS output,
    length(spans.output) > {shown:UInt32} AS output_is_cut"""
_NO_PARENT = b"0" * 16
_WHOLE = "input, 0 AS input_is_cut, output, 0 AS output_is_cut"


async def find_spans(
    engine: Engine, place: Place, agent_ids: AgentIds, *, has_logs: bool = True
) -> list[Span]:
    """Return all spans of a trace in start order; long contents are cut, with a marker."""
    reading = engine.fetch(
        f"""SELECT {_COLUMNS}, {_SHORT} FROM spans WHERE {IN_PLACE}
        ORDER BY version DESC LIMIT 1 BY span_id""",
        {**place.parameters, "shown": MAX_SHOWN_BYTES},
        tag="find_spans",
        raw=True,
    )
    told: Mapping[str, Told] = {}
    if has_logs:
        rows, told = await asyncio.gather(
            reading, find_told(engine, place.workspace, place.trace_id)
        )
    else:
        rows = await reading
    # In a thread: a trace may have tens of thousands, and others want to be answered meanwhile.
    return await asyncio.to_thread(_to_spans, rows, told, agent_ids)


async def find_span(engine: Engine, place: Place, span_id: str, agent_ids: AgentIds) -> Span | None:
    """Return one span with its whole contents."""
    rows = await engine.fetch(
        f"""SELECT {_COLUMNS}, {_WHOLE} FROM spans
        WHERE {IN_PLACE} AND span_id = unhex({{span:String}}) ORDER BY version DESC LIMIT 1""",
        {**place.parameters, "span": span_id},
        tag="find_span",
        raw=True,
    )
    if not rows:
        return None
    told = await find_told(engine, place.workspace, place.trace_id)
    return fill_in(_to_span(rows[0], to_text(rows[0]["agent_name"]), agent_ids), told)


def in_order(spans: Sequence[Span]) -> list[Span]:
    """Sort by start; at the same instant a parent comes before its children."""
    depth: dict[str, int] = {}
    parents = {span.span_id: span.parent_span_id for span in spans}

    def depth_of(span_id: str) -> int:
        chain = []
        at: str | None = span_id
        while at is not None and at in parents and at not in depth and at not in chain:
            chain.append(at)
            at = parents[at]
        base = depth.get(at, 0) if at is not None else 0
        for steps, member in enumerate(reversed(chain), 1):
            depth[member] = base + steps
        return depth[span_id]

    return sorted(spans, key=lambda s: (s.start_time, depth_of(s.span_id), s.span_id))


def _to_spans(rows: Rows, told: Mapping[str, Told], agent_ids: AgentIds) -> list[Span]:
    by_id = {row["id"]: row for row in rows}
    agents, workflows = _inherited(by_id, "agent_name"), _inherited(by_id, "workflow_name")
    spans = []
    for span_id, row in by_id.items():
        agent = agents[span_id] or workflows[span_id] or row["service_name"]
        spans.append(fill_in(_to_span(row, to_text(agent), agent_ids), told, MAX_SHOWN_BYTES))
    return in_order(spans)


def _inherited(by_id: Mapping[bytes, Mapping[str, Any]], column: str) -> dict[bytes, bytes]:
    """Return what each span says, or else its nearest ancestor that says something."""
    found: dict[bytes, bytes] = {}
    for span_id in by_id:
        silent: dict[bytes, None] = {}
        at = span_id
        while at in by_id and at not in found and at not in silent:
            if said := by_id[at][column]:
                found[at] = said
            else:
                silent[at] = None
                at = by_id[at]["parent"]
        found |= dict.fromkeys(silent, found.get(at, b""))
    return found


def _to_span(row: Mapping[str, Any], agent_name: str, agent_ids: AgentIds) -> Span:
    def text(column: str) -> str | None:
        value: bytes = row[column]
        return value.decode("utf-8", "replace") or None

    start = in_utc(row["start"])
    attributes = read_attributes(row["attributes"])
    return Span(
        trace_id=to_text(row["trace"]),
        span_id=to_text(row["id"]),
        parent_span_id=None if row["parent"] == _NO_PARENT else to_text(row["parent"]),
        name=to_text(row["name"]),
        kind=to_text(row["kind"]),
        start_time=start,
        end_time=start + timedelta(microseconds=row["duration_ns"] / 1000),
        duration_ms=row["duration_ns"] / 1e6,
        status=SpanStatus(to_text(row["status"])),
        status_message=text("status_message"),
        error_type=text("error_type"),
        agent_id=agent_ids.get(agent_name),
        agent_name=or_none(agent_name),
        provider=text("provider"),
        model=text("model"),
        input_tokens=row["input_tokens"],
        output_tokens=row["output_tokens"],
        cached_tokens=row["cached_tokens"],
        reasoning_tokens=row["reasoning_tokens"],
        total_tokens=row["input_tokens"] + row["output_tokens"],
        cost=row["cost"],
        tool_name=text("tool_name"),
        session_id=text("session_id"),
        user_id=text("user_id"),
        environment=text("environment"),
        experiment_id=text("experiment_id"),
        variant=text("variant"),
        service_name=text("service_name"),
        input=with_instructions(_content(row, "input"), attributes),
        output=_content(row, "output"),
        attributes=attributes,
        events=read_events(row["events"]),
    )


def _content(row: Mapping[str, Any], name: str) -> Any:  # noqa: ANN401 -- JSON or text
    if not row[f"{name}_is_cut"]:
        return read_content(row[name])
    shown: str = row[name].decode("utf-8", "ignore")
    return shown + CUT_MARKER
