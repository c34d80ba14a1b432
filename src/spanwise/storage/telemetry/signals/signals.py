"""Reads signals, each with what its trace adds to it.

A signal that names no agent, session, user or experiment has those of its trace. They are looked
up when it is read, never copied: so it does not matter which of the two arrived first, and what a
late span changes in a trace is true of its signals at once.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from spanwise.model.page import Listing, PageRequest
from spanwise.model.telemetry.filters import SignalFilter
from spanwise.model.telemetry.signals import Signal
from spanwise.storage.telemetry.engine.conditions import Conditions
from spanwise.storage.telemetry.engine.engine import Engine
from spanwise.storage.telemetry.spans.decoding import in_utc, or_none
from spanwise.storage.telemetry.spans.locations import binary_trace_id, starts_in_hours_of
from spanwise.storage.telemetry.traces.traces import AgentIds

# Of one trace. A trace is shown whole, and no trace needs more to be understood.
MAX_OF_TRACE = 1000


def complete_signals(where: Conditions, known_traces: str | None = None) -> str:
    """SQL for signals that meet conditions of their own, completed from their traces.

    `known_traces` selects workspace and id of their traces where those are known and few: then they
    are looked up one by one, by their hours.
    """
    if known_traces:
        of_signals = starts_in_hours_of(known_traces)
    else:
        of_signals = f"""trace_id IN (
            SELECT {binary_trace_id("trace_id")} FROM signals
            WHERE {where.sql} AND notEmpty(trace_id))"""
    # The workspace stands in both conditions on traces: there is no join across the border.
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
        WHERE workspace = {{workspace:String}} AND {of_signals}
    ) AS t ON t.id = s.trace_id"""


def signal_source(workspace: str, wanted: SignalFilter) -> tuple[str, Conditions]:
    """Return SQL to select the wanted signals from, and what it binds.

    Traces are looked at only when a wish may be met by one of them.
    """
    where = Conditions(workspace)
    where.within("time", wanted.period)
    where.equals("name", wanted.signal_name)
    where.equals("trace_id", wanted.trace_id)
    own = f"(SELECT * FROM signals FINAL WHERE {where.sql})"
    either = Conditions(workspace, clauses=[])
    either.equals("agent_name", wanted.agent_name)
    either.equals("session_id", wanted.session_id)
    either.equals("user_id", wanted.user_id)
    either.equals("experiment_id", wanted.experiment_id)
    either.equals("variant", wanted.variant)
    if not either.clauses:
        return own, where
    where.parameters.update(either.parameters)
    return f"(SELECT * FROM ({complete_signals(where)}) WHERE {either.sql})", where


async def find_signals(
    engine: Engine,
    workspace: str,
    wanted: SignalFilter,
    page: PageRequest,
    agent_ids: AgentIds,
) -> Listing[Signal]:
    """Return one page of signals, newest first, and how many there are in all."""
    source, where = signal_source(workspace, wanted)
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
    # Most traces have none, and without FINAL that is known in half the time.
    some = await engine.fetch(
        f"SELECT count() AS total FROM signals WHERE {where.sql}",
        where.parameters,
        tag="has_signals",
    )
    if not some[0]["total"]:
        return []
    trace = f"SELECT {{workspace:String}}, {binary_trace_id('{trace_id:String}')}"
    return await _read_signals(engine, where, trace, agent_ids)


async def _read_signals(
    engine: Engine, where: Conditions, traces: str, agent_ids: AgentIds
) -> list[Signal]:
    """Read whole signals, newest first; `traces` selects workspace and id of theirs."""
    rows = await engine.fetch(
        f"{complete_signals(where, traces)} ORDER BY time DESC, id DESC LIMIT {MAX_OF_TRACE}",
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
        # A name that no agent has is still how to ask for it.
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
