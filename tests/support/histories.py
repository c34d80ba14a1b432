"""Random histories of a workspace, and their expected analytics, computed in plain Python."""

import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from spanwise.model.analytics import Question
from spanwise.model.telemetry.filters import TraceFilter, equal
from spanwise.model.times import BoundedRange, Granularity, TimeRange
from support.spans import Body, child_of, iso, new_span

MODELS = ("zz-large", "zz-small", "zz-embed")
TOOLS = ("search", "read", "write")
AGENTS = ("planner", "coder", "critic", None)
ENVIRONMENTS = ("production", "test", None)
ERRORS = ("rate_limit", "timeout", "api_error", "validation", None)
USAGE = {"llm", "embedding", "rerank"}
BOUNDS = (200, 500, 1000, 2000, 5000)
# Long ago, because retention removes telemetry of all tests, and no other test's is this old.
_MINUTES = {
    Granularity.MINUTE: 1,
    Granularity.FIVE_MINUTES: 5,
    Granularity.QUARTER_HOUR: 15,
    Granularity.HOURLY: 60,
}
# The longest range with less than 10,000 buckets of a minute.
_MAX_MINUTES = timedelta(days=6)
_FIRST_DAY = datetime(2018, 2, 26, tzinfo=UTC)


@dataclass
class Step:
    """One step: spans are sent, prices set, traces deleted or old telemetry removed."""

    spans: list[Body] = field(default_factory=list)
    prices: dict[str, tuple[float, float]] = field(default_factory=dict)
    deleted: list[str] = field(default_factory=list)
    removed_before: datetime = _FIRST_DAY


@dataclass
class History:
    steps: list[Step]
    question: Question

    def traces(self) -> list["OracleTrace"]:
        """Return the traces after all steps: the last version of each span, at the last price.

        If a span was sent with start times in two hours, retention may remove only one version.
        """
        sent: list[Body] = []
        prices: dict[str, tuple[float, float]] = {}
        for step in self.steps:
            sent += step.spans
            prices.update(step.prices)
            sent = [span for span in sent if span["traceId"] not in step.deleted]
            sent = [span for span in sent if _start_of(span) >= step.removed_before]
        spans = {(span["traceId"], span["spanId"]): span for span in sent}
        by_trace = defaultdict(list)
        for span in spans.values():
            by_trace[span["traceId"]].append(span)
        rooted = [group for group in by_trace.values() if any(map(_is_root, group))]
        return [OracleTrace.of(group, prices) for group in rooted]


def _is_root(span: Body) -> bool:
    return "parentSpanId" not in span


def _start_of(span: Body) -> datetime:
    return datetime.fromisoformat(span["startTime"])


@dataclass(frozen=True)
class OracleTrace:
    trace_id: str
    start: datetime
    duration_ms: float
    agent: str | None
    environment: str | None
    error: str | None
    tokens: tuple[int, int]
    cost: float
    by_model: dict[str, float]
    # The tokens without a price, by model.
    unpriced: Counter[str]
    tools: Counter[str]

    @classmethod
    def of(cls, spans: Sequence[Body], prices: dict[str, tuple[float, float]]) -> "OracleTrace":
        roots = sorted(filter(_is_root, spans), key=_start_of)
        root = roots[0]
        start = _start_of(root)
        # Several roots last from the first start to the last end.
        lasting = spans if len(roots) > 1 else [root]
        end = max(datetime.fromisoformat(span["endTime"]) for span in lasting)
        by_model: dict[str, float] = defaultdict(float)
        unpriced: Counter[str] = Counter()
        calls = [span for span in spans if span.get("kind") in USAGE]
        for call in calls:
            if "cost" in call:
                by_model[call["model"]] += call["cost"]
            elif call["model"] in prices:
                rates = prices[call["model"]]
                amounts = (call["inputTokens"], call["outputTokens"])
                by_model[call["model"]] += (rates[0] * amounts[0] + rates[1] * amounts[1]) / 1e6
            else:
                by_model[call["model"]] += 0
                unpriced[call["model"]] += call["inputTokens"] + call["outputTokens"]
        return cls(
            trace_id=root["traceId"],
            start=start,
            duration_ms=(end - start) / timedelta(milliseconds=1),
            agent=next((span["agentName"] for span in roots if "agentName" in span), None),
            environment=root.get("environment"),
            error=(root.get("errorType") or "other") if root["status"] == "error" else None,
            tokens=(sum(c["inputTokens"] for c in calls), sum(c["outputTokens"] for c in calls)),
            cost=sum(by_model.values()),
            by_model=dict(by_model),
            unpriced=unpriced,
            tools=Counter(span["toolName"] for span in spans if "toolName" in span),
        )


