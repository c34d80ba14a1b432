"""Reads the spans of one trace."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from spanwise.model.messages import with_instructions
from spanwise.model.spans import Span
from spanwise.storage.telemetry.engine import Engine
from spanwise.storage.telemetry.places import IN_PLACE, Place
from spanwise.storage.telemetry.told import fill_in, find_told
from spanwise.storage.telemetry.traces import AgentIds
from spanwise.storage.telemetry.values import (
    CUT_MARKER,
    MAX_SHOWN_BYTES,
    in_utc,
    or_none,
    read_attributes,
    read_content,
    read_events,
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
_WHOLE = "input, 0 AS input_is_cut, output, 0 AS output_is_cut"


async def find_spans(engine: Engine, place: Place, agent_ids: AgentIds) -> list[Span]:
    """Return all spans of a trace in start order; long contents are cut, with a marker."""
    rows, told = await asyncio.gather(
        engine.fetch(
            f"""SELECT {_COLUMNS}, {_SHORT} FROM spans WHERE {IN_PLACE}
            ORDER BY version DESC LIMIT 1 BY span_id""",
            {**place.parameters, "shown": MAX_SHOWN_BYTES},
            tag="find_spans",
            raw=True,
        ),
        find_told(engine, place.workspace, place.trace_id),
    )
    spans = [fill_in(_to_span(row, agent_ids), told, MAX_SHOWN_BYTES) for row in rows]
    workflows = {row["id"].decode(): row["workflow_name"].decode() for row in rows}
    return inherit_agents(in_order(spans), agent_ids, workflows)


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
    return fill_in(_to_span(rows[0], agent_ids), told)


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


def inherit_agents(
    spans: Sequence[Span], agent_ids: AgentIds, workflows: Mapping[str, str]
) -> list[Span]:
    """Give each span without an agent that of its nearest ancestor, else of its workflow or
    service."""
    by_id = {span.span_id: span for span in spans}
    agents: dict[str, str] = {}
    flows: dict[str, str] = {}
    filled = []
    for span in spans:
        chain = [span.span_id]
        while (parent := by_id[chain[-1]].parent_span_id) in by_id and parent not in chain:
            chain.append(str(parent))
            if parent in agents:
                break
        agent = next((a for s in chain if (a := agents.get(s) or by_id[s].agent_name)), "")
        flow = next((f for s in chain if (f := flows.get(s) or workflows.get(s))), "")
        agents[span.span_id], flows[span.span_id] = agent, flow
        name = agent or flow or span.service_name
        filled.append(
            span.model_copy(update={"agent_name": name, "agent_id": agent_ids.get(name or "")})
        )
    return filled


def _to_span(row: Mapping[str, Any], agent_ids: AgentIds) -> Span:
    text = {
        name: value.decode("utf-8", "replace")
        for name, value in row.items()
        if isinstance(value, bytes)
    }
    start = in_utc(row["start"])
    attributes = read_attributes(row["attributes"])
    return Span(
        trace_id=text["trace"],
        span_id=text["id"],
        parent_span_id=None if text["parent"] == "0" * 16 else text["parent"],
        name=text["name"],
        kind=text["kind"],
        start_time=start,
        end_time=start + timedelta(microseconds=row["duration_ns"] / 1000),
        duration_ms=row["duration_ns"] / 1e6,
        status=text["status"],
        status_message=or_none(text["status_message"]),
        error_type=or_none(text["error_type"]),
        agent_id=agent_ids.get(text["agent_name"]),
        agent_name=or_none(text["agent_name"]),
        provider=or_none(text["provider"]),
        model=or_none(text["model"]),
        input_tokens=row["input_tokens"],
        output_tokens=row["output_tokens"],
        cached_tokens=row["cached_tokens"],
        reasoning_tokens=row["reasoning_tokens"],
        total_tokens=row["input_tokens"] + row["output_tokens"],
        cost=row["cost"],
        tool_name=or_none(text["tool_name"]),
        session_id=or_none(text["session_id"]),
        user_id=or_none(text["user_id"]),
        environment=or_none(text["environment"]),
        experiment_id=or_none(text["experiment_id"]),
        variant=or_none(text["variant"]),
        service_name=or_none(text["service_name"]),
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
