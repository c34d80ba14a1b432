"""Generates the SQL that picks, for each field, the attribute with the highest precedence.

With 170 attribute names and 30 fields, a map lookup per name costs 8.8 µs per span. Instead, each
attribute key is mapped once to a rank (field, precedence, position) with `transform`, the ranks
are sorted, and a field is the first rank in its range: 1.7 µs.
"""

from collections.abc import Iterable

from spanwise.model.telemetry.conventions import FIELDS
from spanwise.storage.telemetry.engine.conditions import quoted

_PRECEDENCE_BITS = 6
_POSITION_BITS = 20


class FieldRanks:
    """SQL that ranks the attribute with the highest precedence for each field."""

    def __init__(self, fields: Iterable[str]) -> None:
        known = {field.name: field.attributes for field in FIELDS}
        self._numbers = {name: number for number, name in enumerate(fields, 1)}
        self._ranks: dict[str, int] = {}
        for name, number in self._numbers.items():
            for precedence, attribute in enumerate(known[name]):
                rank = number << _PRECEDENCE_BITS | precedence
                if self._ranks.setdefault(attribute, rank) != rank:
                    raise ValueError(f"attribute {attribute} is mapped to two fields")

    def ranked_sql(self) -> str:
        """SQL for the sorted ranks of the mapped attributes that have a value.

        A rank packs the field's number, the precedence and the attribute's position, in this order.
        """
        names = array_of(self._ranks)
        numbers = ", ".join(str(rank) for rank in self._ranks.values())
        one = 2**_POSITION_BITS
        return f"""arraySort(arrayFilter(p -> p >= {one}, arrayMap((k, t, i) ->
   toUInt32(transform(k, {names}, [{numbers}], 0) * notEmpty(t) * {one} + i),
   keys, texts, arrayEnumerate(texts))))"""

    def picked_sql(self) -> str:
        """SQL for a map from field number to text, without type markers and JSON quotes."""
        fields = f"bitShiftRight(p, {_POSITION_BITS + _PRECEDENCE_BITS})"
        text = f"texts[bitAnd(p, {2**_POSITION_BITS - 1})]"
        return f"""mapFromArrays(arrayMap(p -> {fields}, ranked),
   arrayMap(p -> trimBoth({text}, '\\x02\\x03\\x04"'), ranked))"""

    def text(self, field: str) -> str:
        """SQL for the field's text; empty without an attribute."""
        return f"picked[{self._numbers[field]}]"

    def position(self, field: str) -> str:
        """SQL for the position of the field's attribute; 0 without one."""
        first = self._numbers[field] << (_PRECEDENCE_BITS + _POSITION_BITS)
        last = first + (1 << (_PRECEDENCE_BITS + _POSITION_BITS)) - 1
        return (
            f"bitAnd(arrayFirst(p -> p BETWEEN {first} AND {last}, ranked), "
            f"{2**_POSITION_BITS - 1})"
        )


def array_of(texts: Iterable[str]) -> str:
    return "[" + ", ".join(quoted(text) for text in texts) + "]"
