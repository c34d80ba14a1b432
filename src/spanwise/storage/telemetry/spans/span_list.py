"""Reads pages of single spans: the latest, the slowest, the costliest."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spanwise.model.agents import AgentIds
from spanwise.model.page import Listing, PageRequest
from spanwise.model.telemetry.filters import ATTRIBUTE, Order, RowFilter, SpanSort
from spanwise.model.telemetry.spans import ListedSpan
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.conditions import Conditions
from spanwise.storage.telemetry.engine.query import Rows
from spanwise.storage.telemetry.filters.fields import (
    INHERITED,
    Column,
    inherited_column,
    mark_heavy,
    traces_of_spans,
)
from spanwise.storage.telemetry.filters.operators import compile_condition
from spanwise.storage.telemetry.filters.span_filters import compile_own_condition
from spanwise.storage.telemetry.lists.pages import (
    ListedRows,
    count_and_read_all,
    count_rows,
    read_by_rank,
    read_page,
)
from spanwise.storage.telemetry.rows.decoding import in_utc, or_none
from spanwise.storage.telemetry.rows.error_names import NO_NAME, error_name_or
from spanwise.storage.telemetry.rows.first_token import FIRST_TOKEN_MS
from spanwise.storage.telemetry.rows.locations import trace_starts_condition
from spanwise.storage.telemetry.rows.shown_spans import shown_spans

_SORTS = {
    SpanSort.START_TIME: "",
    SpanSort.DURATION: "duration_ns",
    SpanSort.COST: "cost",
}
_COLUMNS = f"""hour, trace_id, span_id, name, kind, start, duration_ns, status,
    substringUTF8(status_message, 1, 300) AS message, error_type, provider, model, tool_name,
    input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, cost,
    {", ".join(INHERITED.values())}, {FIRST_TOKEN_MS} AS first_token_ms,
    {error_name_or("''")} AS error_name"""
_SHOWN_COLUMNS = ", ".join(
    f"{inherited_column(field)} AS own_{column}" for field, column in INHERITED.items()
)


async def list_spans(
    engine: Engine,
    workspace: str,
    filters: RowFilter,
    page: PageRequest,
    agent_ids: AgentIds,
    sort: SpanSort = SpanSort.START_TIME,
    order: Order = Order.DESC,
) -> Listing[ListedSpan]:
    """Return one page of spans and the total; agents are given by name."""
    rows = _compile(workspace, filters, sort, order)
    if rows.inherited:
        # With a join, ranking takes as long as counting.
        total, found = await count_and_read_all(engine, rows, page)
    else:
        reading = read_by_rank(engine, rows, page)
        total, found = await read_page(engine, rows, page, reading, count_rows(engine, rows))
    return Listing([_to_span(row, agent_ids) for row in found], total)


def _compile(workspace: str, filters: RowFilter, sort: SpanSort, order: Order) -> "_SpanRows":
    where = Conditions(workspace)
    where.within("start", filters.period)
    where.within_hours("hour", filters.period)
    if any(condition.field.startswith(ATTRIBUTE) for condition in filters.conditions):
        mark_heavy(where, filters.period)
    own = [c for c in filters.conditions if c.field not in INHERITED]
    for condition in own:
        where.add(compile_own_condition(where, filters.period, condition))
    inherited = " AND ".join(
        compile_condition(where, Column(inherited_column(c.field)), c)
        for c in filters.conditions
        if c.field in INHERITED
    )
    traces = traces_of_spans(where, filters.period) if inherited else ""
    return _SpanRows(where, _SORTS[sort], order, inherited, traces)


@dataclass(frozen=True)
class _SpanRows(ListedRows):
    """The spans that match a filter, in an order."""

    # SQL for conditions on what spans take from their traces, and for the traces that they are in.
    inherited: str
    traces: str

    ties = ("start", "trace_id", "span_id")
    cheap_ties = ties
    key = ("hour", "trace_id", "span_id")

    def stored(self) -> str:
        return self._narrow("")

    def current(self, at: str = "", *, is_full: bool = False, is_filtered: bool = True) -> str:
        if not is_full:
            return self._narrow("FINAL", at)
        spans = shown_spans(
            f"{_COLUMNS}, {self.ranks}", self.where.sql if is_filtered else "1", prewhere=_with(at)
        )
        traces = trace_starts_condition(
            "SELECT {workspace:String}, toFixedString(unhex(arrayJoin({traces:Array(String)})), 16)"
        )
        return f"""SELECT *, {_SHOWN_COLUMNS} FROM ({spans}) AS s {_join_traces(traces)}
            WHERE {self.inherited if self.inherited and is_filtered else "1"}"""

    def locate(self, keys: Rows) -> tuple[str, dict[str, object]]:
        at = """hour IN {hours:Array(DateTime('UTC'))}
            AND trace_id IN (SELECT toFixedString(unhex(arrayJoin({traces:Array(String)})), 16))
            AND span_id IN (SELECT toFixedString(unhex(arrayJoin({spans:Array(String)})), 8))"""
        return at, {
            "hours": sorted({key["hour"] for key in keys}),
            "traces": sorted({key["trace_id"].hex() for key in keys}),
            "spans": sorted({key["span_id"].hex() for key in keys}),
        }

    def _narrow(self, final: str, at: str = "") -> str:
        columns = f"hour, start, trace_id, span_id, {self.ranks}"
        if not self.inherited:
            return shown_spans(columns, self.where.sql, prewhere=_with(at), final=final)
        own = ", ".join(INHERITED.values())
        spans = shown_spans(f"{columns}, {own}", self.where.sql, prewhere=_with(at), final=final)
        names = ", ".join(("hour", *self.order, "nano"))
        return f"""SELECT {names} FROM ({spans}) AS s
            {_join_traces(self.traces)} WHERE {self.inherited}"""


def _with(at: str) -> str:
    return f"workspace = {{workspace:String}} AND {at}" if at else ""


def _join_traces(condition: str) -> str:
    names = ", ".join(f"{column} AS trace_{column}" for column in INHERITED.values())
    return f"""LEFT ANY JOIN (
        SELECT trace_id, {names} FROM traces FINAL WHERE {condition}) AS t USING (trace_id)"""


def _to_span(row: Mapping[str, Any], agent_ids: AgentIds) -> ListedSpan:
    agent = row["own_agent_name"]
    return ListedSpan(
        trace_id=row["trace_id"].hex(),
        span_id=row["span_id"].hex(),
        name=row["name"],
        kind=row["kind"],
        start_time=in_utc(row["start"]),
        duration_ms=row["duration_ns"] / 1e6,
        status=row["status"],
        status_message=or_none(row["message"]),
        error_type=or_none(row["error_type"]),
        error_name=row["error_name"] if row["error_name"] not in {"", NO_NAME} else None,
        agent_id=agent_ids.get(agent),
        agent_name=or_none(agent),
        provider=or_none(row["provider"]),
        model=or_none(row["model"]),
        tool_name=or_none(row["tool_name"]),
        input_tokens=row["input_tokens"],
        output_tokens=row["output_tokens"],
        cached_tokens=row["cached_tokens"],
        cache_write_tokens=row["cache_write_tokens"],
        reasoning_tokens=row["reasoning_tokens"],
        total_tokens=row["input_tokens"] + row["output_tokens"],
        cost=row["cost"],
        time_to_first_token_ms=row["first_token_ms"],
        session_id=or_none(row["own_session_id"]),
        user_id=or_none(row["own_user_id"]),
        environment=or_none(row["own_environment"]),
    )
