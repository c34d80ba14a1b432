"""Reads traces: pages by filter and sort order, and single traces by id."""

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from spanwise.model.agents import AgentIds
from spanwise.model.page import Listing, PageRequest
from spanwise.model.telemetry.filters import Order, TraceFilter, TraceSort
from spanwise.model.telemetry.spans import Trace
from spanwise.model.times import TimeRange
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.conditions import Conditions
from spanwise.storage.telemetry.engine.query import Rows
from spanwise.storage.telemetry.filters.trace_filters import (
    reads_spans,
    search_sql,
    trace_conditions,
)
from spanwise.storage.telemetry.lists.pages import (
    RowsInTableOrder,
    count_and_read_all,
    count_rows,
    read_by_rank,
    read_by_time,
    read_page,
)
from spanwise.storage.telemetry.rows.decoding import in_utc, or_none
from spanwise.storage.telemetry.rows.error_names import trace_error_names
from spanwise.storage.telemetry.rows.locations import (
    TRACES_AT_LOCATION,
    WITH_BOUNDS,
    TraceLocation,
    binary_trace_id,
    trace_starts_condition,
)

COLUMNS = """lower(hex(trace_id)) AS id, start, name, agent_name, status, error_type, duration_ns,
    span_count, error_count, models, tools, input_tokens, output_tokens, cost, session_id, user_id,
    environment, experiment_id, variant, input_preview, output_preview"""

# A trace that was recomputed, for example after repricing, keeps its version.
_NEWEST_FIRST = "version DESC, written_at DESC"

# Sort -> the rank of a trace; by time it has none.
SORTS = {
    TraceSort.START_TIME: "",
    TraceSort.DURATION: "duration_ns",
    TraceSort.COST: "cost",
    TraceSort.TOKENS: "input_tokens + output_tokens",
}

# A search that matches at most this many traces reads them by key, instead of all others too.
MAX_FEW = 1000


@dataclass(frozen=True)
class TraceRows(RowsInTableOrder):
    """The traces that match a filter, in an order."""

    columns: str = COLUMNS
    has_error_names: bool = False

    ties = ("start", "trace_id")
    # Ids, the widest part of a key, are not ranked: all traces of a start time are read.
    cheap_ties = ("start",)
    key = ("start", "trace_id")

    def stored(self) -> str:
        return f"SELECT {self.ranks} FROM traces WHERE {self.where.sql} AND NOT is_deleted"

    def current(self, at: str = "", *, is_full: bool = False, is_filtered: bool = True) -> str:
        columns = f"{self.ranks}, trace_id, {self.columns if is_full else 'start'}"
        # PREWHERE on the key, which all versions of a row share, so that few other rows are read.
        early = f"PREWHERE workspace = {{workspace:String}} AND {at}" if at else ""
        sql = f"""SELECT {columns} FROM traces FINAL {early}
            WHERE {self.where.sql if is_filtered else "1"}"""
        if not (is_full and self.has_error_names):
            return sql
        return f"""SELECT * FROM ({sql}) AS t
            LEFT ANY JOIN ({trace_error_names(at)}) AS n USING (trace_id) WHERE 1"""

    def first(self, count: int) -> str:
        return f"""start IN (
            SELECT DISTINCT start FROM traces WHERE {self.where.sql} AND NOT is_deleted
            ORDER BY {self.sort(("toStartOfHour(start)", "start"))} LIMIT {count})"""

    def every(self, count: int) -> str:
        return f"""SELECT nano, id FROM (
            SELECT toUnixTimestamp64Nano(start) AS nano, lower(hex(trace_id)) AS id,
                rowNumberInAllBlocks() AS number
            FROM (
                SELECT start, trace_id FROM traces WHERE {self.where.sql} AND NOT is_deleted
                ORDER BY {self.sort(("toStartOfHour(start)", "start", "trace_id"))}))
        WHERE number % {count} = {count - 1} SETTINGS max_threads = 1"""

    def locate(self, keys: Rows) -> tuple[str, dict[str, object]]:
        starts = [f"{row['nano'] // 10**9}.{row['nano'] % 10**9:09}" for row in keys]
        return "start IN {starts:Array(DateTime64(9, 'UTC'))}", {"starts": starts}


async def find_traces(
    engine: Engine,
    workspace: str,
    filters: TraceFilter,
    page: PageRequest,
    agent_ids: AgentIds,
    sort: TraceSort = TraceSort.START_TIME,
    order: Order = Order.DESC,
    counting: Awaitable[int] | None = None,
    *,
    with_error_names: bool = False,
) -> Listing[Trace]:
    """Return one page of traces and the total.

    Reading the names of exceptions takes about as long as the page, so it is left to the caller.
    `counting` supplies the total when the caller already counts.
    """
    where = trace_conditions(workspace, replace(filters, search=None))
    is_by_time = sort is TraceSort.START_TIME and not reads_spans(filters)
    # By time the keys of a page are not known before its rows.
    joins_names = with_error_names and not is_by_time
    rows = TraceRows(where, SORTS[sort], order, has_error_names=joins_names)
    if filters.search is not None:
        rows = replace(rows, where=await _search(engine, where, filters.period, filters.search))
    if reads_spans(filters):
        total, page_rows = await count_and_read_all(engine, rows, page)
    else:
        reading = (read_by_time if is_by_time else read_by_rank)(engine, rows, page)
        counting = counting or count_rows(engine, rows)
        total, page_rows = await read_page(engine, rows, page, reading, counting)
    if with_error_names and is_by_time:
        page_rows = await _add_error_names(engine, rows, page_rows)
    return Listing([to_trace(row, agent_ids) for row in page_rows], total)


