"""Caches aggregates of clean rollup rows, which do not change until the next maintenance run."""

import time
from collections.abc import Iterable, Sequence

from spanwise.storage.telemetry.engine.query import Rows
from spanwise.storage.telemetry.rollup.aggregation import Aggregates, Statement

# Cache TTL: rows removed by another replica's retention may be counted this much longer.
TTL_SECONDS = 60.0
# Limit for all entries together, about 30 MB.
MAX_VALUES = 500_000

Results = list[tuple[Statement, Aggregates]]


class AggregateCache:
    """Evicts the oldest entries when it is full. Statements without a cache key are not cached."""

    def __init__(self) -> None:
        # Key -> when the entry expires and its aggregates, in insertion order.
        self._entries: dict[tuple[object, ...], tuple[float, Aggregates]] = {}
        self._values = 0
        # Incremented by `clear`, so that results read before it are not cached after it.
        self.generation = 0

    def split(self, statements: Iterable[Statement]) -> tuple[Results, list[Statement]]:
        """Return the cached results of statements, and the statements that are not cached."""
        cached: Results = []
        missing: list[Statement] = []
        for statement in statements:
            aggregates = self._get(statement)
            if aggregates is None:
                missing.append(statement)
            else:
                cached.append((statement, aggregates))
        return cached, missing

    def put_all(
        self, statements: Sequence[Statement], fetched: Sequence[Rows], generation: int
    ) -> Results:
        """Cache and return fetched aggregates. `generation` is from before they were fetched."""
        results = [
            (statement, statement.to_aggregates(rows))
            for statement, rows in zip(statements, fetched, strict=True)
        ]
        for statement, aggregates in results:
            if statement.cache_key is not None and generation == self.generation:
                self._put(statement.cache_key, aggregates)
        return results

    def clear(self) -> None:
        """Drop all entries, after rollup rows were removed without advancing the watermark."""
        self.generation += 1
        self._entries.clear()
        self._values = 0

    def _get(self, statement: Statement) -> Aggregates | None:
        if statement.cache_key is None:
            return None
        expires_at, aggregates = self._entries.get(statement.cache_key, (0.0, None))
        return aggregates if time.monotonic() < expires_at else None

    def _put(self, key: tuple[object, ...], aggregates: Aggregates) -> None:
        self._remove(key)
        self._entries[key] = time.monotonic() + TTL_SECONDS, aggregates
        self._values += count_values(aggregates)
        while self._values > MAX_VALUES:
            self._remove(next(iter(self._entries)))

    def _remove(self, key: tuple[object, ...]) -> None:
        if key in self._entries:
            _, aggregates = self._entries.pop(key)
            self._values -= count_values(aggregates)


def count_values(aggregates: Aggregates) -> int:
    """Return the size of an entry: one for its key, and all its values."""
    return 1 + sum(
        len(value) if isinstance(value, list) else 1
        for values in aggregates.values()
        for value in values
    )
