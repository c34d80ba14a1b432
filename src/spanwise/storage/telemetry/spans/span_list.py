"""Reads pages of single spans: the latest, the slowest, the costliest."""

import asyncio
from collections.abc import Mapping
from typing import Any

from spanwise.model.page import Listing, PageRequest
from spanwise.model.telemetry.filters import ATTRIBUTE, Order, RowFilter, SpanSort
from spanwise.model.telemetry.spans import ListedSpan
from spanwise.model.times import TimeRange
from spanwise.storage.telemetry.engine import ranking
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.conditions import Conditions
from spanwise.storage.telemetry.engine.query import Rows
from spanwise.storage.telemetry.engine.ranking import SPARE_ROWS, placed_rows
from spanwise.storage.telemetry.filters.fields import (
    INHERITED,
    Column,
    inherited_column,
    mark_heavy,
    traces_of_spans,
)
from spanwise.storage.telemetry.filters.operators import compile_condition
from spanwise.storage.telemetry.filters.span_filters import compile_own_condition
from spanwise.storage.telemetry.rows.decoding import in_utc, or_none
from spanwise.storage.telemetry.rows.error_names import NO_NAME, error_name_or
from spanwise.storage.telemetry.rows.first_token import FIRST_TOKEN_MS
from spanwise.storage.telemetry.rows.locations import trace_starts_condition
from spanwise.storage.telemetry.rows.shown_spans import shown_spans
from spanwise.storage.telemetry.traces.trace_queries import AgentIds, recent_periods_first

_SORTS = {
    SpanSort.START_TIME: "toUnixTimestamp64Nano(start)",
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
    wanted: RowFilter,
    page: PageRequest,
    agent_ids: AgentIds,
    sort: SpanSort = SpanSort.START_TIME,
    order: Order = Order.DESC,
) -> Listing[ListedSpan]:
    """Return one page of spans and the total; agents are given by name."""
    reader = _Reader(engine, workspace, wanted, _SORTS[sort], order)
    is_latest = sort is SpanSort.START_TIME and order is Order.DESC
    total, rows = await asyncio.gather(reader.count(), reader.read(page, is_latest=is_latest))
    return Listing([_to_span(row, agent_ids) for row in rows], total)


