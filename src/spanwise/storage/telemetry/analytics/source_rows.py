"""Builds the SQL for the rows that a query aggregates: one per trace or span, or one per value of a
multi-valued dimension.

Rows of spans include what they take from their trace. A call that several spans report counts in
one of them.
"""

from collections.abc import Mapping

from spanwise.model.dashboards.queries import AnalyticsQuery, Entity
from spanwise.model.measures import FIRST_TOKEN_MEASURES
from spanwise.model.telemetry.conventions import USAGE_KINDS
from spanwise.model.telemetry.filters import ATTRIBUTE, TraceFilter
from spanwise.model.times import TimeRange
from spanwise.storage.telemetry.analytics.measures import (
    TOKEN_PARTS,
    USAGE_MEASURES,
    signals_of,
)
from spanwise.storage.telemetry.engine.attribute_text import own_attribute
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.conditions import Conditions
from spanwise.storage.telemetry.filters.fields import (
    INHERITED,
    SPAN_COLUMNS,
    TRACE_COLUMNS,
    Column,
    inherited_column,
    mark_heavy,
    spans_of_traces,
    traces_of_spans,
)
from spanwise.storage.telemetry.filters.operators import compile_condition
from spanwise.storage.telemetry.filters.span_filters import compile_own_condition
from spanwise.storage.telemetry.filters.trace_filters import trace_conditions
from spanwise.storage.telemetry.rows.call_deduplication import CALL_ID
from spanwise.storage.telemetry.rows.first_token import FIRST_TOKEN_MS
from spanwise.storage.telemetry.rows.locations import binary_trace_id
from spanwise.storage.telemetry.rows.shown_spans import shown_spans

_TRACE_COLUMNS = """start, trace_id, name, status, error_type, agent_name, environment, user_id,
    session_id, experiment_id, variant, models, providers, tools, kinds, duration_ns, cost,
    input_tokens, output_tokens, unpriced"""
_SPAN_COLUMNS = """start, trace_id, span_id, status, kind, duration_ns, cost, input_tokens,
    output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, agent_name, environment,
    user_id, session_id, experiment_id, variant"""
# Measures that count distinct values -> the field, and the column that has it.
_DISTINCT = {
    "users": ("userId", "row_user"),
    "sessions": ("sessionId", "row_session"),
    "agents": ("agent", "row_agent"),
}


async def has_uncounted_calls(
    engine: Engine, workspace: str, query: AnalyticsQuery, period: TimeRange
) -> bool:
    """Return whether a query measures usage of a period in which spans report the same call.

    Few do, and looking up every span takes as long as the rest of the query.
    """
    measures = TOKEN_PARTS.keys() if query.of is Entity.TRACES else USAGE_MEASURES
    if measures.isdisjoint(query.measures):
        return False
    where = Conditions(workspace)
    sql = f"""SELECT 1 AS found FROM traces
        WHERE {traces_of_spans(where, period)} AND notEmpty(uncounted) LIMIT 1"""
    return bool(await engine.fetch(sql, where.parameters, tag="has_uncounted_calls"))


def select_rows(
    workspace: str, query: AnalyticsQuery, filters: TraceFilter, *, has_uncounted: bool
) -> tuple[str, Conditions]:
    """Return SQL for the rows of a query, and its conditions with bound parameters.

    A row has `trace_id`, `moment`, the dimensions as `d0`, `d1`, `d2`, and the columns of its
    measures.
    """
    period = filters.period
    if query.of is Entity.TRACES:
        where = trace_conditions(workspace, filters)
        return _trace_rows(where, query, period, has_uncounted), where
    where = Conditions(workspace)
    where.within("start", period)
    where.within_hours("hour", period)
    fields = (*query.group_by, *(condition.field for condition in filters.conditions))
    measures_attributes = not {*FIRST_TOKEN_MEASURES}.isdisjoint(query.measures)
    if measures_attributes or any(field.startswith(ATTRIBUTE) for field in fields):
        mark_heavy(where, period)
    return _span_rows(where, query, filters, has_uncounted), where


def _trace_rows(
    where: Conditions, query: AnalyticsQuery, period: TimeRange, has_uncounted: bool
) -> str:
    columns = {
        **{row: INHERITED[field] for field, row in _DISTINCT.values()},
        "counted_cost": "cost",
        "counted_input": "input_tokens",
        "counted_output": "output_tokens",
        "counted_unpriced": "unpriced[1]",
    }
    of_spans: dict[str, str] = {}
    for number, dimension in enumerate(query.group_by):
        column = TRACE_COLUMNS.get(dimension)
        if column is None:
            value = _own_column(where, dimension).sql
            of_spans[f"values_{number}"] = f"groupUniqArrayIf({value}, {value} != '')"
            column = Column(f"values_{number}", is_list=True)
        columns[f"d{number}"] = _each_value(column)
    if parts := [TOKEN_PARTS[measure] for measure in query.measures if measure in TOKEN_PARTS]:
        counted = is_counted(where, period, has_uncounted)
        of_spans |= {f"sum_{column}": f"sumIf({column}, {counted})" for column in parts}
        columns |= {_counted(column): f"sum_{column}" for column in parts}
    joins = _join_signals(where, query.measures, "trace_id")
    if of_spans:
        values = ", ".join(f"{sql} AS {name}" for name, sql in of_spans.items())
        spans = shown_spans(f"trace_id, {values}", spans_of_traces(where, period))
        joins += f"""
            LEFT ANY JOIN ({spans} GROUP BY trace_id) AS s USING (trace_id)"""
    return f"""SELECT trace_id, start AS moment, status, duration_ns, {_as_columns(columns)}
            {_signal_columns(query.measures)}
        FROM (SELECT {_TRACE_COLUMNS} FROM traces FINAL WHERE {where.sql}) AS t {joins}"""