def make_history(seed: int, *, with_deletes: bool = True) -> History:
    dice = random.Random(seed)
    # Days, or months.
    days = dice.choice((dice.randint(1, 4), dice.randint(40, 130)))
    traces = [_make_trace(dice, days) for _ in range(dice.randint(1, 25))]
    steps = [Step() for _ in range(4)]
    for trace in traces:
        for span in trace:
            first = dice.choice((0, 0, 0, 1, 2))
            steps[first].spans.append(span)
            if dice.random() < 0.15:
                again = dice.randint(first, 3)
                steps[again].spans.append(_changed(dice, span) if again > first else span)
    for step in steps:
        dice.shuffle(step.spans)
        if dice.random() < 0.3:
            rates = (round(dice.uniform(0, 50), 3), round(dice.uniform(0, 50), 3))
            step.prices[dice.choice(MODELS)] = rates
    if with_deletes:
        # Spans that arrive after the deletion count.
        for trace in dice.sample(traces, len(traces) // 6):
            steps[dice.randint(1, 3)].deleted.append(trace[0]["traceId"])
    return History(steps, _make_question(dice, days))


def _make_trace(dice: random.Random, days: int) -> list[Body]:
    start = _FIRST_DAY + timedelta(microseconds=dice.randrange(days * 86_400_000_000))
    if dice.random() < 0.2:
        start = start.replace(minute=0, second=0, microsecond=0)
    root = _make_root(dice, start)
    spans = [root]
    if dice.random() < 0.1:
        later = _make_root(dice, start + timedelta(minutes=dice.randint(1, 90)))
        spans.append({**later, "traceId": root["traceId"]})
    for _ in range(dice.randint(0, 4)):
        if dice.random() < 0.4:
            spans.append(
                child_of(root, spanId=_hex(dice, 8), kind="tool", toolName=dice.choice(TOOLS))
            )
        else:
            spans.append(_make_call(dice, root))
    return spans


def _make_root(dice: random.Random, start: datetime) -> Body:
    duration = dice.choice((*BOUNDS, dice.uniform(1, 900), dice.lognormvariate(6.5, 1.2)))
    fields = {
        "agentName": dice.choice(AGENTS),
        "environment": dice.choice(ENVIRONMENTS),
        "status": dice.choice(("ok", "unset", "error")),
    }
    if fields["status"] == "error":
        fields["errorType"] = dice.choice(ERRORS)
    given = {name: value for name, value in fields.items() if value is not None}
    ids = {"traceId": _hex(dice, 16), "spanId": _hex(dice, 8)}
    return {**new_span(start, round(duration, 3), kind="chain", inputTokens=7), **ids, **given}


def _make_call(dice: random.Random, root: Body) -> Body:
    usage = {"inputTokens": dice.randint(1, 90_000), "outputTokens": dice.randint(1, 9000)}
    cost = {"cost": round(dice.uniform(0.001, 2), 6)} if dice.random() < 0.3 else {}
    start = _start_of(root) + timedelta(minutes=dice.randint(0, 80))
    call = new_span(start, kind=dice.choice(sorted(USAGE)), model=dice.choice(MODELS))
    place = {"traceId": root["traceId"], "spanId": _hex(dice, 8), "parentSpanId": root["spanId"]}
    return {**call, **place, **usage, **cost}


def random_limit(dice: random.Random) -> datetime:
    """Return a cutoff for retention: mostly midnight, like the job's."""
    limit = _FIRST_DAY + timedelta(days=dice.randint(0, 60))
    return limit if dice.random() < 0.7 else limit + timedelta(hours=dice.randint(1, 23))


def all_time(granularity: Granularity) -> Question:
    """Return a question about all traces of a history."""
    period = BoundedRange(_FIRST_DAY - timedelta(days=40), _FIRST_DAY + timedelta(days=200))
    return Question(period, TraceFilter(TimeRange(period.start, period.end)), granularity)


def _changed(dice: random.Random, span: Body) -> Body:
    """Return the span as a client resends it: mostly unchanged, sometimes ended or moved."""
    if dice.random() < 0.5:
        return span
    if dice.random() < 0.4:
        shift = timedelta(minutes=dice.choice((-3000, -70, -1, 1, 50, 2000, 50_000)))
        times = {name: datetime.fromisoformat(span[name]) for name in ("startTime", "endTime")}
        return {**span, **{name: iso(max(at + shift, _FIRST_DAY)) for name, at in times.items()}}
    if span.get("kind") in USAGE:
        return {**span, "outputTokens": dice.randint(1, 9000)}
    return {**span, "status": dice.choice(("ok", "unset"))}


def _hex(dice: random.Random, size: int) -> str:
    return dice.randbytes(size).hex()


def _make_question(dice: random.Random, days: int) -> Question:
    span = days * 86_400
    start = _FIRST_DAY + timedelta(seconds=dice.randint(-90_000, span // 2))
    end = start + timedelta(seconds=dice.randint(1, span + 90_000))
    match dice.randrange(3):
        case 0:
            start = start.replace(hour=0, minute=0, second=0)
            end = end.replace(hour=0, minute=0, second=0) + timedelta(days=1)
        case 1:
            end = end.replace(minute=0, second=0) + timedelta(hours=1)
    wanted = TraceFilter(
        TimeRange(start, end),
        equal(
            agent=dice.choice((None, None, "planner", "coder", "nobody")),
            environment=dice.choice((None, None, "production")),
            model=dice.choice((None, None, None, "zz-large")),
        ),
    )
    granularities = [g for g in Granularity if not g.is_below_hour or end - start < _MAX_MINUTES]
    return Question(BoundedRange(start, end), wanted, dice.choice(granularities))


def select(traces: Sequence[OracleTrace], question: Question) -> list[OracleTrace]:
    wanted = {condition.field: condition.value for condition in question.filters.conditions}
    return [
        trace
        for trace in traces
        if question.period.start <= trace.start < question.period.end
        and wanted.get("agent") in {None, trace.agent}
        and wanted.get("environment") in {None, trace.environment}
        and ("model" not in wanted or wanted["model"] in trace.by_model)
    ]


def percentile(values: Sequence[float], level: float) -> float:
    """Interpolate the value at rank level * (n - 1)."""
    ordered = sorted(values)
    rank = level * (len(ordered) - 1)
    below, above = ordered[math.floor(rank)], ordered[math.ceil(rank)]
    return below + (above - below) * (rank - math.floor(rank))


def label(moment: datetime, granularity: Granularity) -> str:
    if granularity in _MINUTES:
        minute = moment.minute - moment.minute % _MINUTES[granularity]
        return f"{moment:%Y-%m-%dT%H}:{minute:02}:00Z"
    match granularity:
        case Granularity.DAILY:
            return f"{moment:%Y-%m-%d}"
        case Granularity.WEEKLY:
            return f"{moment - timedelta(days=moment.weekday()):%Y-%m-%d}"
        case _:
            return f"{moment:%Y-%m}-01"


def labels(question: Question) -> list[str]:
    """Return the dates of the series, computed minute by minute or hour by hour."""
    found = dict.fromkeys([label(question.period.start, question.granularity)])
    minutes = min(60, _MINUTES.get(question.granularity, 60))
    moment = question.period.start.replace(second=0, microsecond=0)
    moment -= timedelta(minutes=moment.minute % minutes)
    while moment < question.period.end:
        found[label(moment, question.granularity)] = None
        moment += timedelta(minutes=minutes)
    return list(found)


Answer = dict[str, Any]


def answers(traces: Sequence[OracleTrace], question: Question) -> Answer:
    """Return the expected response of every analytics endpoint, except percentiles."""
    meant = select(traces, question)
    by_label: dict[str, list[OracleTrace]] = {name: [] for name in labels(question)}
    for trace in meant:
        by_label[label(trace.start, question.granularity)].append(trace)

    def series(make: Callable[[list[OracleTrace]], Answer]) -> list[Answer]:
        return [{"date": date, **make(group)} for date, group in by_label.items()]

    failed = [trace for trace in meant if trace.error]
    return {
        "metrics": _metrics(meant),
        "outcomes": {
            "total": len(meant),
            "success": len(meant) - len(failed),
            "failure": len(failed),
            "trend": series(lambda g: {"success": _fine(g), "failure": len(g) - _fine(g)}),
        },
        "requests": series(
            lambda g: {"total": len(g), "byAgent": Counter(t.agent or "unknown" for t in g)}
        ),
        "latencies": _distribution(meant),
        "tokens": series(
            lambda g: {
                "inputTokens": sum(t.tokens[0] for t in g),
                "outputTokens": sum(t.tokens[1] for t in g),
                "totalTokens": sum(sum(t.tokens) for t in g),
            }
        ),
        "costs": {
            "totalCost": sum(t.cost for t in meant),
            "byModel": _sum_maps([t.by_model for t in meant]),
            "byTool": {},
            "trend": series(
                lambda g: {"cost": sum(t.cost for t in g), "unpricedTokens": _count_unpriced(g)}
            ),
            "unpricedTokens": _count_unpriced(meant),
            "unpricedTokensByModel": dict(sum((t.unpriced for t in meant), Counter())),
            "unpricedModels": sorted(set().union(*(t.unpriced for t in meant))),
        },
        "errors": dict(Counter(t.error for t in failed)),
        "error_rate": series(
            lambda g: {
                "total": len(g),
                "errors": len(g) - _fine(g),
                "errorRate": (len(g) - _fine(g)) / len(g) if g else 0,
            }
        ),
        "tools": _heatmap(meant),
    }


def percentiles(traces: Sequence[OracleTrace], question: Question) -> list[Answer]:
    meant = select(traces, question)
    points = []
    for date in labels(question):
        here = [t.duration_ms for t in meant if label(t.start, question.granularity) == date]
        levels = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
        found = {name: percentile(here, q) if here else None for name, q in levels.items()}
        points.append({"date": date, **found})
    return points


def p95(traces: Sequence[OracleTrace], question: Question) -> float:
    meant = select(traces, question)
    return percentile([t.duration_ms for t in meant], 0.95) if meant else 0


def _metrics(meant: Sequence[OracleTrace]) -> Answer:
    total = len(meant)
    return {
        "totalTraces": total,
        "successRate": _fine(meant) / total if total else 0,
        "avgLatency": sum(t.duration_ms for t in meant) / total if total else 0,
        "activeAgents": len({t.agent for t in meant} - {None}),
        "activeAlerts": 0,
        "totalTokens": sum(sum(t.tokens) for t in meant),
        "estimatedCost": sum(t.cost for t in meant),
        "unpricedTokens": _count_unpriced(meant),
    }


def _count_unpriced(traces: Sequence[OracleTrace]) -> int:
    return sum(trace.unpriced.total() for trace in traces)


def _fine(traces: Sequence[OracleTrace]) -> int:
    return sum(trace.error is None for trace in traces)


def _distribution(meant: Sequence[OracleTrace]) -> list[int]:
    counts = [0] * (len(BOUNDS) + 1)
    for trace in meant:
        counts[sum(trace.duration_ms >= bound for bound in BOUNDS)] += 1
    return counts


def _sum_maps(maps: Sequence[dict[str, float]]) -> dict[str, float]:
    total: dict[str, float] = defaultdict(float)
    for one in maps:
        for key, value in one.items():
            total[key] += value
    return dict(total)


def _heatmap(meant: Sequence[OracleTrace]) -> dict[str, dict[str, int]]:
    heatmap: dict[str, Counter[str]] = defaultdict(Counter)
    for trace in meant:
        if trace.tools:
            heatmap[trace.agent or "unknown"].update(trace.tools)
    return {agent: dict(tools) for agent, tools in heatmap.items()}
