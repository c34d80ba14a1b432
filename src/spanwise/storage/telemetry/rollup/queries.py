"""The analytics queries: totals, series, percentiles and breakdowns of traces."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from spanwise.model.analytics import MAX_NAMES, NO_NAME, OTHER_NAMES, Question
from spanwise.model.telemetry.spans import ErrorType, TraceStatus
from spanwise.model.times import Granularity
from spanwise.storage.telemetry.rollup.aggregation import Aggregates, Aggregation, Query
from spanwise.storage.telemetry.rollup.measures import LATENCY_BOUNDS_MS
from spanwise.storage.telemetry.rollup.percentiles import (
    Percentiles,
    percentile_aggregation,
    to_percentiles,
)
from spanwise.storage.telemetry.rollup.source import Source
from spanwise.storage.telemetry.rollup.time_ranges import to_seconds

_BUCKETS = {
    Granularity.MINUTE: "toStartOfMinute(moment)",
    Granularity.FIVE_MINUTES: "toStartOfFiveMinutes(moment)",
    Granularity.QUARTER_HOUR: "toStartOfFifteenMinutes(moment)",
    Granularity.HOURLY: "toStartOfHour(moment)",
    Granularity.DAILY: "toStartOfDay(moment)",
    Granularity.WEEKLY: "toDateTime(toMonday(moment), 'UTC')",
    Granularity.MONTHLY: "toDateTime(toStartOfMonth(moment), 'UTC')",
}

Results = Sequence[Aggregates]
T = TypeVar("T", int, float)


def bucket_of(question: Question) -> str:
    return _BUCKETS[question.granularity]


def _sum(measures: Sequence[str]) -> str:
    return ", ".join(f"sum(row.{name}) AS {name}" for name in measures)


# --- totals ---------------------------------------------------------------------------------------

_TOTALS = (
    *("traces", "errors", "duration_ms", "input_tokens", "output_tokens", "cost"),
    "unpriced_tokens",
)


@dataclass(frozen=True)
class Totals:
    traces: int
    errors: int
    duration_ms: float
    input_tokens: int
    output_tokens: int
    cost: float
    unpriced_tokens: int
    agents: int
    percentiles: Percentiles | None


def _totals_sql(rows: Source, _: Question) -> str:
    return f"""SELECT row.agent_name AS agent, {_sum(_TOTALS)}
        FROM ({rows.select(("agent_name", *_TOTALS))}) AS row GROUP BY agent"""


def _to_totals(_: Question, found: Results) -> Totals:
    by_agent, latencies = found
    totals = [sum(values) for values in zip(*by_agent.values(), strict=True)] or [0] * len(_TOTALS)
    agents = sum(values[0] > 0 for (agent,), values in by_agent.items() if agent)
    return Totals(
        **dict(zip(_TOTALS, totals, strict=True)),
        agents=agents,
        percentiles=to_percentiles(latencies).get(0),
    )


TOTALS = Query(
    (
        Aggregation("analytics_totals", 1, _totals_sql),
        percentile_aggregation(lambda _: "toDateTime(0)"),
    ),
    _to_totals,
)


def _status_sql(rows: Source, _: Question) -> str:
    return f"SELECT {_sum(('traces', 'errors'))} FROM ({rows.select(('traces', 'errors'))}) AS row"


def _to_status_counts(_: Question, found: Results) -> dict[str, int]:
    traces, errors = found[0][()]
    return {TraceStatus.SUCCESS: traces - errors, TraceStatus.ERROR: errors}


# How many traces have which status.
STATUS_COUNTS: Query[dict[str, int]] = Query(
    (Aggregation("count_traces", 0, _status_sql),), _to_status_counts
)


# --- series ---------------------------------------------------------------------------------------


def series_of(*measures: str) -> Query[list[Mapping[str, Any]]]:
    """The sum of some measures for every bucket of the period, in order."""

    def sql(rows: Source, question: Question) -> str:
        return f"""SELECT {bucket_of(question)} AS bucket, {_sum(measures)}
        FROM ({rows.select(measures)}) AS row GROUP BY bucket"""

    def to_series(question: Question, found: Results) -> list[Mapping[str, Any]]:
        by_bucket = {to_seconds(bucket): values for (bucket,), values in found[0].items()}
        zeros = (0,) * len(measures)
        return [
            dict(zip(measures, by_bucket.get(int(bucket.timestamp()), zeros), strict=True))
            for bucket in question.buckets
        ]

    return Query((Aggregation("analytics_series", 1, sql),), to_series, is_series=True)


OUTCOMES = series_of("traces", "errors")
TOKENS = series_of("input_tokens", "output_tokens")


def _requests_sql(rows: Source, question: Question) -> str:
    return f"""SELECT {bucket_of(question)} AS bucket, row.agent_name AS agent,
            sum(row.traces) AS total
        FROM ({rows.select(("agent_name", "traces"))}) AS row GROUP BY bucket, agent"""


def _to_requests(question: Question, found: Results) -> dict[datetime, dict[str, int]]:
    counts: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    shown = _limit_names((agent, total) for (_, agent), (total,) in found[0].items())
    for (bucket, agent), total in _sort_by_total(found[0]):
        counts[to_seconds(bucket)][shown(agent)] += total
    return {bucket: dict(counts[int(bucket.timestamp())]) for bucket in question.buckets}


# The number of traces of every bucket by agent, the busiest first.
REQUESTS = Query(
    (Aggregation("analytics_requests", 2, _requests_sql),), _to_requests, is_series=True
)


def _to_percentile_series(question: Question, found: Results) -> list[Percentiles | None]:
    by_bucket = to_percentiles(found[0])
    return [by_bucket.get(int(bucket.timestamp())) for bucket in question.buckets]


PERCENTILES = Query((percentile_aggregation(bucket_of),), _to_percentile_series, is_series=True)


# --- breakdowns -----------------------------------------------------------------------------------

_LATENCY_COUNTS = (*(f"under_{ms}" for ms in LATENCY_BOUNDS_MS), "traces")


def _latency_sql(rows: Source, _: Question) -> str:
    return f"SELECT {_sum(_LATENCY_COUNTS)} FROM ({rows.select(_LATENCY_COUNTS)}) AS row"


def _to_latency_counts(_: Question, found: Results) -> list[int]:
    cumulative = found[0][()]
    return [upper - lower for lower, upper in zip((0, *cumulative), cumulative, strict=False)]


# The number of traces of every bucket of the latency distribution, the fastest first.
LATENCY_COUNTS = Query((Aggregation("analytics_latency", 0, _latency_sql),), _to_latency_counts)


@dataclass(frozen=True)
class CostBreakdown:
    """Costs and tokens without a price; `unpriced` are the models that have calls without one."""

    series: list[tuple[float, int]]
    by_model: dict[str, float]
    by_tool: dict[str, float]
    tokens_by_model: dict[str, int]
    unpriced: list[str]


# An amount belongs to one of these parts of a trace.
_WHOLE, _MODEL, _TOOL = 0, 1, 2
_COSTS = (
    *("cost", "unpriced_tokens", "models", "model_costs", "model_unpriced_tokens"),
    *("unpriced_models", "tools", "tool_costs"),
)


def _costs_sql(rows: Source, question: Question) -> str:
    return f"""SELECT {bucket_of(question)} AS bucket, part, name, sum(amount) AS total,
            sum(tokens) AS unpriced,
            countIf(part = {_MODEL} AND has(unpriced_models, name)) AS lacks
        FROM ({rows.select(_COSTS)})
        ARRAY JOIN
            arrayConcat([{_WHOLE}], arrayMap(m -> {_MODEL}, models), arrayMap(t -> {_TOOL}, tools))
                AS part,
            arrayConcat([''], arrayMap(m -> toString(m), models), arrayMap(t -> toString(t), tools))
                AS name,
            arrayConcat([cost], model_costs, tool_costs) AS amount,
            arrayConcat([unpriced_tokens], model_unpriced_tokens, arrayMap(t -> 0, tools)) AS tokens
        GROUP BY bucket, part, name"""


def _to_costs(question: Question, found: Results) -> CostBreakdown:
    by_bucket: dict[int, tuple[float, int]] = {}
    models: list[tuple[str, float, int]] = []
    tools: list[tuple[str, float]] = []
    for (bucket, part, name), (total, tokens, _) in found[0].items():
        if part == _WHOLE:
            by_bucket[to_seconds(bucket)] = total, tokens
        elif part == _MODEL:
            models.append((name, total, tokens))
        elif total:
            tools.append((name, total))
    shown = _limit_names((model, total) for model, total, _ in models)
    lacking = sorted({name for (_, _, name), (_, _, lacks) in found[0].items() if lacks})
    return CostBreakdown(
        series=[by_bucket.get(int(bucket.timestamp()), (0.0, 0)) for bucket in question.buckets],
        by_model=_sum_by_name((shown(model), total) for model, total, _ in models),
        by_tool=_sum_by_name(tools),
        tokens_by_model=_sum_by_name(
            (shown(model), tokens) for model, _, tokens in models if tokens
        ),
        unpriced=lacking[:MAX_NAMES],
    )


def _sum_by_name(amounts: Iterable[tuple[str, T]]) -> dict[str, T]:
    """Return the sums by name, the largest first."""
    sums: dict[str, Any] = defaultdict(int)
    for name, amount in amounts:
        sums[name] += amount
    return dict(sorted(sums.items(), key=lambda item: (-item[1], item[0])))


# Costs of every bucket, model and tool, in one pass.
COSTS = Query((Aggregation("analytics_costs", 3, _costs_sql),), _to_costs, is_series=True)


def _errors_sql(rows: Source, _: Question) -> str:
    return f"""SELECT type, sum(amount) AS total
        FROM ({rows.select(("error_types", "error_counts"))})
        ARRAY JOIN error_types AS type, error_counts AS amount GROUP BY type"""


def _to_errors(_: Question, found: Results) -> dict[ErrorType, int]:
    return {ErrorType(kind): total for (kind,), total in _sort_by_total(found[0])}


# The number of failed traces by error type, the most frequent first.
ERRORS = Query((Aggregation("analytics_errors", 1, _errors_sql),), _to_errors)


def _tools_sql(rows: Source, _: Question) -> str:
    return f"""SELECT agent_name, tool, sum(calls) AS total
        FROM ({rows.select(("agent_name", "tools", "tool_calls"))})
        ARRAY JOIN tools AS tool, tool_calls AS calls GROUP BY agent_name, tool"""


def _to_tools(_: Question, found: Results) -> dict[str, dict[str, int]]:
    shown_agent = _limit_names((agent, total) for (agent, _), (total,) in found[0].items())
    shown_tool = _limit_names((tool, total) for (_, tool), (total,) in found[0].items())
    heatmap: dict[str, dict[str, int]] = {}
    for (agent, tool), total in sorted(_sort_by_total(found[0]), key=lambda item: str(item[0][0])):
        tools = heatmap.setdefault(shown_agent(agent), {})
        tools[shown_tool(tool)] = tools.get(shown_tool(tool), 0) + total
    return heatmap


# The number of calls of each tool by the agent of the trace.
TOOLS = Query((Aggregation("analytics_tools", 2, _tools_sql),), _to_tools)


def _limit_names(totals: Iterable[tuple[str, float]]) -> Callable[[str], str]:
    """Return a function that keeps the largest names and maps the rest to `OTHER_NAMES`."""
    by_name: dict[str, float] = defaultdict(float)
    for name, total in totals:
        by_name[name] += total
    if len(by_name) <= MAX_NAMES:
        return lambda name: name or NO_NAME
    largest = sorted(by_name, key=lambda name: (-by_name[name], name))[:MAX_NAMES]
    names = {name: name or NO_NAME for name in largest}
    return lambda name: names.get(name, OTHER_NAMES)


def _sort_by_total(found: Aggregates) -> list[tuple[tuple[Any, ...], int]]:
    """Return the groups with a total above zero, the largest first, then by their last key."""
    groups = [(keys, total) for keys, (total,) in found.items() if total]
    return sorted(groups, key=lambda group: (-group[1], group[0][-1]))