def _each_value(column: Column) -> str:
    if not column.is_list:
        return column.sql
    values = f"arrayMap(v -> toString(v), {column.sql})"
    return f"arrayJoin(if(empty({column.sql}), [''], {values}))"


def _span_rows(
    where: Conditions, query: AnalyticsQuery, filters: TraceFilter, has_uncounted: bool
) -> str:
    inherited = [c for c in filters.conditions if c.field in INHERITED]
    for condition in filters.conditions:
        if condition.field not in INHERITED:
            where.add(compile_own_condition(where, filters.period, condition))
    own = {
        f"d{number}": _own_column(where, dimension).sql
        for number, dimension in enumerate(query.group_by)
        if dimension not in INHERITED
    }
    fields = {c.field for c in inherited} | INHERITED.keys() & set(query.group_by)
    fields |= {_DISTINCT[measure][0] for measure in query.measures if measure in _DISTINCT}
    columns = {
        f"d{number}": inherited_column(dimension)
        for number, dimension in enumerate(query.group_by)
        if dimension in INHERITED
    }
    if fields:
        columns |= {row: inherited_column(field) for field, row in _DISTINCT.values()}
    if USAGE_MEASURES & set(query.measures):
        own["is_counted"] = is_counted(where, filters.period, has_uncounted)
        columns |= {
            _counted(column): f"if(is_counted, {column}, 0)"
            for column in ("cost", "input_tokens", "output_tokens", *TOKEN_PARTS.values())
        }
    if not {*FIRST_TOKEN_MEASURES}.isdisjoint(query.measures):
        own["first_token_ms"] = FIRST_TOKEN_MS
        columns["first_token_ms"] = "first_token_ms"
    joins = _join_signals(where, query.measures, "trace_id", "span_id")
    if fields:
        names = ", ".join(f"{column} AS trace_{column}" for column in INHERITED.values())
        joins += f"""
            LEFT ANY JOIN (
                SELECT trace_id, {names} FROM traces FINAL
                WHERE {traces_of_spans(where, filters.period)}) AS t USING (trace_id)"""
    conditions = [compile_condition(where, Column(inherited_column(c.field)), c) for c in inherited]
    names = ", ".join((_SPAN_COLUMNS, *(f"{sql} AS {name}" for name, sql in own.items())))
    dimensions = "".join(f", {name}" for name in own if name.startswith("d"))
    others = f", {_as_columns(columns)}" if columns else ""
    return f"""SELECT trace_id, start AS moment, status, duration_ns{dimensions}{others}
            {_signal_columns(query.measures)}
        FROM ({shown_spans(names, where.sql)}) AS s {joins}
        WHERE {" AND ".join(conditions) or "1"}"""


def _counted(column: str) -> str:
    """Return the name of a row's usage that counts, as measures refer to it."""
    return f"counted_{column.removesuffix('_tokens')}"


def _own_column(where: Conditions, dimension: str) -> Column:
    """Return a dimension that a span does not take from its trace."""
    if dimension.startswith(ATTRIBUTE):
        return Column(own_attribute(where.bind(dimension.removeprefix(ATTRIBUTE))).text)
    return SPAN_COLUMNS[dimension]


def is_counted(where: Conditions, period: TimeRange, has_uncounted: bool) -> str:
    """SQL for whether the usage of a span counts."""
    has_usage = f"kind IN {USAGE_KINDS}"
    if not has_uncounted:
        return has_usage
    return f"""{has_usage} AND (trace_id, {CALL_ID}) NOT IN (
        SELECT trace_id, arrayJoin(uncounted) FROM traces FINAL
        WHERE {traces_of_spans(where, period)} AND notEmpty(uncounted))"""


def _join_signals(where: Conditions, measures: list[str], *keys: str) -> str:
    signals = signals_of(measures)
    if not signals:
        return ""
    names = {number: where.bind(name) for number, name in signals.items()}
    sums = ", ".join(
        f"sumIf(value, name = {name}) AS signal_sum_{number}, "
        f"countIf(name = {name}) AS signal_count_{number}"
        for number, name in names.items()
    )
    ids = {
        "trace_id": binary_trace_id("signals.trace_id"),
        "span_id": "toFixedString(left(unhex(signals.span_id), 8), 8)",
    }
    selected = ", ".join(f"{ids[key]} AS {key}" for key in keys)
    has_keys = " AND ".join(f"notEmpty(signals.{key})" for key in keys)
    return f"""
        LEFT ANY JOIN (
            SELECT {selected}, {sums} FROM signals FINAL
            WHERE workspace = {{workspace:String}} AND {has_keys}
                AND name IN ({", ".join(names.values())})
            GROUP BY {", ".join(keys)}) AS g USING ({", ".join(keys)})"""


def _signal_columns(measures: list[str]) -> str:
    return "".join(
        f", signal_sum_{number}, signal_count_{number}" for number in signals_of(measures)
    )


def _as_columns(columns: Mapping[str, str]) -> str:
    return ", ".join(f"{sql} AS {name}" for name, sql in columns.items())
