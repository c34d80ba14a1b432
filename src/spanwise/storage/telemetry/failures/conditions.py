"""Compiles conditions on failed spans to SQL on the `failures` table."""

from collections.abc import Iterable

from spanwise.model.telemetry.filters import FilterCondition
from spanwise.model.times import TimeRange
from spanwise.storage.telemetry.engine.conditions import Conditions
from spanwise.storage.telemetry.filters.fields import (
    INHERITED,
    TRACE_COLUMNS,
    Column,
    mark_heavy,
    traces_of_spans,
)
from spanwise.storage.telemetry.filters.operators import compile_condition
from spanwise.storage.telemetry.filters.span_filters import FAILURE_ID, compile_own_condition
from spanwise.storage.telemetry.rows.shown_spans import shown_spans

_COLUMNS = {
    "agent": Column("agent_name"),
    "environment": Column("environment"),
    "userId": Column("user_id"),
    "kind": Column("kind"),
    "errorType": Column("error_type"),
    "failure": FAILURE_ID,
}


def add_conditions(
    where: Conditions, period: TimeRange, conditions: Iterable[FilterCondition]
) -> None:
    """Add conditions on the failed spans of a period, which `where` has bound."""
    for condition in conditions:
        if column := _COLUMNS.get(condition.field):
            where.add(compile_condition(where, column, condition))
        elif condition.field in INHERITED:
            where.add(_of_trace(where, period, condition))
        else:
            where.add(_of_span(where, period, condition))


def _of_trace(where: Conditions, period: TimeRange, condition: FilterCondition) -> str:
    meets = compile_condition(where, TRACE_COLUMNS[condition.field], condition)
    return f"""trace_id IN (SELECT trace_id FROM traces FINAL
        WHERE {traces_of_spans(where, period)} AND {meets})"""


def _of_span(where: Conditions, period: TimeRange, condition: FilterCondition) -> str:
    if condition.attribute is not None:
        mark_heavy(where, period)
    spans = Conditions(where.workspace)
    spans.within_hours("hour", period)
    spans.add("status = 'error'")
    spans.add(compile_own_condition(where, period, condition))
    return f"(trace_id, span_id) IN ({shown_spans('trace_id, span_id', spans.sql)})"
