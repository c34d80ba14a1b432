"""Compiles one condition on one column or attribute to SQL."""

from collections.abc import Callable, Iterable, Mapping

from spanwise.model.telemetry.filters import FilterCondition, Operator
from spanwise.storage.telemetry.engine.attribute_text import Attribute
from spanwise.storage.telemetry.engine.conditions import Conditions
from spanwise.storage.telemetry.filters.fields import Column

_COMPARISONS = {Operator.GT: ">", Operator.GTE: ">=", Operator.LT: "<", Operator.LTE: "<="}


def compile_condition(where: Conditions, column: Column, condition: FilterCondition) -> str:
    """Return SQL for a condition, whose values are bound in `where`."""
    if is_negative(condition):
        return f"NOT ({compile_condition(where, column, to_positive(condition))})"
    if condition.op is Operator.EXISTS:
        return f"notEmpty({column.sql})" if not condition.is_number else f"{column.sql} != 0"
    if condition.op is Operator.CONTAINS:
        return _contains(column, where.bind(condition.value))
    if condition.op in _COMPARISONS:
        value = where.bind(condition.value, "Float64")
        return f"{_number(column, condition)} {_COMPARISONS[condition.op]} {value}"
    return _equals_any(where, column, condition)


def compile_attribute(where: Conditions, attribute: Attribute, condition: FilterCondition) -> str:
    """Return SQL for a condition on an attribute, which only rows that have it can meet."""
    if is_negative(condition):
        return f"NOT ({compile_attribute(where, attribute, to_positive(condition))})"
    if condition.op is Operator.EXISTS:
        return attribute.exists
    has_value = compile_condition(where, Column(attribute.text), condition)
    return f"{attribute.exists} AND {has_value}"


def add_conditions(
    where: Conditions,
    conditions: Iterable[FilterCondition],
    columns: Mapping[str, Column],
    attribute_of: Callable[[str], Attribute],
) -> None:
    """Add conditions on the columns and attributes of a row to `where`."""
    for condition in conditions:
        if condition.attribute is None:
            where.add(compile_condition(where, columns[condition.field], condition))
        else:
            attribute = attribute_of(where.bind(condition.attribute))
            where.add(compile_attribute(where, attribute, condition))


def is_negative(condition: FilterCondition) -> bool:
    """Return whether a condition is the opposite of another one."""
    return condition.op is Operator.NE or (
        condition.op is Operator.EXISTS and condition.value is False
    )


def to_positive(condition: FilterCondition) -> FilterCondition:
    if condition.op is Operator.NE:
        return condition.model_copy(update={"op": Operator.EQ})
    return condition.model_copy(update={"value": True})


def _equals_any(where: Conditions, column: Column, condition: FilterCondition) -> str:
    numbers = [v for v in condition.values if isinstance(v, float)]
    texts = [_to_text(v) for v in condition.values if not isinstance(v, float)]
    found = []
    if texts and column.is_list:
        found.append(f"hasAny({column.sql}, {where.bind(texts, 'Array(String)')})")
    elif texts:
        found.append(f"{column.sql} IN {where.bind(texts, 'Array(String)')}")
    if numbers:
        bound = where.bind(numbers, "Array(Float64)")
        found.append(f"{_number(column, condition)} IN {bound}")
    return f"({' OR '.join(found)})"


def _to_text(value: str | bool | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _number(column: Column, condition: FilterCondition) -> str:
    if condition.is_number:
        return column.sql
    # Not a number compares as NaN, which is never equal, less or greater.
    return f"ifNull(toFloat64OrNull({column.sql}), nan)"


def _contains(column: Column, text: str) -> str:
    if column.is_list:
        return f"arrayExists(x -> positionCaseInsensitiveUTF8(x, {text}) > 0, {column.sql})"
    return f"positionCaseInsensitiveUTF8({column.sql}, {text}) > 0"
