"""Reads signals, with missing fields filled in from their traces.

A signal without agent, session, user or experiment takes those of its trace. They are joined when
the signal is read, never copied: arrival order does not matter, and a late span that changes the
trace applies to its signals at once.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from spanwise.model.agents import AgentIds
from spanwise.model.page import Listing, PageRequest
from spanwise.model.telemetry.filters import RowFilter
from spanwise.model.telemetry.signals import Signal
from spanwise.storage.telemetry.engine.attribute_text import metadata_attribute
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.conditions import Conditions
from spanwise.storage.telemetry.filters.fields import INHERITED, SIGNAL_COLUMNS, Column
from spanwise.storage.telemetry.filters.operators import add_conditions, compile_condition
from spanwise.storage.telemetry.rows.decoding import in_utc, or_none
from spanwise.storage.telemetry.rows.locations import binary_trace_id, trace_starts_condition

# Signals returned with one trace.
MAX_PER_TRACE = 1000


def complete_signals(where: Conditions, known_traces: str | None = None) -> str:
    """SQL for the signals that match the conditions, with fields filled in from their traces.

    `known_traces` selects workspace and id of their traces when those are known and few; they are
    then found by primary key.
    """
    if known_traces:
        joined_traces = trace_starts_condition(known_traces)
    else:
        joined_traces = f"""trace_id IN (
            SELECT {binary_trace_id("trace_id")} FROM signals
            WHERE {where.sql} AND notEmpty(trace_id))"""
    # Both sides of the join filter by workspace: signals never match traces of another one.
    return f"""
    SELECT
        s.id AS id, s.name AS name, s.value AS value, s.time AS time, s.created AS created,
        s.trace_id AS trace_id, s.span_id AS span_id, s.comment AS comment,
        s.metadata AS metadata,
        if(notEmpty(s.agent_name), s.agent_name, t.agent_name) AS agent_name,
        if(notEmpty(s.session_id), s.session_id, t.session_id) AS session_id,
        if(notEmpty(s.user_id), s.user_id, t.user_id) AS user_id,
        multiIf(notEmpty(s.experiment_id), s.experiment_id,
            empty(s.variant) OR s.variant = t.variant, t.experiment_id, '') AS experiment_id,
        multiIf(notEmpty(s.variant), s.variant,
            empty(s.experiment_id) OR s.experiment_id = t.experiment_id, t.variant, '') AS variant
    FROM (SELECT * FROM signals FINAL WHERE {where.sql}) AS s
    LEFT ANY JOIN (
        SELECT lower(hex(trace_id)) AS id, agent_name, session_id, user_id, experiment_id, variant
        FROM traces FINAL
        WHERE workspace = {{workspace:String}} AND {joined_traces}
    ) AS t ON t.id = s.trace_id"""


def signal_source(workspace: str, filters: RowFilter) -> tuple[str, Conditions]:
    """Return SQL for the matching signals, and its conditions with bound parameters.

    Traces are joined only for filters on fields that a trace may fill in.
    """
    where = Conditions(workspace)
    where.within("time", filters.period)
    own = [c for c in filters.conditions if c.field not in INHERITED]
    add_conditions(where, own, SIGNAL_COLUMNS, metadata_attribute)
    of_traces = " AND ".join(
        compile_condition(where, Column(INHERITED[c.field]), c)
        for c in filters.conditions
        if c.field in INHERITED
    )
    if not of_traces:
        return f"(SELECT * FROM signals FINAL WHERE {where.sql})", where
    return f"(SELECT * FROM ({complete_signals(where)}) WHERE {of_traces})", where


async def find_signals(
    engine: Engine,
    workspace: str,
    filters: RowFilter,
    page: PageRequest,
    agent_ids: AgentIds,
) -> Listing[Signal]:
    """Return one page of signals, newest first, and the total."""
    source, where = signal_source(workspace, filters)
    counted = await engine.fetch(
        f"SELECT count() AS total FROM {source}", where.parameters, tag="count_signals"
    )
    total = int(counted[0]["total"])
    if total <= page.skip:
        return Listing([], total)
    keys = await engine.fetch(
        f"""SELECT id, trace_id FROM {source} ORDER BY time DESC, id DESC
        LIMIT {{limit:UInt32}} OFFSET {{skip:UInt32}}""",
        {**where.parameters, "limit": page.limit, "skip": page.skip},
        tag="find_signals",
    )
    where = Conditions(workspace)
    where.add(
        "id IN {ids:Array(String)}",
        ids=[key["id"] for key in keys],
        traces=sorted({key["trace_id"] for key in keys if key["trace_id"]}),
    )
    traces = f"""SELECT {{workspace:String}},
        {binary_trace_id("arrayJoin({traces:Array(String)})")}"""
    return Listing(await _read_signals(engine, where, traces, agent_ids), total)


async def find_signals_of_trace(
    engine: Engine, workspace: str, trace_id: str, agent_ids: AgentIds
) -> list[Signal]:
    """Return the latest signals of a trace."""
    where = Conditions(workspace)
    where.equals("trace_id", trace_id)
    trace = f"SELECT {{workspace:String}}, {binary_trace_id('{trace_id:String}')}"
    return await _read_signals(engine, where, trace, agent_ids)


async def _read_signals(
    engine: Engine, where: Conditions, traces: str, agent_ids: AgentIds
) -> list[Signal]:
    """Read full signals, newest first; `traces` selects workspace and id of their traces."""
    rows = await engine.fetch(
        f"{complete_signals(where, traces)} ORDER BY time DESC, id DESC LIMIT {MAX_PER_TRACE}",
        where.parameters,
        tag="read_signals",
    )
    return [_to_signal(row, agent_ids) for row in rows]


def _to_signal(row: Mapping[str, Any], agent_ids: AgentIds) -> Signal:
    return Signal(
        id=row["id"],
        signal_name=row["name"],
        value=row["value"],
        trace_id=or_none(row["trace_id"]),
        span_id=or_none(row["span_id"]),
        # Without an agent record, the name is returned instead of an id: filters accept both.
        agent_id=agent_ids.get(row["agent_name"], row["agent_name"]) or None,
        session_id=or_none(row["session_id"]),
        user_id=or_none(row["user_id"]),
        experiment_id=or_none(row["experiment_id"]),
        variant=or_none(row["variant"]),
        comment=or_none(row["comment"]),
        metadata=orjson.loads(row["metadata"]) if row["metadata"] else {},
        timestamp=in_utc(row["time"]),
        created_at=in_utc(row["created"]),
    )
