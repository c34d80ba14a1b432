"""Aggregations over a source: compiles their SQL statements and merges the results."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import add
from typing import Any, Generic, TypeVar

from spanwise.model.analytics import Question
from spanwise.storage.telemetry.engine.query import Rows
from spanwise.storage.telemetry.rollup.source import Source

T = TypeVar("T")

# Key of a group -> its aggregates: numbers, or lists, which merge by concatenation.
Aggregates = dict[tuple[Any, ...], tuple[Any, ...]]
SqlBuilder = Callable[[Source, Question], str]


@dataclass(frozen=True)
class Aggregation:
    """SQL that groups the rows of a source. Its first `key_columns` columns are the group's key.

    An additive aggregation can be computed per table and merged, and cached for clean rows.
    `exact_sql` replaces the SQL where every row is one trace.
    """

    tag: str
    key_columns: int
    sql: SqlBuilder
    exact_sql: SqlBuilder | None = None
    is_additive: bool = True


@dataclass(frozen=True)
class Query(Generic[T]):
    """Aggregations to compute, and how they become the answer to a question.

    A query that is not a series ignores the question's granularity and may read whole months.
    """

    aggregations: Sequence[Aggregation]
    to_answer: Callable[[Question, Sequence[Aggregates]], T]
    is_series: bool = False


@dataclass(frozen=True)
class Statement:
    """One statement of an aggregation. `cache_key` is set if it reads clean rollup rows only."""

    aggregation: Aggregation
    sql: str
    parameters: Mapping[str, Any]
    cache_key: tuple[object, ...] | None = None

    @property
    def tag(self) -> str:
        return self.aggregation.tag

    def to_aggregates(self, rows: Rows) -> Aggregates:
        keys = self.aggregation.key_columns
        found = (tuple(row.values()) for row in rows)
        return {values[:keys]: values[keys:] for values in found}


def compile_statements(
    aggregations: Iterable[Aggregation], source: Source, question: Question
) -> list[Statement]:
    """Return the statements of aggregations; clean rollup rows get separate, cacheable ones."""
    statements: list[Statement] = []
    for aggregation in aggregations:
        exact_sql = aggregation.exact_sql if source.is_traces_only else None
        build = exact_sql or aggregation.sql
        clean, others = source.split() if aggregation.is_additive else (None, source)
        if clean is not None:
            sql = build(clean, question)
            key = (clean.watermark, sql, repr(clean.parameters))
            statements.append(
                Statement(aggregation, f"{sql} {source.settings}", clean.parameters, key)
            )
        if others is not None:
            sql = f"{build(others, question)} {source.settings}"
            statements.append(Statement(aggregation, sql, others.parameters))
    return statements


def merge_results(
    aggregations: Iterable[Aggregation], results: Sequence[tuple[Statement, Aggregates]]
) -> list[Aggregates]:
    """Return the aggregates of each aggregation, merged from those of its statements."""
    return [
        _merge(found for statement, found in results if statement.aggregation is aggregation)
        for aggregation in aggregations
    ]


def _merge(parts: Iterable[Aggregates]) -> Aggregates:
    merged: Aggregates = {}
    for part in parts:
        for key, values in part.items():
            merged[key] = tuple(map(add, merged[key], values)) if key in merged else values
    return merged
