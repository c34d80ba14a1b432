"""Random spans and signals, and the expected answers to analytics queries, in plain Python."""

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from spanwise.model.times import to_unix_nano
from spanwise.storage.telemetry.rows.call_deduplication import Call, find_counted_in
from support.histories import percentile
from support.spans import Body, iso

FIRST_DAY = datetime(2025, 5, 30, tzinfo=UTC)
DAYS = 4
TOKEN_PARTS = ("cachedTokens", "cacheWriteTokens", "reasoningTokens")
USAGE = {"llm", "embedding", "rerank"}
TENANTS = ("acme", "Globex", "initech", None)
MEASURES = (
    *("count", "errors", "errorRate", "cost", "totalTokens", "inputTokens", "outputTokens"),
    *("cachedTokens", "cacheWriteTokens", "reasoningTokens", "avgLatency", "p50", "p95", "p99"),
    *("users", "sessions", "agents", "signal:quality"),
)
DIMENSIONS = (
    *("agent", "model", "provider", "tool", "kind", "status", "errorType", "environment", "userId"),
    *("sessionId", "experiment", "variant", "attribute:tenant", "attribute:size", "attribute:beta"),
)
INHERITED = ("agentName", "environment", "userId", "sessionId", "experimentId", "variant")
ADDITIVE = {"count", "errors", "cost", "totalTokens", "inputTokens", "outputTokens", *TOKEN_PARTS}
SHARED = {"model", "provider", "tool", "kind"}
_COLUMNS = {"agent": "agentName", "tool": "toolName", "experiment": "experimentId"}
_ZEROS = {"avgLatency": None, "p50": None, "p95": None, "p99": None, "signal:quality": None}


@dataclass
class Data:
    """Requests in the order in which they are sent; a span that is sent again is replaced."""

    requests: list[list[Body]] = field(default_factory=list)
    signals: list[Body] = field(default_factory=list)

    def spans(self) -> list[Body]:
        latest = {(s["traceId"], s["spanId"]): s for sent in self.requests for s in sent}
        return list(latest.values())


