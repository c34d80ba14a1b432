"""SQL for attributes of data points as text, and conditions on them."""

from spanwise.model.telemetry.metrics import AttributeFilter, FilterOperator
from spanwise.storage.telemetry.engine.conditions import Conditions

_COMPARISONS = {
    FilterOperator.GT: ">",
    FilterOperator.GTE: ">=",
    FilterOperator.LT: "<",
    FilterOperator.LTE: "<=",
}


def attribute_text(parameter: str) -> str:
    """SQL for the text of an attribute of the point, else of its resource; empty without one.

    The key is bound as `parameter`. Booleans and numbers lose their type marker.
    """
    key = f"{{{parameter}:String}}"
    raw = f"attributes[{key}]"
    of_point = f"""multiIf(startsWith({raw}, '\\x02'),
        if(substring({raw}, 2) IN ('1', 'true'), 'true', 'false'),
        startsWith({raw}, '\\x03') OR startsWith({raw}, '\\x04'), substring({raw}, 2), {raw})"""
    of_resource = f"""if(JSONType(resource, {key}) = 'String', JSONExtractString(resource, {key}),
        JSONExtractRaw(resource, {key}))"""
    return f"if(mapContains(attributes, {key}), {of_point}, {of_resource})"


def add_filter(where: Conditions, number: int, wanted: AttributeFilter) -> None:
    """Add a condition on an attribute; a missing one is an empty text."""
    key, value = f"filter_key_{number}", f"filter_value_{number}"
    text = attribute_text(key)
    first = wanted.values[0] if wanted.values else ""
    bound: dict[str, object] = {key: wanted.key, value: first}
    match wanted.operator:
        case FilterOperator.EQ:
            clause = f"{text} = {{{value}:String}}"
        case FilterOperator.NE:
            clause = f"{text} != {{{value}:String}}"
        case FilterOperator.IN:
            clause = f"{text} IN {{{value}:Array(String)}}"
            bound[value] = list(wanted.values)
        case FilterOperator.CONTAINS:
            clause = f"positionCaseInsensitiveUTF8({text}, {{{value}:String}}) > 0"
        case FilterOperator.EXISTS:
            clause = f"({text} != '') = ({{{value}:String}} = 'true')"
        case _:
            comparison = _COMPARISONS[wanted.operator]
            clause = f"toFloat64OrNull({text}) {comparison} {{{value}:Float64}}"
            bound[value] = float(first)
    where.add(clause, **bound)
