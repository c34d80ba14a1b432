"""Answers queries over traces by agent, environment and status from the rollup."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from spanwise.model.analytics import Question
from spanwise.model.dashboards.queries import AnalyticsQuery, Entity
from spanwise.model.telemetry.spans import TraceStatus
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
    *("unpricedTokens", "avgLatency", "agents"),
    *_PERCENTILES,
}
_OF_STATUS = {"count", "errors", "errorRate"}

# Group -> start of a bucket in seconds, or None for the whole period -> its measures.
Answer = Mapping[tuple[str, ...], Mapping[int | None, Sequence[Value]]]


def can_use_rollup(query: AnalyticsQuery) -> bool:
    """Return whether the rollup has the dimensions and measures of a query.

    The histograms of many groups in many buckets are larger than the traces.
    """
    dimensions, measures = set(query.group_by), set(query.measures)
    has_percentiles = not measures.isdisjoint(_PERCENTILES)
    return (
        query.of is Entity.TRACES
        and dimensions <= {*_DIMENSIONS, "status"}
        and measures <= (_OF_STATUS if "status" in dimensions else _MEASURES)
        and not (has_percentiles and query.granularity and dimensions)
        and not ("agents" in measures and "agent" in dimensions)
    )


def rollup_query(query: AnalyticsQuery) -> Query[Answer]:
    columns = [_DIMENSIONS[name] for name in query.group_by if name in _DIMENSIONS]
    # Agents are counted by their names, the last part of a key.
    counted = [*columns, "agent_name"] if "agents" in query.measures else columns

    def bucket(question: Question) -> str:
        return bucket_of(question) if query.granularity else "toDateTime(0)"

    def sums_sql(rows: Source, question: Question) -> str:
        keys = "".join(f", row.{column}" for column in counted)
        sums = ", ".join(f"sum(row.{name}) AS {name}" for name in _SUMS)
        return f"""SELECT {bucket(question)} AS bucket{keys}, {sums}
        FROM ({rows.select((*counted, *_SUMS))}) AS row GROUP BY bucket{keys}"""

    def histogram_sql(rows: Source, question: Question) -> str:
        keys = "".join(f", {column}" for column in columns)
        measures = (*columns, "latency_keys", "latency_counts")
        return f"""SELECT bucket{keys}, groupArray(key) AS keys, groupArray(amount) AS amounts
        FROM (
            SELECT {bucket(question)} AS bucket{keys}, key, sum(latency_count) AS amount
            FROM ({rows.select(measures)})
            ARRAY JOIN latency_keys AS key, latency_counts AS latency_count
            GROUP BY bucket{keys}, key HAVING amount > 0)
        GROUP BY bucket{keys}"""

    aggregations = [Aggregation("query_sums", 1 + len(counted), sums_sql)]
    if not set(_PERCENTILES).isdisjoint(query.measures):
        aggregations.append(Aggregation("query_histograms", 1 + len(columns), histogram_sql))

    def to_answer(_: Question, found: Sequence[Aggregates]) -> Answer:
        return _to_answer(query, *found)

    return Query(tuple(aggregations), to_answer, is_series=query.granularity is not None)


def _to_answer(
    query: AnalyticsQuery, sums: Aggregates, histograms: Aggregates | None = None
) -> Answer:
    """Compute the measures of every bucket, and of all buckets of a group together."""
    totals: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    agents: dict[tuple[Any, ...], set[str]] = {}
    for (bucket, *names), values in sums.items():
        agent = names.pop() if "agents" in query.measures else ""
        for key, part in _split_by_status(query, names, values):
            # Keys whose traces are all gone have zeros.
            if part[0] == 0:
                continue
            for place in [None, to_seconds(bucket)] if query.granularity else [None]:
                earlier = totals.get((place, *key), (0,) * len(_SUMS))
                totals[place, *key] = tuple(map(sum, zip(earlier, part, strict=True)))
                agents.setdefault((place, *key), set()).add(agent)
    merged: dict[tuple[Any, ...], tuple[list[int], list[int]]] = {}
    for (bucket, *names), (latencies, counts) in (histograms or {}).items():
        for place in [None, to_seconds(bucket)] if query.granularity else [None]:
            into = merged.setdefault((place, *names), ([], []))
            into[0].extend(latencies)
            into[1].extend(counts)
    answer: dict[tuple[str, ...], dict[int | None, Sequence[Value]]] = {}
    for (place, *names), values in totals.items():
        measures = _to_measures(values, merged.get((place, *names)))
        measures["agents"] = len(agents[place, *names] - {""})
        by_bucket = answer.setdefault(tuple(names), {})
        by_bucket[place] = [measures[measure] for measure in query.measures]
    return answer


def _split_by_status(
    query: AnalyticsQuery, names: Sequence[str], values: Sequence[Any]
) -> Iterator[tuple[tuple[str, ...], Sequence[Any]]]:
    """Yield the sums of traces that succeeded and that failed, if they are separate groups."""
    if "status" not in query.group_by:
        yield tuple(names), values
        return
    at = query.group_by.index("status")
    traces, errors, *others = values
    for status, counts in (
        (TraceStatus.SUCCESS, (traces - errors, 0)),
        (TraceStatus.ERROR, (errors, errors)),
    ):
        yield (*names[:at], status.value, *names[at:]), (*counts, *others)


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
