"""SQL for attributes as text: the only place that knows how their values are stored.

The first byte of a stored value is its type, unless it is a string. Lists and objects have no text.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from spanwise.storage.telemetry.engine.conditions import quoted


@dataclass(frozen=True)
class Attribute:
    """SQL for whether a row has an attribute, whatever its value is, and for its text."""

    exists: str
    text: str


def value_text(value: str) -> str:
    """SQL for the text of a stored value."""
    is_true = f"substring({value}, 2) IN ('1', 'true')"
    return f"""multiIf(ascii({value}) = 2, if({is_true}, 'true', 'false'),
        ascii({value}) IN (3, 4), substring({value}, 2),
        ascii({value}) BETWEEN 5 AND 8, '', {value})"""


def json_text(column: str, key: str) -> str:
    """SQL for the text of a value in a column of JSON objects."""
    return f"""if(JSONType({column}, {key}) = 'String', JSONExtractString({column}, {key}),
        JSONExtractRaw({column}, {key}))"""


def own_attribute(key: str) -> Attribute:
    """An attribute of a span or a log, from SQL for its key."""
    return Attribute(f"mapContains(attributes, {key})", value_text(f"attributes[{key}]"))


def point_attribute(key: str) -> Attribute:
    """An attribute of a data point or, if it has none, of the resource that sent it."""
    own = own_attribute(key)
    return Attribute(
        f"({own.exists} OR JSONHas(resource, {key}))",
        f"if({own.exists}, {own.text}, {json_text('resource', key)})",
    )


def metadata_attribute(key: str) -> Attribute:
    """A value in the metadata of a signal."""
    return Attribute(f"JSONHas(metadata, {key})", json_text("metadata", key))


def stored_values(keys: Iterable[str]) -> str:
    """SQL for an array of the stored values of attributes with known keys."""
    return f"[{', '.join(f'attributes[{quoted(key)}]' for key in keys)}]"


def texts(keys: Iterable[str]) -> str:
    """SQL for an array of the texts of attributes with known keys.

    They share one lambda: with an expression for each, planning took 50 ms per query.
    """
    return f"arrayMap(value -> {value_text('value')}, {stored_values(keys)})"


def first_text(keys: Iterable[str], *others: str) -> str:
    """SQL for the first text of these attributes, then of other expressions, that is not empty."""
    candidates = texts(keys)
    if others:
        candidates = f"arrayConcat({candidates}, [{', '.join(others)}])"
    return f"arrayFirst(text -> notEmpty(text), {candidates})"
