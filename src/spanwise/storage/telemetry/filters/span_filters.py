"""Compiles conditions on the columns, attributes and failures of spans."""

from spanwise.model.telemetry.failures import PREFIX
from spanwise.model.telemetry.filters import FAILURE, FilterCondition
from spanwise.model.times import TimeRange
from spanwise.storage.telemetry.engine.attribute_text import own_attribute
from spanwise.storage.telemetry.engine.conditions import Conditions
from spanwise.storage.telemetry.filters.fields import (
    SPAN_COLUMNS,
    Column,
    hours_of_traces,
)
from spanwise.storage.telemetry.filters.operators import (
    compile_attribute,
    compile_condition,
    is_negative,
    to_positive,
)

FAILURE_ID = Column(f"concat('{PREFIX}', leftPad(lower(hex(group_id)), 16, '0'))")


def compile_own_condition(where: Conditions, period: TimeRange, condition: FilterCondition) -> str:
    """Return SQL for a condition on a field that a span does not take from its trace."""
    if is_negative(condition):
        return f"NOT ({compile_own_condition(where, period, to_positive(condition))})"
    if condition.field == FAILURE:
        failed = failures_where(where, period, condition)
        return f"(trace_id, span_id) IN (SELECT trace_id, span_id FROM {failed})"
    if condition.attribute is None:
        return compile_condition(where, SPAN_COLUMNS[condition.field], condition)
    attribute = own_attribute(where.bind(condition.attribute))
    return compile_attribute(where, attribute, condition)


def failures_where(where: Conditions, period: TimeRange, condition: FilterCondition) -> str:
    """Return SQL for the failures of a group that lie in the traces of a period."""
    return f"""failures FINAL WHERE {hours_of_traces(where, period)}
        AND {compile_condition(where, FAILURE_ID, condition)}"""
