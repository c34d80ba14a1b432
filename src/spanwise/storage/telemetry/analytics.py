"""Answers the questions of analytics: sums, series, percentiles and breakdowns of traces."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from spanwise.model.analytics import NO_NAME, Question
from spanwise.model.spans import ErrorType
from spanwise.model.times import Granularity
from spanwise.storage.telemetry.analytics_source import LATENCY_BOUNDS_MS, LATENCY_GROWTH, Source
from spanwise.storage.telemetry.engine import Engine, Rows

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


async def read_totals(engine: Engine, source: Source) -> Totals:
    measures = ("traces", "errors", "duration_ms", "input_tokens", "output_tokens", "cost")
    sums = ", ".join(f"sum(row.{name}) AS {name}" for name in measures)
    rows = await _fetch(
        engine,
        source,
        f"""SELECT {sums}, uniqExactIf(row.agent_name, row.agent_name != '' AND row.traces > 0)
            AS agents
        FROM ({source.select(("agent_name", *measures))}) AS row""",
        tag="analytics_totals",
    )
    return Totals(**rows[0])


async def read_series(
    engine: Engine, source: Source, question: Question, measures: Sequence[str]
) -> list[Mapping[str, Any]]:
    """Return the sums of some measures for every bucket of the period, in order."""
    sums = ", ".join(f"sum(row.{name}) AS {name}" for name in measures)
    rows = await _fetch(
        engine,
        source,
        f"""SELECT {bucket_of(question)} AS bucket, {sums}
        FROM ({source.select(measures)}) AS row GROUP BY bucket""",
        tag="analytics_series",
    )
    found = {_seconds(row): row for row in rows}
    nothing: Mapping[str, Any] = dict.fromkeys(measures, 0)
    return [found.get(int(bucket.timestamp()), nothing) for bucket in question.buckets]


async def read_requests(
    engine: Engine, source: Source, question: Question
) -> dict[datetime, dict[str, int]]:
    """Count the traces of every bucket by the name of their agent."""
    rows = await _fetch(
        engine,
        source,
        f"""SELECT {bucket_of(question)} AS bucket, row.agent_name AS agent,
            sum(row.traces) AS total
        FROM ({source.select(("agent_name", "traces"))}) AS row
        GROUP BY bucket, agent HAVING total > 0 ORDER BY total DESC, agent""",
        tag="analytics_requests",
    )
    found: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for row in rows:
        found[_seconds(row)][row["agent"] or NO_NAME] += row["total"]
    return {bucket: dict(found[int(bucket.timestamp())]) for bucket in question.buckets}


async def read_percentiles(engine: Engine, source: Source) -> Percentiles | None:
    """Return the 50th, 95th and 99th percentile of the latencies in milliseconds."""
    return (await _read_percentiles(engine, source, "toDateTime(0)")).get(0)


async def read_percentile_series(
    engine: Engine, source: Source, question: Question
) -> list[Percentiles | None]:
    found = await _read_percentiles(engine, source, bucket_of(question))
    return [found.get(int(bucket.timestamp())) for bucket in question.buckets]


async def _read_percentiles(engine: Engine, source: Source, bucket: str) -> dict[int, Percentiles]:
    """Return the percentiles of every bucket that has traces."""
    sql = (_exact_percentiles if source.is_exact else _histograms)(source, bucket)
    # Histograms of a year are worth a second thread.
    rows = await engine.fetch(sql, source.parameters, tag="analytics_percentiles")
    if source.is_exact:
        return {_seconds(row): tuple(row["percentiles"]) for row in rows}
    return {_seconds(row): _of_histogram(row["latency_keys"], row["amounts"]) for row in rows}


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


async def read_latency_counts(engine: Engine, source: Source) -> list[int]:
    """Count the traces of each latency bucket, the fastest first."""
    bounds = [f"under_{ms}" for ms in LATENCY_BOUNDS_MS]
    sums = ", ".join(f"sum(row.{name})" for name in (*bounds, "traces"))
    rows = await _fetch(
        engine,
        source,
        f"SELECT [{sums}] AS under FROM ({source.select((*bounds, 'traces'))}) AS row",
        tag="analytics_latency",
    )
    under = rows[0]["under"]
    return [upper - lower for lower, upper in zip([0, *under], under, strict=False)]


@dataclass(frozen=True)
class CostsRead:
    """`unpriced` are the models of which some call has no known price."""

    series: list[float]
    by_model: dict[str, float]
    unpriced: list[str]


async def read_costs(engine: Engine, source: Source, question: Question) -> CostsRead:
    """Return the cost of every bucket and of every model, in one pass."""
    rows = await _fetch(
        engine,
        source,
        f"""SELECT {bucket_of(question)} AS bucket, model, sum(amount) AS total,
            max(has(unpriced_models, model)) AS is_unpriced
        FROM ({source.select(("cost", "models", "model_costs", "unpriced_models"))})
        ARRAY JOIN arrayPushFront(arrayMap(m -> toString(m), models), '') AS model,
            arrayPushFront(model_costs, cost) AS amount
        GROUP BY bucket, model""",
        tag="analytics_costs",
    )
    by_bucket = {_seconds(row): row["total"] for row in rows if row["model"] == ""}
    by_model: dict[str, float] = defaultdict(float)
    for row in rows:
        if row["model"]:
            by_model[row["model"]] += row["total"]
    return CostsRead(
        series=[by_bucket.get(int(bucket.timestamp()), 0.0) for bucket in question.buckets],
        by_model=dict(sorted(by_model.items(), key=lambda item: (-item[1], item[0]))),
        unpriced=sorted({row["model"] for row in rows if row["is_unpriced"]}),
    )


async def read_errors(engine: Engine, source: Source) -> dict[ErrorType, int]:
    """Count the failed traces by the type of their error, the commonest first."""
    rows = await _fetch(
        engine,
        source,
        f"""SELECT type, sum(amount) AS total
        FROM ({source.select(("error_types", "error_counts"))})
        ARRAY JOIN error_types AS type, error_counts AS amount
        GROUP BY type HAVING total > 0 ORDER BY total DESC, type""",
        tag="analytics_errors",
    )
    return {ErrorType(row["type"]): row["total"] for row in rows}


async def read_tools(engine: Engine, source: Source) -> dict[str, dict[str, int]]:
    """Count the calls of each tool by the name of the agent whose traces they are in."""
    rows = await _fetch(
        engine,
        source,
        f"""SELECT agent_name, tool, sum(calls) AS total
        FROM ({source.select(("agent_name", "tools", "tool_calls"))})
        ARRAY JOIN tools AS tool, tool_calls AS calls
        GROUP BY agent_name, tool HAVING total > 0 ORDER BY agent_name, total DESC, tool""",
        tag="analytics_tools",
    )
    heatmap: dict[str, dict[str, int]] = {}
    for row in rows:
        tools = heatmap.setdefault(row["agent_name"] or NO_NAME, {})
        tools[row["tool"]] = tools.get(row["tool"], 0) + row["total"]
    return heatmap


async def _fetch(engine: Engine, source: Source, sql: str, *, tag: str) -> Rows:
    return await engine.fetch(f"{sql} {source.settings}", source.parameters, tag=tag)


def bucket_of(question: Question) -> str:
    return _BUCKETS[question.granularity]


def _seconds(row: Mapping[str, Any]) -> int:
    bucket: datetime = row["bucket"]
    return int(bucket.replace(tzinfo=UTC).timestamp())