async def _add_error_names(engine: Engine, rows: TraceRows, page_rows: Rows) -> Rows:
    failed = [row for row in page_rows if row["status"] == "error"]
    if not failed:
        return page_rows
    at, values = rows.locate(failed)
    found = await engine.fetch(
        f"{trace_error_names(at)} SETTINGS max_threads = 1",
        {**rows.where.parameters, **values},
        tag="find_error_names",
    )
    names = {row["trace_id"]: row["error_name"] for row in found}
    return [{**row, "error_name": names.get(row["trace_id"], "")} for row in page_rows]


async def _search(engine: Engine, where: Conditions, period: TimeRange, text: str) -> Conditions:
    """Return conditions for the traces of a search, by key if they are few."""
    search = where.narrowed()
    found = search_sql(search, period, text)
    rows = await engine.fetch(
        f"SELECT DISTINCT lower(hex(trace_id)) AS id FROM ({found}) LIMIT {MAX_FEW + 1}",
        search.parameters,
        tag="search",
    )
    if len(rows) > MAX_FEW:
        search.add(f"identity(trace_id) IN ({found})")
        return search
    # Without the words: what remains is as fast as any list.
    few = where.narrowed()
    ids = few.bind([row["id"] for row in rows], "Array(String)")
    traces = f"SELECT {{workspace:String}}, {binary_trace_id(f'arrayJoin({ids})')}"
    few.add(trace_starts_condition(traces) if rows else "0")
    return few


async def find_trace(engine: Engine, location: TraceLocation, agent_ids: AgentIds) -> Trace | None:
    """Return one trace if it has a root, else None."""
    rows = await engine.fetch(
        f"""{WITH_BOUNDS} SELECT * FROM (
            SELECT {COLUMNS}, is_deleted FROM traces WHERE {TRACES_AT_LOCATION}
            ORDER BY {_NEWEST_FIRST} LIMIT 1 BY start)
        WHERE NOT is_deleted LIMIT 1""",
        location.parameters,
        tag="find_trace",
    )
    return to_trace(rows[0], agent_ids) if rows else None


async def count_signals_and_logs(engine: Engine, location: TraceLocation) -> tuple[int, int]:
    """Return how many signals and logs a trace has; most have none.

    Without FINAL, which takes twice as long: a deleted signal may be counted. A log that was sent
    again is not, because its id is a hash of the whole record.
    """
    of_trace = "workspace = {workspace:String} AND trace_id = {trace:String}"
    rows = await engine.fetch(
        f"""SELECT 'signals' AS kind, count() AS number FROM signals WHERE {of_trace}
        UNION ALL
        SELECT 'logs' AS kind, uniqExact(id) AS number FROM logs WHERE {of_trace}""",
        location.parameters,
        tag="count_signals_and_logs",
    )
    counts = {row["kind"]: int(row["number"]) for row in rows}
    return counts["signals"], counts["logs"]


async def is_known_trace(engine: Engine, workspace: str, trace_id: str) -> bool:
    """Return whether the workspace has a span, a signal or a log of the trace."""
    rows = await engine.fetch(
        """SELECT
            exists(SELECT 1 FROM trace_bounds WHERE workspace = {workspace:String}
                AND trace_id = unhex({trace:String})
                HAVING max(last_version) > max(deleted_version))
            OR exists(SELECT 1 FROM signals FINAL WHERE workspace = {workspace:String}
                AND trace_id = {trace:String})
            OR exists(SELECT 1 FROM logs WHERE workspace = {workspace:String}
                AND trace_id = {trace:String}) AS is_known""",
        {"workspace": workspace, "trace": trace_id},
        tag="is_known_trace",
    )
    return bool(rows[0]["is_known"])


def to_trace(row: Mapping[str, Any], agent_ids: AgentIds) -> Trace:
    start = in_utc(row["start"])
    return Trace(
        trace_id=row["id"],
        name=row["name"],
        agent_id=agent_ids.get(row["agent_name"]),
        agent_name=or_none(row["agent_name"]),
        status=row["status"],
        error_type=or_none(row["error_type"]),
        error_name=or_none(row.get("error_name", "")) if row["status"] == "error" else None,
        start_time=start,
        end_time=start + timedelta(microseconds=row["duration_ns"] / 1000),
        duration_ms=row["duration_ns"] / 1e6,
        span_count=row["span_count"],
        error_count=row["error_count"],
        models=row["models"],
        tools=row["tools"],
        input_tokens=row["input_tokens"],
        output_tokens=row["output_tokens"],
        total_tokens=row["input_tokens"] + row["output_tokens"],
        cost=row["cost"],
        session_id=or_none(row["session_id"]),
        user_id=or_none(row["user_id"]),
        environment=or_none(row["environment"]),
        experiment_id=or_none(row["experiment_id"]),
        variant=or_none(row["variant"]),
        input_preview=row["input_preview"],
        output_preview=row["output_preview"],
    )