class _Reader:
    """Reads the spans that match a filter, in one order."""

    def __init__(
        self, engine: Engine, workspace: str, wanted: RowFilter, rank: str, order: Order
    ) -> None:
        self._engine = engine
        self._workspace = workspace
        self._wanted = wanted
        self._rank = rank
        self._order = order
        # The same order for spans of equal rank each time.
        self._order_by = ", ".join(
            f"{name} {order}" for name in ("rank", "start", "trace_id", "span_id")
        )

    async def count(self) -> int:
        where = self._conditions(self._wanted.period)
        # Only its sort key is needed to tell the versions of a span apart.
        rows = await self._engine.fetch(
            f"SELECT count() AS total FROM ({self._select(where, 'FINAL')})",
            where.parameters,
            tag="count_spans",
        )
        return int(rows[0]["total"])

    async def read(self, page: PageRequest, *, is_latest: bool) -> Rows:
        wanted = page.skip + page.limit
        if wanted <= ranking.MAX_RANKED:
            period = self._wanted.period
            for part in recent_periods_first(period) if is_latest else (period,):
                rows = await self._read_ranked(part, wanted)
                if rows is not None and (len(rows) >= wanted or part == period):
                    return rows[page.skip : wanted]
        keys = await self._find_keys(self._wanted.period, page.limit, page.skip, "FINAL")
        spans = {(key["hour"], key["trace_id"], key["span_id"]) for key in keys}
        rows = await self._read(keys, self._wanted.period)
        return [row for row in rows if (row["hour"], row["trace_id"], row["span_id"]) in spans]

    async def _read_ranked(self, period: TimeRange, wanted: int) -> Rows | None:
        """Return the first spans of a period; None if too many rows are outdated."""
        ranked = await self._find_keys(period, wanted + SPARE_ROWS)
        current = await self._read(ranked, period)
        return placed_rows(current, ranked, wanted, _position, self._order)

    async def _find_keys(
        self, period: TimeRange, limit: int, skip: int = 0, final: str = ""
    ) -> Rows:
        where = self._conditions(period)
        return await self._engine.fetch(
            f"""SELECT hour, trace_id, span_id, rank, toUnixTimestamp64Nano(start) AS nano
            FROM ({self._select(where, final)}) ORDER BY {self._order_by}
            LIMIT {{limit:UInt32}} OFFSET {{skip:UInt32}}
            SETTINGS max_memory_usage = {self._engine.max_query_bytes}""",
            {**where.parameters, "limit": limit, "skip": skip},
            tag="find_span_keys",
            raw=True,
        )

    def _conditions(self, period: TimeRange) -> Conditions:
        """Return conditions on the columns of spans."""
        where = Conditions(self._workspace)
        where.within("start", period)
        where.within_hours("hour", period)
        if any(condition.field.startswith(ATTRIBUTE) for condition in self._wanted.conditions):
            mark_heavy(where, period)
        for condition in self._wanted.conditions:
            if condition.field not in INHERITED:
                where.add(compile_own_condition(where, period, condition))
        return where

    def _select(self, where: Conditions, final: str) -> str:
        """Return SQL for the keys and ranks of the spans that match."""
        keys = f"hour, start, trace_id, span_id, {self._rank} AS rank"
        if not self._inherits:
            return shown_spans(keys, where.sql, final=final)
        traces = traces_of_spans(where, self._wanted.period)
        spans = shown_spans(f"{keys}, {', '.join(INHERITED.values())}", where.sql, final=final)
        return f"""SELECT hour, start, trace_id, span_id, rank FROM ({spans}) AS s
            {_join_traces(traces)} WHERE {self._inherited_sql(where)}"""

    @property
    def _inherits(self) -> bool:
        return any(condition.field in INHERITED for condition in self._wanted.conditions)

    def _inherited_sql(self, where: Conditions) -> str:
        conditions = [
            compile_condition(where, Column(inherited_column(c.field)), c)
            for c in self._wanted.conditions
            if c.field in INHERITED
        ]
        return " AND ".join(conditions) or "1"

    async def _read(self, keys: Rows, period: TimeRange) -> Rows:
        """Read the current spans of keys in order, with what they take from their traces."""
        if not keys:
            return []
        where = self._conditions(period)
        hours = where.bind(sorted({key["hour"] for key in keys}), "Array(DateTime('UTC'))")
        traces = where.bind(sorted({key["trace_id"].hex() for key in keys}), "Array(String)")
        spans = where.bind(sorted({key["span_id"].hex() for key in keys}), "Array(String)")
        trace_ids = f"SELECT {{workspace:String}}, toFixedString(unhex(arrayJoin({traces})), 16)"
        current = shown_spans(
            f"{_COLUMNS}, {self._rank} AS rank",
            where.sql,
            prewhere=f"""workspace = {{workspace:String}} AND hour IN {hours}
                AND trace_id IN (SELECT toFixedString(unhex(arrayJoin({traces})), 16))
                AND span_id IN (SELECT toFixedString(unhex(arrayJoin({spans})), 8))""",
        )
        return await self._engine.fetch(
            f"""SELECT *, toUnixTimestamp64Nano(start) AS nano, {_SHOWN_COLUMNS}
            FROM ({current}) AS s
            {_join_traces(trace_starts_condition(trace_ids))}
            WHERE {self._inherited_sql(where)} ORDER BY {self._order_by}""",
            where.parameters,
            tag="read_listed_spans",
        )


def _position(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return row["rank"], row["nano"], row["trace_id"], row["span_id"]


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
