"""The SQL of measures, over the rows of `source_rows`."""

from spanwise.model.dashboards.queries import AnalyticsQuery, Entity
from spanwise.model.measures import MEASURES, SIGNAL
from spanwise.model.telemetry.filters import ATTRIBUTE

Value = float | int | str | None

_LATENCIES = "quantilesExactInclusive(0.5, 0.95, 0.99)(duration_ns)"
_FIRST_TOKENS = "quantilesExactInclusive(0.5, 0.95)(first_token_ms)"
_MEASURES = {
    "count": "count()",
    "errors": "countIf(status = 'error')",
    "errorRate": "countIf(status = 'error') / count()",
    "cost": "sum(counted_cost)",
    "totalTokens": "sum(counted_input) + sum(counted_output)",
    "inputTokens": "sum(counted_input)",
    "outputTokens": "sum(counted_output)",
    "cachedTokens": "sum(counted_cached)",
    "cacheWriteTokens": "sum(counted_cache_write)",
    "reasoningTokens": "sum(counted_reasoning)",
    "unpricedTokens": "sum(counted_unpriced)",
    "avgLatency": "sum(duration_ns / 1e6) / count()",
    "p50": f"{_LATENCIES}[1] / 1e6",
    "p95": f"{_LATENCIES}[2] / 1e6",
    "p99": f"{_LATENCIES}[3] / 1e6",
    "avgTimeToFirstToken": "avg(first_token_ms)",
    "p50TimeToFirstToken": f"{_FIRST_TOKENS}[1]",
    "p95TimeToFirstToken": f"{_FIRST_TOKENS}[2]",
    "users": "uniqExactIf(row_user, row_user != '')",
    "sessions": "uniqExactIf(row_session, row_session != '')",
    "agents": "uniqExactIf(row_agent, row_agent != '')",
}
# Parts of the input or the output, which only spans have: measure -> column of spans.
TOKEN_PARTS = {
    "cachedTokens": "cached_tokens",
    "cacheWriteTokens": "cache_write_tokens",
    "reasoningTokens": "reasoning_tokens",
}
# What depends on which calls count. What has no price is measured of traces, never of spans.
USAGE_MEASURES = {name for name, sql in _MEASURES.items() if "counted_" in sql} - {"unpricedTokens"}
# A trace is in the group of each value that one of its spans has.
_SHARED_DIMENSIONS = {"model", "provider", "tool", "kind", "service", "serviceVersion"}


def measure_sql(measure: str, number: int) -> str:
    """Return SQL for a measure; `number` is its position, which names the columns of a signal."""
    if measure.startswith(SIGNAL):
        total, amount = f"sum(signal_sum_{number})", f"sum(signal_count_{number})"
        return f"if({amount} = 0, NULL, {total} / {amount})"
    return _MEASURES[measure]


def empty_value(measure: str) -> Value:
    """Return what a group without rows has."""
    if measure == "cost":
        return 0.0
    known = MEASURES.get(measure)
    return 0 if known and (known.is_sum or measure == "errorRate") else None


def signals_of(measures: list[str]) -> dict[int, str]:
    """Return the signal names among measures by their position."""
    return {
        number: measure.removeprefix(SIGNAL)
        for number, measure in enumerate(measures)
        if measure.startswith(SIGNAL)
    }


def find_additive(query: AnalyticsQuery) -> list[int]:
    """Return the positions of the measures of which several groups have the sum."""
    if query.of is Entity.TRACES and any(
        name in _SHARED_DIMENSIONS or name.startswith(ATTRIBUTE) for name in query.group_by
    ):
        return []
    sums = {measure.name for measure in MEASURES.values() if measure.is_additive}
    return [at for at, measure in enumerate(query.measures) if measure in sums]
