"""Answers the questions of analytics: sums, series, percentiles and breakdowns of traces."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from spanwise.model.analytics import MAX_NAMES, NO_NAME, OTHER_NAMES, Question
from spanwise.model.telemetry.spans import ErrorType
from spanwise.model.times import Granularity
from spanwise.storage.telemetry.rollup.aggregate_cache import SumReader, Sums
from spanwise.storage.telemetry.rollup.source import LATENCY_BOUNDS_MS, LATENCY_GROWTH, Source

_BUCKETS = {
    Granularity.HOURLY: "toStartOfHour(moment)",
    Granularity.DAILY: "toStartOfDay(moment)",
    Granularity.WEEKLY: "toDateTime(toMonday(moment), 'UTC')",
    Granularity.MONTHLY: "toDateTime(toStartOfMonth(moment), 'UTC')",
}

Percentiles = tuple[float, float, float]
PERCENTILES = (0.5, 0.95, 0.99)


@dataclass(frozen=True)
class Totals:
    traces: int
    errors: int
    duration_ms: float
    input_tokens: int
    output_tokens: int
    cost: float
    agents: int


async def read_totals(reader: SumReader, source: Source) -> Totals:
    measures = ("traces", "errors", "duration_ms", "input_tokens", "output_tokens", "cost")
    by_agent = await reader.read(
        source,
        lambda rows: (
            f"""SELECT row.agent_name AS agent, {_sums(measures)}
        FROM ({rows.select(("agent_name", *measures))}) AS row GROUP BY agent"""
        ),
        keys=1,
        tag="analytics_totals",
    )
    sums = [sum(values) for values in zip(*by_agent.values(), strict=True)] or [0] * len(measures)
    agents = sum(values[0] > 0 for (agent,), values in by_agent.items() if agent)
    return Totals(**dict(zip(measures, sums, strict=True)), agents=agents)


async def count_traces(reader: SumReader, source: Source) -> int:
    found = await reader.read(
        source,
        lambda rows: f"SELECT sum(row.traces) AS total FROM ({rows.select(('traces',))}) AS row",
        keys=0,
        tag="count_traces",
    )
    return int(found[()][0])


async def read_series(
    reader: SumReader, source: Source, question: Question, measures: Sequence[str]
) -> list[Mapping[str, Any]]:
    """Return the sums of some measures for every bucket of the period, in order."""
    found = await reader.read(
        source,
        lambda rows: (
            f"""SELECT {bucket_of(question)} AS bucket, {_sums(measures)}
        FROM ({rows.select(measures)}) AS row GROUP BY bucket"""
        ),
        keys=1,
        tag="analytics_series",
    )
    sums = {_seconds(bucket): values for (bucket,), values in found.items()}
    nothing = (0,) * len(measures)
    return [
        dict(zip(measures, sums.get(int(bucket.timestamp()), nothing), strict=True))
        for bucket in question.buckets
    ]


async def read_requests(
    reader: SumReader, source: Source, question: Question
) -> dict[datetime, dict[str, int]]:
    """Count the traces of every bucket by the name of their agent, the busiest first."""
    found = await reader.read(
        source,
        lambda rows: (
            f"""SELECT {bucket_of(question)} AS bucket, row.agent_name AS agent,
            sum(row.traces) AS total
        FROM ({rows.select(("agent_name", "traces"))}) AS row GROUP BY bucket, agent"""
        ),
        keys=2,
        tag="analytics_requests",
    )
    counts: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    shown = _largest((agent, total) for (_, agent), (total,) in found.items())
    for (bucket, agent), total in _most_first(found):
        counts[_seconds(bucket)][shown(agent)] += total
    return {bucket: dict(counts[int(bucket.timestamp())]) for bucket in question.buckets}


async def read_percentiles(reader: SumReader, source: Source) -> Percentiles | None:
    """Return the 50th, 95th and 99th percentile of the latencies in milliseconds."""
    return (await _read_percentiles(reader, source, "toDateTime(0)")).get(0)


async def read_percentile_series(
    reader: SumReader, source: Source, question: Question
) -> list[Percentiles | None]:
    found = await _read_percentiles(reader, source, bucket_of(question))
    return [found.get(int(bucket.timestamp())) for bucket in question.buckets]


async def _read_percentiles(
    reader: SumReader, source: Source, bucket: str
) -> dict[int, Percentiles]:
    """Return the percentiles of every bucket that has traces."""
    ask = _exact_percentiles if source.is_exact else _histograms
    found = await reader.read(
        source, lambda rows: ask(rows, bucket), keys=1, tag="analytics_percentiles"
    )
    if source.is_exact:
        return {_seconds(at): tuple(percentiles) for (at,), (percentiles,) in found.items()}
    return {_seconds(at): _of_histogram(keys, amounts) for (at,), (keys, amounts) in found.items()}


def _exact_percentiles(source: Source, bucket: str) -> str:
    levels = ", ".join(map(str, PERCENTILES))
    return f"""SELECT {bucket} AS bucket,
        quantilesExactInclusive({levels})(duration_ms) AS percentiles
    FROM ({source.select(("duration_ms",))}) GROUP BY bucket"""


def _histograms(source: Source, bucket: str) -> str:
    # Not sumMap, which is slower by far over a year of histograms.
    return f"""SELECT bucket, groupArray(key) AS latency_keys, groupArray(amount) AS amounts
    FROM (
        SELECT {bucket} AS bucket, key, sum(latency_count) AS amount
        FROM ({source.select(("latency_keys", "latency_counts"))})
        ARRAY JOIN latency_keys AS key, latency_counts AS latency_count
        GROUP BY bucket, key HAVING amount > 0)
    GROUP BY bucket"""


def _of_histogram(keys: Sequence[int], amounts: Sequence[int]) -> Percentiles:
    """Return the value at rank q * (n - 1), between its two neighbours, for each percentile."""
    order = np.argsort(keys)
    totals = np.cumsum(np.array(amounts)[order])
    # The middle of a key, in milliseconds.
    middles = LATENCY_GROWTH ** np.array(keys, float)[order] * 2 / (1 + LATENCY_GROWTH) / 1000
    ranks = np.array(PERCENTILES) * (totals[-1] - 1)
    below = middles[np.searchsorted(totals, np.floor(ranks), side="right")]
    above = middles[np.searchsorted(totals, np.ceil(ranks), side="right")]
    p50, p95, p99 = (below + (above - below) * (ranks - np.floor(ranks))).tolist()
    return p50, p95, p99


async def read_latency_counts(reader: SumReader, source: Source) -> list[int]:
    """Count the traces of each latency bucket, the fastest first."""
    bounds = (*(f"under_{ms}" for ms in LATENCY_BOUNDS_MS), "traces")
    found = await reader.read(
        source,
        lambda rows: f"SELECT {_sums(bounds)} FROM ({rows.select(bounds)}) AS row",
        keys=0,
        tag="analytics_latency",
    )
    under = found[()]
    return [upper - lower for lower, upper in zip((0, *under), under, strict=False)]


@dataclass(frozen=True)
class CostsRead:
    """`unpriced` are the models of which some call has no known price."""

    series: list[float]
    by_model: dict[str, float]
    unpriced: list[str]


async def read_costs(reader: SumReader, source: Source, question: Question) -> CostsRead:
    """Return the cost of every bucket and of every model, in one pass."""
    found = await reader.read(
        source,
        lambda rows: (
            f"""SELECT {bucket_of(question)} AS bucket, model, sum(amount) AS total,
            countIf(has(unpriced_models, model)) AS unpriced
        FROM ({rows.select(("cost", "models", "model_costs", "unpriced_models"))})
        ARRAY JOIN arrayPushFront(arrayMap(m -> toString(m), models), '') AS model,
            arrayPushFront(model_costs, cost) AS amount
        GROUP BY bucket, model"""
        ),
        keys=2,
        tag="analytics_costs",
    )
    by_bucket = {_seconds(at): total for (at, model), (total, _) in found.items() if not model}
    models = [(model, total) for (_, model), (total, _) in found.items() if model]
    shown = _largest(models)
    by_model: dict[str, float] = defaultdict(float)
    for model, total in models:
        by_model[shown(model)] += total
    return CostsRead(
        series=[by_bucket.get(int(bucket.timestamp()), 0.0) for bucket in question.buckets],
        by_model=dict(sorted(by_model.items(), key=lambda item: (-item[1], item[0]))),
        unpriced=sorted({model for (_, model), (_, unpriced) in found.items() if unpriced})[
            :MAX_NAMES
        ],
    )


async def read_errors(reader: SumReader, source: Source) -> dict[ErrorType, int]:
    """Count the failed traces by the type of their error, the commonest first."""
    found = await reader.read(
        source,
        lambda rows: (
            f"""SELECT type, sum(amount) AS total
        FROM ({rows.select(("error_types", "error_counts"))})
        ARRAY JOIN error_types AS type, error_counts AS amount GROUP BY type"""
        ),
        keys=1,
        tag="analytics_errors",
    )
    return {ErrorType(kind): total for (kind,), total in _most_first(found)}


async def read_tools(reader: SumReader, source: Source) -> dict[str, dict[str, int]]:
    """Count the calls of each tool by the name of the agent whose traces they are in."""
    found = await reader.read(
        source,
        lambda rows: (
            f"""SELECT agent_name, tool, sum(calls) AS total
        FROM ({rows.select(("agent_name", "tools", "tool_calls"))})
        ARRAY JOIN tools AS tool, tool_calls AS calls GROUP BY agent_name, tool"""
        ),
        keys=2,
        tag="analytics_tools",
    )
    shown_agent = _largest((agent, total) for (agent, _), (total,) in found.items())
    shown_tool = _largest((tool, total) for (_, tool), (total,) in found.items())
    heatmap: dict[str, dict[str, int]] = {}
    for (agent, tool), total in sorted(_most_first(found), key=lambda item: str(item[0][0])):
        tools = heatmap.setdefault(shown_agent(agent), {})
        tools[shown_tool(tool)] = tools.get(shown_tool(tool), 0) + total
    return heatmap


def _largest(totals: Iterable[tuple[str, float]]) -> Callable[[str], str]:
    """Return what to call each name in an answer: itself when it is among the largest."""
    sums: dict[str, float] = defaultdict(float)
    for name, total in totals:
        sums[name] += total
    if len(sums) <= MAX_NAMES:
        return lambda name: name or NO_NAME
    largest = sorted(sums, key=lambda name: (-sums[name], name))[:MAX_NAMES]
    names = {name: name or NO_NAME for name in largest}
    return lambda name: names.get(name, OTHER_NAMES)


def _sums(measures: Sequence[str]) -> str:
    return ", ".join(f"sum(row.{name}) AS {name}" for name in measures)


def _most_first(found: Sums) -> list[tuple[tuple[Any, ...], int]]:
    """Groups that have something, by their only sum, then by their last key."""
    groups = [(keys, total) for keys, (total,) in found.items() if total]
    return sorted(groups, key=lambda group: (-group[1], group[0][-1]))


def bucket_of(question: Question) -> str:
    return _BUCKETS[question.granularity]


def _seconds(bucket: datetime) -> int:
    return int(bucket.replace(tzinfo=UTC).timestamp())
