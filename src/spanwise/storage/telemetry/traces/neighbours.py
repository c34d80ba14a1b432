"""Finds the traces before and after one in the order of a list."""

import asyncio
from dataclasses import replace

from spanwise.model.page import PageRequest
from spanwise.model.telemetry.filters import Order, TraceFilter, TraceSort
from spanwise.model.telemetry.spans import Neighbours
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.filters.trace_filters import trace_conditions
from spanwise.storage.telemetry.lists.pages import (
    exact_sql,
    exact_start,
    read_all,
    read_by_rank,
    read_by_time,
)
from spanwise.storage.telemetry.rows.locations import (
    TRACES_AT_LOCATION,
    WITH_BOUNDS,
    TraceLocation,
)
from spanwise.storage.telemetry.traces.trace_queries import SORTS, TraceRows

_ONE = PageRequest(limit=1)


async def find_neighbours(
    engine: Engine, location: TraceLocation, filters: TraceFilter, sort: TraceSort, order: Order
) -> Neighbours | None:
    """Return the neighbours of a trace among those that match; None if the trace has no row."""
    where = trace_conditions(location.workspace, filters)
    rows = TraceRows(where, SORTS[sort], order, columns="lower(hex(trace_id)) AS id, start")
    found = await engine.fetch(
        f"""{WITH_BOUNDS} SELECT {rows.ranks}, trace_id
        FROM traces FINAL WHERE {TRACES_AT_LOCATION} LIMIT 1""",
        location.parameters,
        tag="find_trace_position",
        raw=True,
    )
    if not found:
        return None
    start, trace_id = exact_start(found[0]["nano"]), exact_sql(found[0]["trace_id"])
    is_by_time = sort is TraceSort.START_TIME

    async def find_nearest(direction: Order) -> str | None:
        sign = ">" if direction is Order.ASC else "<"
        if is_by_time:
            # The engine finds the start by primary key.
            beyond = f"start {sign}= {start} AND (start, trace_id) {sign} ({start}, {trace_id})"
        else:
            own = f"({exact_sql(found[0]['rank'])}, {start}, {trace_id})"
            beyond = f"({rows.rank}, start, trace_id) {sign} {own}"
        side = replace(rows, where=where.narrowed(beyond), direction=direction)
        read = read_by_time if is_by_time else read_by_rank
        nearest = await read(engine, side, _ONE) or await read_all(engine, side, _ONE)
        return str(nearest[0]["id"]) if nearest else None

    greater, lesser = await asyncio.gather(find_nearest(Order.ASC), find_nearest(Order.DESC))
    if order is Order.ASC:
        return Neighbours(previous=lesser, next=greater)
    return Neighbours(previous=greater, next=lesser)
