"""Compiles filters on traces: conditions on their columns or on any span, and search."""

import re
from collections.abc import Iterable

from spanwise.model.telemetry.filters import FAILURE, FilterCondition, TraceFilter
from spanwise.model.times import TimeRange
from spanwise.storage.telemetry.engine.conditions import (
    SEARCH_WORDS,
    WORDS,
    Conditions,
    split_words,
)
from spanwise.storage.telemetry.filters.fields import TRACE_COLUMNS, spans_of_traces
from spanwise.storage.telemetry.filters.operators import (
    compile_condition,
    is_negative,
    to_positive,
)
from spanwise.storage.telemetry.filters.span_filters import compile_own_condition, failures_where
from spanwise.storage.telemetry.rows.locations import binary_trace_id
from spanwise.storage.telemetry.rows.shown_spans import shown_spans

_TRACE_ID = re.compile(r"[0-9a-fA-F]{32}")


def trace_conditions(workspace: str, filters: TraceFilter) -> Conditions:
    """Return the conditions of a filter on the `traces` table."""
    where = Conditions(workspace)
    where.within("start", filters.period)
    for condition in filters.conditions:
        column = TRACE_COLUMNS.get(condition.field)
        if column is not None:
            where.add(compile_condition(where, column, condition))
        else:
            where.add(_any_span(where, filters.period, condition))
    if filters.search is not None:
        found = search_sql(where, filters.period, filters.search)
        where.add(f"identity(trace_id) IN ({found})")
    return where


def reads_spans(filters: TraceFilter) -> bool:
    """Return whether a filter reads more than the columns of `traces`."""
    return filters.search is not None or any(
        condition.field not in TRACE_COLUMNS for condition in filters.conditions
    )


def dimension_conditions(workspace: str, conditions: Iterable[FilterCondition]) -> Conditions:
    """Return conditions on agent and environment only, for tables without the other columns.

    They bind the same parameters as `trace_conditions` of these conditions.
    """
    where = Conditions(workspace)
    for condition in conditions:
        where.add(compile_condition(where, TRACE_COLUMNS[condition.field], condition))
    return where


def _any_span(where: Conditions, period: TimeRange, condition: FilterCondition) -> str:
    """Match traces of which a span meets a condition, or for a negative one, no span does."""
    negative = is_negative(condition)
    positive = to_positive(condition) if negative else condition
    if condition.field == FAILURE:
        spans = f"SELECT trace_id FROM {failures_where(where, period, positive)}"
    else:
        meets = compile_own_condition(where, period, positive)
        spans = shown_spans("trace_id", f"{spans_of_traces(where, period)} AND {meets}")
    # Without `identity` the engine sorts all ids for the primary key, where the id comes last.
    return f"{'NOT ' if negative else ''}identity(trace_id) IN ({spans})"


def search_sql(where: Conditions, period: TimeRange, text: str) -> str:
    """SQL for the ids of traces with this id, user or session, or a span that has all words.

    It reads outdated rows too: without deduplication, the engine remembers where nothing matches.
    """
    part = where.bind(text.strip())
    of_workspace = "workspace = {workspace:String}"
    starts = " AND start >= {after:DateTime64(9, 'UTC')}" if period.start else ""
    named = " OR ".join(
        f"positionCaseInsensitiveUTF8({column}, {part}) > 0" for column in ("user_id", "session_id")
    )
    found = [f"SELECT trace_id FROM traces WHERE {of_workspace}{starts} AND ({named})"]
    if _TRACE_ID.fullmatch(text.strip()):
        found.append(f"SELECT {binary_trace_id(part)}")
    if words := split_words(text):
        hours = " AND hour >= toStartOfHour({after:DateTime64(9, 'UTC')})" if period.start else ""
        where.parameters[SEARCH_WORDS] = words
        found.append(
            f"""SELECT trace_id FROM spans WHERE {of_workspace}{hours}
            AND hasAllTokens({WORDS}, {{{SEARCH_WORDS}:Array(String)}})"""
        )
    return " UNION ALL ".join(found)
