"""The measures of traces and spans: what each is called, in which unit, and what it means.

Queries, panels, alert rules and their texts, agents and the dashboard take them from here; their
SQL is in `storage/telemetry/analytics/measures.py`.
"""

from dataclasses import dataclass
from enum import StrEnum

SIGNAL = "signal:"


class Unit(StrEnum):
    COUNT = "count"
    SHARE = "share"
    USD = "USD"
    TOKENS = "tokens"
    MILLISECONDS = "ms"
    SCORE = "score"


class Goal(StrEnum):
    """What an increase means."""

    HIGH = "high is good"
    LOW = "low is good"
    NEUTRAL = "neutral"


@dataclass(frozen=True)
class Measure:
    """`is_additive`: the values of groups add up to the value of all of them."""

    name: str
    label: str
    unit: Unit
    meaning: str
    goal: Goal = Goal.NEUTRAL
    is_additive: bool = False
    of_spans: bool = True
    of_traces: bool = True

    @property
    def is_sum(self) -> bool:
        """Whether it is 0 without rows. A share of none, a mean or a percentile is unknown."""
        return self.unit in {Unit.COUNT, Unit.USD, Unit.TOKENS}

    @property
    def text(self) -> str:
        """The label within a sentence."""
        return self.label[0].lower() + self.label[1:]


def _tokens(name: str, label: str, meaning: str, *, of_spans: bool = True) -> Measure:
    return Measure(name, label, Unit.TOKENS, meaning, is_additive=True, of_spans=of_spans)


def _latency(name: str, label: str, meaning: str, *, of_traces: bool = True) -> Measure:
    return Measure(name, label, Unit.MILLISECONDS, meaning, Goal.LOW, of_traces=of_traces)


def _first_token(name: str, label: str) -> Measure:
    meaning = "milliseconds to the first token of streamed calls; only of spans"
    return _latency(name, label, meaning, of_traces=False)


MEASURES = {
    measure.name: measure
    for measure in (
        Measure("count", "Count", Unit.COUNT, "number of traces or spans", is_additive=True),
        Measure("errors", "Errors", Unit.COUNT, "those that failed", Goal.LOW, is_additive=True),
        Measure(
            "errorRate", "Error rate", Unit.SHARE, "share of those that failed, 0 to 1", Goal.LOW
        ),
        Measure("cost", "Cost", Unit.USD, "US dollars", Goal.LOW, is_additive=True),
        _tokens("totalTokens", "Tokens", "input and output tokens"),
        _tokens("inputTokens", "Input tokens", "tokens of the input, cached ones included"),
        _tokens("outputTokens", "Output tokens", "tokens of the output, reasoning included"),
        _tokens("cachedTokens", "Cached tokens", "input read from the provider's cache"),
        _tokens("cacheWriteTokens", "Cache writes", "input written to the provider's cache"),
        _tokens("reasoningTokens", "Reasoning tokens", "the part of the output that is reasoning"),
        _tokens(
            "unpricedTokens",
            "Tokens without a price",
            "tokens of models without a price, whose cost is unknown; only of traces",
            of_spans=False,
        ),
        _latency("avgLatency", "Mean latency", "mean duration in milliseconds"),
        _latency("p50", "p50 latency", "median of the durations in milliseconds"),
        _latency("p95", "p95 latency", "95th percentile of the durations in milliseconds"),
        _latency("p99", "p99 latency", "99th percentile of the durations in milliseconds"),
        Measure("users", "Users", Unit.COUNT, "distinct user ids"),
        Measure("sessions", "Sessions", Unit.COUNT, "distinct session ids"),
        Measure("agents", "Active agents", Unit.COUNT, "distinct names of agents"),
        _first_token("avgTimeToFirstToken", "Mean time to first token"),
        _first_token("p50TimeToFirstToken", "p50 time to first token"),
        _first_token("p95TimeToFirstToken", "p95 time to first token"),
    )
}
FIRST_TOKEN_MEASURES = tuple(name for name, measure in MEASURES.items() if not measure.of_traces)


# Alert rules measure it, but no query does: failures have a storage of their own.
NEW_FAILURES = Measure(
    "newFailures",
    "New failures",
    Unit.COUNT,
    "groups of failures that appeared or came back",
    Goal.LOW,
    of_spans=False,
    of_traces=False,
)


def measure_named(name: str) -> Measure:
    """Return the measure of a name; `signal:<name>` is the mean of a signal."""
    if name == NEW_FAILURES.name:
        return NEW_FAILURES
    if name.startswith(SIGNAL):
        signal = name.removeprefix(SIGNAL)
        return Measure(name, f"Mean {signal}", Unit.SCORE, f"mean of the signals named {signal}")
    return MEASURES[name]
