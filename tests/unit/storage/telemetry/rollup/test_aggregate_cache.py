"""Which clean aggregates are cached, and for how long."""

from typing import Any

import pytest

from spanwise.storage.telemetry.rollup import aggregate_cache
from spanwise.storage.telemetry.rollup.aggregate_cache import AggregateCache
from spanwise.storage.telemetry.rollup.aggregation import Aggregation, Statement, merge_results

COUNT = Aggregation("count", 1, lambda rows, question: "")


def statement(key: object = None) -> Statement:
    return Statement(COUNT, "SELECT", {}, None if key is None else (key,))


def row(agent: str, total: object) -> list[dict[str, Any]]:
    return [{"agent": agent, "total": total}]


def test_only_statements_with_a_key_are_cached() -> None:
    cache = AggregateCache()
    clean, others = statement("clean"), statement()
    assert cache.split([clean, others]) == ([], [clean, others])
    cache.put_all([clean, others], [row("a", 1), row("a", 2)], cache.generation)
    assert cache.split([clean, others]) == ([(clean, {("a",): (1,)})], [others])


def test_results_read_before_the_cache_was_cleared_are_not_cached() -> None:
    cache, clean = AggregateCache(), statement("clean")
    generation = cache.generation
    cache.clear()
    assert cache.put_all([clean], [row("a", 1)], generation) == [(clean, {("a",): (1,)})]
    assert cache.split([clean]) == ([], [clean])


def test_the_oldest_entries_are_evicted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aggregate_cache, "MAX_VALUES", 8)
    cache = AggregateCache()
    statements = [statement(number) for number in range(3)]
    # Four each: the key and three values of a list.
    cache.put_all(statements, [row("a", [1, 2, 3])] * 3, cache.generation)
    cached, missing = cache.split(statements)
    assert ([found for found, _ in cached], missing) == (statements[1:], statements[:1])


def test_entries_expire(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aggregate_cache, "TTL_SECONDS", 0)
    cache, clean = AggregateCache(), statement("clean")
    cache.put_all([clean], [row("a", 1)], cache.generation)
    assert cache.split([clean]) == ([], [clean])


def test_aggregates_of_several_statements_are_merged_by_group() -> None:
    other = Aggregation("other", 1, COUNT.sql)
    results = [
        (statement("clean"), {("a",): (1, [1]), ("b",): (2, [2])}),
        (Statement(other, "SELECT", {}), {("a",): (9, [9])}),
        (statement(), {("a",): (3, [3])}),
    ]
    merged = merge_results((COUNT, other), results)
    assert merged == [{("a",): (4, [1, 3]), ("b",): (2, [2])}, {("a",): (9, [9])}]
