"""Answers queries over traces by agent and environment from the rollup."""

from collections.abc import Mapping, Sequence
from typing import Any

from spanwise.model.analytics import Question
from spanwise.model.dashboards.queries import AnalyticsQuery, Entity
from spanwise.storage.telemetry.analytics.measures import Value
from spanwise.storage.telemetry.rollup.aggregation import Aggregates, Aggregation, Query
from spanwise.storage.telemetry.rollup.percentiles import LEVELS, interpolate
from spanwise.storage.telemetry.rollup.queries import bucket_of
from spanwise.storage.telemetry.rollup.source import Source
from spanwise.storage.telemetry.rollup.time_ranges import to_seconds

_DIMENSIONS = {"agent": "agent_name", "environment": "environment"}
_SUMS = (
    *("traces", "errors", "duration_ms", "input_tokens", "output_tokens", "cost"),
    "unpriced_tokens",
)
_PERCENTILES = ("p50", "p95", "p99")
_MEASURES = {
    *("count", "errors", "errorRate", "cost", "totalTokens", "inputTokens", "outputTokens"),
    *("unpricedTokens", "avgLatency"),
    *_PERCENTILES,
}

# Group -> start of a bucket in seconds, or None for the whole period -> its measures.
Answer = Mapping[tuple[str, ...], Mapping[int | None, Sequence[Value]]]


def can_use_rollup(query: AnalyticsQuery) -> bool:
    """Return whether the rollup has the dimensions and measures of a query.

    The histograms of many groups in many buckets are larger than the traces.
    """
    has_percentiles = not set(_PERCENTILES).isdisjoint(query.measures)
    return (
        query.of is Entity.TRACES
        and set(query.group_by) <= _DIMENSIONS.keys()
        and set(query.measures) <= _MEASURES
        and not (has_percentiles and query.granularity and query.group_by)
    )


def rollup_query(query: AnalyticsQuery) -> Query[Answer]:
    columns = [_DIMENSIONS[dimension] for dimension in query.group_by]
    size = 1 + len(columns)

    def bucket(question: Question) -> str:
        return bucket_of(question) if query.granularity else "toDateTime(0)"

    def keys(prefix: str = "") -> str:
        return "".join(f", {prefix}{column}" for column in columns)

    def sums_sql(rows: Source, question: Question) -> str:
        sums = ", ".join(f"sum(row.{name}) AS {name}" for name in _SUMS)
        return f"""SELECT {bucket(question)} AS bucket{keys("row.")}, {sums}
        FROM ({rows.select((*columns, *_SUMS))}) AS row GROUP BY bucket{keys("row.")}"""

    def histogram_sql(rows: Source, question: Question) -> str:
        measures = (*columns, "latency_keys", "latency_counts")
        return f"""SELECT bucket{keys()}, groupArray(key) AS keys, groupArray(amount) AS amounts
        FROM (
            SELECT {bucket(question)} AS bucket{keys()}, key, sum(latency_count) AS amount
            FROM ({rows.select(measures)})
            ARRAY JOIN latency_keys AS key, latency_counts AS latency_count
            GROUP BY bucket{keys()}, key HAVING amount > 0)
        GROUP BY bucket{keys()}"""

    aggregations = [Aggregation("query_sums", size, sums_sql)]
    if not set(_PERCENTILES).isdisjoint(query.measures):
        aggregations.append(Aggregation("query_histograms", size, histogram_sql))

    def to_answer(_: Question, found: Sequence[Aggregates]) -> Answer:
        return _to_answer(query, *found)

    return Query(tuple(aggregations), to_answer, is_series=query.granularity is not None)


def _to_answer(
    query: AnalyticsQuery, sums: Aggregates, histograms: Aggregates | None = None
) -> Answer:
    """Compute the measures of every bucket, and of all buckets of a group together."""
    totals: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for (bucket, *names), values in sums.items():
        # Keys whose traces are all gone have zeros.
        if values[0] > 0:
            places = [None, to_seconds(bucket)] if query.granularity else [None]
            for place in places:
                earlier = totals.get((place, *names), (0,) * len(_SUMS))
                totals[place, *names] = tuple(map(sum, zip(earlier, values, strict=True)))
    merged: dict[tuple[Any, ...], tuple[list[int], list[int]]] = {}
    for (bucket, *names), (latencies, counts) in (histograms or {}).items():
        for place in [None, to_seconds(bucket)] if query.granularity else [None]:
            into = merged.setdefault((place, *names), ([], []))
            into[0].extend(latencies)
            into[1].extend(counts)
    answer: dict[tuple[str, ...], dict[int | None, Sequence[Value]]] = {}
    for (place, *names), values in totals.items():
        measures = _to_measures(values, merged.get((place, *names)))
        by_bucket = answer.setdefault(tuple(names), {})
        by_bucket[place] = [measures[measure] for measure in query.measures]
    return answer


def _to_measures(
    sums: Sequence[Any], histogram: tuple[list[int], list[int]] | None
) -> dict[str, Value]:
    traces, errors, duration_ms, input_tokens, output_tokens, cost, unpriced_tokens = sums
    levels = interpolate(*histogram) if histogram else (None,) * len(LEVELS)
    return {
        "count": traces,
        "errors": errors,
        "errorRate": errors / traces,
        "cost": cost,
        "totalTokens": input_tokens + output_tokens,
        "inputTokens": input_tokens,
        "outputTokens": output_tokens,
        "unpricedTokens": unpriced_tokens,
        "avgLatency": duration_ms / traces,
        **dict(zip(_PERCENTILES, levels, strict=True)),
    }