def make_data(seed: int, traces: int = 40) -> Data:
    dice = random.Random(seed)
    spans = [span for _ in range(traces) for span in _make_trace(dice)]
    again = [_change(dice, span) for span in dice.sample(spans, len(spans) // 6)]
    signals = [
        {
            "signalName": dice.choice(("quality", "other")),
            "value": dice.randrange(100),
            "traceId": span["traceId"],
            **({"spanId": span["spanId"]} if dice.random() < 0.6 else {}),
        }
        for span in dice.sample(spans, len(spans) // 3)
    ]
    dice.shuffle(spans)
    return Data([spans, again], signals)


def _make_trace(dice: random.Random) -> list[Body]:
    start = FIRST_DAY + timedelta(milliseconds=dice.randrange(DAYS * 86_400_000))
    trace = dice.randbytes(16).hex()
    experiment = dice.choice(({}, {"experimentId": "exp_1", "variant": dice.choice("ab")}))
    user = {"userId": f"user-{dice.randrange(6)}"} if dice.random() < 0.7 else {}
    session = {"sessionId": f"talk-{dice.randrange(9)}"} if dice.random() < 0.7 else {}
    environment = {"environment": dice.choice(("live", "test"))} if dice.random() < 0.7 else {}
    shared = {**experiment, **user, **session, **environment}
    agent = {"agentName": dice.choice(("planner", "coder", "critic"))}
    root = _make_span(dice, trace, start, kind=dice.choice(("agent", "chain")), **shared, **agent)
    if dice.random() < 0.2:
        root["status"] = "error"
        root["errorType"] = dice.choice(("timeout", "rate_limit"))
    spans = [root]
    for _ in range(dice.randint(0, 5)):
        at = start + timedelta(milliseconds=dice.randrange(5_000_000))
        own = shared if dice.random() < 0.3 else {}
        own = {**own, **({"agentName": "helper"} if dice.random() < 0.2 else {})}
        parent = dice.choice(spans)
        if dice.random() < 0.4:
            own = {**own, "kind": "tool", "toolName": dice.choice(("search", "run"))}
        else:
            own = {**own, **_make_usage(dice)}
        child = _make_span(dice, trace, at, parentSpanId=parent["spanId"], **own)
        if dice.random() < 0.2:
            child |= {"status": "error", "errorType": "api_error"}
        spans.append(child)
    return spans


def _make_span(dice: random.Random, trace: str, start: datetime, **fields: Any) -> Body:
    attributes = {
        "tenant": dice.choice(TENANTS),
        "size": dice.choice((None, 1, 2, 10, 2.5)),
        "beta": dice.choice((None, True, False)),
        "tags": dice.choice((None, ["a", "b"])),
        **fields.pop("attributes", {}),
    }
    return {
        "traceId": trace,
        "spanId": dice.randbytes(8).hex(),
        "name": dice.choice(("step one", "Step two", "answer")),
        "startTime": iso(start),
        "durationMs": dice.randrange(1, 90_000),
        "status": "ok",
        "attributes": {key: value for key, value in attributes.items() if value is not None},
        **fields,
    }


def _make_usage(dice: random.Random) -> Body:
    """Return the fields of a call. Costs are exact in binary, so that sums have no rounding."""
    tokens = dice.randint(10, 5000)
    cached = dice.randrange(tokens)
    # More than the input would mean that the input does not include them.
    written = dice.randrange(tokens - cached)
    response = {"gen_ai.response.id": f"r{dice.randrange(4)}"} if dice.random() < 0.4 else {}
    return {
        "kind": dice.choice(("llm", "llm", "llm", "embedding")),
        "model": dice.choice(("zz-large", "zz-small")),
        "provider": dice.choice(("openai", "anthropic")),
        "inputTokens": tokens,
        "outputTokens": dice.randint(0, 900),
        "cachedTokens": cached,
        # Spans of REST have no such field, but the attribute.
        "cacheWriteTokens": written,
        "reasoningTokens": dice.randint(0, 90),
        "cost": dice.randrange(1, 4096) / 1024,
        "attributes": {"gen_ai.usage.cache_creation.input_tokens": written, **response},
    }


def _change(dice: random.Random, span: Body) -> Body:
    if dice.random() < 0.5:
        return span
    attributes = {**span["attributes"], "tenant": dice.choice(("acme", "umbrella"))}
    return {**span, "attributes": attributes, "durationMs": dice.randrange(1, 90_000)}


# --- queries --------------------------------------------------------------------------------------


def make_query(dice: random.Random, of: str | None = None, **fixed: Any) -> Body:
    measures = dice.sample(MEASURES, dice.randint(1, 5))
    dimensions = dice.sample(DIMENSIONS, dice.choice((0, 1, 1, 1, 2, 3)))
    start = FIRST_DAY + timedelta(minutes=dice.randrange(-600, 2 * 1440))
    end = start + timedelta(minutes=dice.randrange(1, 3 * 1440))
    query: Body = {
        "of": of or dice.choice(("traces", "spans")),
        "measures": measures,
        "groupBy": dimensions,
        "startDate": iso(start),
        "endDate": iso(end),
        "filters": [_make_condition(dice) for _ in range(dice.choice((0, 0, 1, 1, 2)))],
        "limit": dice.choice((1, 3, 100)),
        **fixed,
    }
    if dice.random() < 0.4:
        query["granularity"] = dice.choice(("15m", "hourly", "daily", "weekly", "monthly"))
    # Percentiles of the rollup are within 0.5 %, so their order may differ.
    sortable = [m for m in (*query["measures"], *query["groupBy"]) if m[0] != "p"]
    if sortable:
        order = {"field": dice.choice(sortable), "order": dice.choice(("asc", "desc"))}
        query["orderBy"] = order
    else:
        query["measures"].insert(0, "count")
    return query


def _make_condition(dice: random.Random) -> Body:
    values = {
        "agent": ("planner", "helper"),
        "model": ("zz-large", "none"),
        "tool": ("search", "run"),
        "kind": ("llm", "tool"),
        "status": ("error", "ok", "success"),
        "environment": ("live", "test"),
        "userId": ("user-1", "user-2"),
        "sessionId": ("talk-1", "talk-2"),
        "variant": ("a", "b"),
        "name": ("answer", "step one"),
        "attribute:tenant": ("acme", "umbrella", "nobody"),
        "attribute:size": (1, 2, 2.5),
        "attribute:beta": (True, False),
        "durationMs": (500, 45_000),
        "cost": (0.5, 2),
        "inputTokens": (0, 900),
    }
    name = dice.choice(list(values))
    numbers = isinstance(values[name][0], int | float) and not isinstance(values[name][0], bool)
    ops = ["eq", "ne", "in", "exists"]
    ops += ["gt", "gte", "lt", "lte"] if numbers else []
    ops += ["contains"] if isinstance(values[name][0], str) else []
    op = dice.choice(ops)
    value: Any = dice.choice(values[name])
    if op == "in":
        value = list(values[name][:2])
    elif op == "exists":
        value = dice.choice((True, False))
    elif op == "contains":
        value = value[-3:].upper()
    return {"field": name, "op": op, "value": value}


# --- answers --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """A trace or a span; a field has a list of values, or a number."""

    start: datetime
    duration_ms: float
    is_error: bool
    fields: dict[str, Any]
    usage: dict[str, float]
    signals: list[float]


def find_rows(data: Data, of: str) -> list[Row]:
    by_trace: dict[str, list[Body]] = defaultdict(list)
    for span in data.spans():
        by_trace[span["traceId"]].append(span)
    rows = []
    for spans in by_trace.values():
        root = next(span for span in spans if "parentSpanId" not in span)
        uncounted = find_counted_in([_to_call(s) for s in spans if s["kind"] in USAGE])
        counted = [s for s in spans if s["kind"] in USAGE and s["spanId"] not in uncounted]
        scores = [s for s in data.signals if s["traceId"] == root["traceId"]]
        if of == "traces":
            rows.append(_trace_row(root, spans, counted, scores))
        else:
            rows += [_span_row(root, span, counted, scores) for span in spans]
    return rows


def _to_call(span: Body) -> Call[str]:
    return Call(
        span["spanId"],
        span.get("parentSpanId", ""),
        span["kind"] == "llm",
        span["attributes"].get("gen_ai.response.id", ""),
        span["inputTokens"] + span["outputTokens"],
        span["cachedTokens"] + span["cacheWriteTokens"] + span["reasoningTokens"],
        to_unix_nano(datetime.fromisoformat(span["startTime"])),
    )


def _trace_row(
    root: Body, spans: Sequence[Body], counted: Sequence[Body], scores: Sequence[Body]
) -> Row:
    own = {name: root.get(name) for name in (*INHERITED, "errorType", "name")}
    usage = _sum_usage(counted)
    attributes = {
        f"attribute:{key}": _distinct(s["attributes"].get(key) for s in spans)
        for key in ("tenant", "size", "beta", "tags")
    }
    return Row(
        datetime.fromisoformat(root["startTime"]),
        root["durationMs"],
        root["status"] == "error",
        {
            **{name: _listed(value) for name, value in own.items()},
            "status": ["error" if root["status"] == "error" else "success"],
            "model": _distinct(call["model"] for call in counted),
            "provider": _distinct(span.get("provider") for span in spans),
            "tool": _distinct(span.get("toolName") for span in spans),
            "kind": _distinct(span["kind"] for span in spans),
            **attributes,
            "durationMs": root["durationMs"],
            "cost": usage["cost"],
            "inputTokens": usage["inputTokens"],
        },
        usage,
        [s["value"] for s in scores if s["signalName"] == "quality"],
    )


def _span_row(root: Body, span: Body, counted: Sequence[Body], scores: Sequence[Body]) -> Row:
    own = {name: span.get(name) or root.get(name) for name in INHERITED}
    if span.get("experimentId"):
        own["variant"] = span["variant"]
    names = ("errorType", "name", "status", "model", "provider", "kind", "toolName")
    own |= {name: span.get(name) for name in names}
    mine = [s for s in scores if s.get("spanId") == span["spanId"]]
    return Row(
        datetime.fromisoformat(span["startTime"]),
        span["durationMs"],
        span["status"] == "error",
        {
            **{name: _listed(value) for name, value in own.items()},
            "tool": _listed(own["toolName"]),
            **{
                f"attribute:{key}": _distinct([span["attributes"].get(key)])
                for key in ("tenant", "size", "beta", "tags")
            },
            "durationMs": span["durationMs"],
            "cost": span.get("cost", 0),
            "inputTokens": span.get("inputTokens", 0),
        },
        _sum_usage([span] if span in counted else []),
        [s["value"] for s in mine if s["signalName"] == "quality"],
    )


def _sum_usage(calls: Sequence[Body]) -> dict[str, float]:
    names = ("cost", "inputTokens", "outputTokens", *TOKEN_PARTS)
    usage = {name: sum(call[name] for call in calls) for name in names}
    return usage | {"totalTokens": usage["inputTokens"] + usage["outputTokens"]}


def _listed(value: Any) -> list[Any]:
    return [] if value is None else [value]


def _distinct(values: Any) -> list[Any]:
    hashable = (tuple(value) if isinstance(value, list) else value for value in values)
    return list(dict.fromkeys(value for value in hashable if value is not None))


def _values(row: Row, name: str) -> Any:
    return row.fields[_COLUMNS.get(name, name) if name != "tool" else name]


def _matches(row: Row, condition: Body) -> bool:  # noqa: PLR0911 -- one per operator
    op, value = condition["op"], condition["value"]
    if op == "ne":
        return not _matches(row, {**condition, "op": "eq"})
    if op == "exists" and value is False:
        return not _matches(row, {**condition, "value": True})
    found = _values(row, condition["field"])
    if not isinstance(found, list):
        if op == "exists":
            return bool(found != 0)
        found = [found]
    match op:
        case "exists":
            return bool(found)
        case "eq":
            return any(_same(one, value) for one in found)
        case "in":
            return any(_same(one, other) for one in found for other in value)
        case "contains":
            return any(isinstance(one, str) and value.lower() in one.lower() for one in found)
    numbers = [one for one in found if isinstance(one, int | float) and not isinstance(one, bool)]
    tests = {
        "gt": lambda n: n > value,
        "gte": lambda n: n >= value,
        "lt": lambda n: n < value,
        "lte": lambda n: n <= value,
    }
    return any(tests[op](number) for number in numbers)


def _same(one: Any, other: Any) -> bool:
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _group_keys(row: Row, dimensions: Sequence[str]) -> list[tuple[str | None, ...]]:
    keys: list[tuple[str | None, ...]] = [()]
    for dimension in dimensions:
        # Lists have no text.
        found = [v for v in _values(row, dimension) if not isinstance(v, tuple)]
        texts = [_to_text(value) for value in found] or [None]
        keys = [(*key, text) for key in keys for text in texts]
    return keys


def _to_text(value: Any) -> str | None:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _measure(rows: Sequence[Row], name: str) -> Any:  # noqa: PLR0911 -- one per measure
    if not rows:
        return _ZEROS.get(name, 0)
    errors = sum(row.is_error for row in rows)
    match name:
        case "count":
            return len(rows)
        case "errors":
            return errors
        case "errorRate":
            return errors / len(rows)
        case "avgLatency":
            return sum(row.duration_ms for row in rows) / len(rows)
        case "p50" | "p95" | "p99":
            return percentile([row.duration_ms for row in rows], int(name[1:]) / 100)
        case "users" | "sessions" | "agents":
            column = {"users": "userId", "sessions": "sessionId", "agents": "agentName"}[name]
            return len({value for row in rows for value in row.fields[column]})
        case "signal:quality":
            values = [value for row in rows for value in row.signals]
            return sum(values) / len(values) if values else None
    return sum(row.usage[name] for row in rows)


def _label(moment: datetime, granularity: str) -> str:
    match granularity:
        case "15m":
            return f"{moment:%Y-%m-%dT%H}:{moment.minute // 15 * 15:02}:00Z"
        case "hourly":
            return f"{moment:%Y-%m-%dT%H}:00:00Z"
        case "weekly":
            moment -= timedelta(days=moment.weekday())
        case "monthly":
            return f"{moment:%Y-%m}-01"
    return f"{moment:%Y-%m-%d}"


def answer(data: Data, query: Body) -> Body:
    start, end = (datetime.fromisoformat(query[name]) for name in ("startDate", "endDate"))
    rows = [
        row
        for row in find_rows(data, query["of"])
        if start <= row.start < end
        and all(_matches(row, condition) for condition in query["filters"])
    ]
    groups: dict[tuple[str | None, ...], list[Row]] = defaultdict(list)
    for row in rows:
        for key in _group_keys(row, query["groupBy"]):
            groups[key].append(row)
    if not query["groupBy"]:
        groups.setdefault((), [])
    order = query.get("orderBy", {"field": query["measures"][0], "order": "desc"})

    def sort_value(key: tuple[str | None, ...]) -> Any:
        if order["field"] in query["measures"]:
            return _measure(groups[key], order["field"])
        return key[query["groupBy"].index(order["field"])] or ""

    keys = sorted(groups, key=lambda key: tuple(part or "" for part in key))
    present = [key for key in keys if sort_value(key) is not None]
    present.sort(key=sort_value, reverse=order["order"] == "desc")
    ordered = [*present, *(key for key in keys if sort_value(key) is None)]
    labels = _labels(start, end, query.get("granularity"))
    shown = ordered[: min(query["limit"], 10_000 // max(1, len(labels)))]
    found, totals = [], []
    for key in shown:
        names = dict(zip(query["groupBy"], key, strict=True))
        parts: list[tuple[Body, list[Row]]] = [({}, groups[key])]
        if "granularity" in query:
            by_label: dict[str, list[Row]] = {label: [] for label in labels}
            for row in groups[key]:
                by_label[_label(row.start, query["granularity"])].append(row)
            parts = [({"date": label}, part) for label, part in by_label.items()]
            whole = {name: _measure(groups[key], name) for name in query["measures"]}
            totals.append({**names, **whole})
        for date, part in parts:
            values = {name: _measure(part, name) for name in query["measures"]}
            found.append({**date, **names, **values})
    return {
        "rows": found,
        "totals": totals,
        "others": _sum_others(query, [groups[key] for key in ordered[len(shown) :]], labels),
        "truncated": len(ordered) > len(shown),
        "total": len(ordered),
    }


def _sum_others(query: Body, groups: Sequence[list[Row]], labels: Sequence[str]) -> list[Body]:
    """Return the sums of the groups that are not shown, where no row is in several of them."""
    sums = [name for name in query["measures"] if name in ADDITIVE]
    is_shared = query["of"] == "traces" and any(
        name in SHARED or name.startswith("attribute:") for name in query["groupBy"]
    )
    if not groups or not sums or is_shared:
        return []
    by_label: dict[str, list[Row]] = {label: [] for label in labels}
    for row in (row for group in groups if labels for row in group):
        by_label[_label(row.start, query["granularity"])].append(row)
    return [
        {"date": label, **{name: _measure(part, name) for name in sums}}
        for label, part in by_label.items()
    ]


def _labels(start: datetime, end: datetime, granularity: str | None) -> list[str]:
    if granularity is None:
        return []
    moment = start.replace(minute=start.minute // 15 * 15, second=0, microsecond=0)
    found = []
    while moment < end:
        found.append(_label(moment, granularity))
        moment += timedelta(minutes=15)
    return list(dict.fromkeys(found))
