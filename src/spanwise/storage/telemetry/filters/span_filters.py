"""Compiles conditions on the columns and attributes of spans."""

from spanwise.model.telemetry.filters import FilterCondition, Operator
from spanwise.storage.telemetry.engine.conditions import Conditions
from spanwise.storage.telemetry.filters.fields import SPAN_COLUMNS, attribute_column
from spanwise.storage.telemetry.filters.operators import compile_condition, is_negative, to_positive


def compile_own_condition(where: Conditions, condition: FilterCondition) -> str:
    """Return SQL for a condition on a field that a span does not take from its trace."""
    if condition.attribute is None:
        return compile_condition(where, SPAN_COLUMNS[condition.field], condition)
    key = where.bind(condition.attribute)
    if is_negative(condition):
        return f"NOT ({_compile_attribute(where, key, to_positive(condition))})"
    return _compile_attribute(where, key, condition)


def _compile_attribute(where: Conditions, key: str, condition: FilterCondition) -> str:
    # Also when the value is empty, a list or an object.
    has_key = f"mapContains(attributes, {key})"
    if condition.op is Operator.EXISTS:
        return has_key
    return f"{has_key} AND {compile_condition(where, attribute_column(key), condition)}"
