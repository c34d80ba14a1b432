"""Models, providers and tools are compared by their calls, within the same agents."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from spanwise.model.dashboards.changes import CLUSTERS
from support.changes_oracle import (
    MEASURES,
    Trace,
    difference,
    found_difference,
    measure,
    quantile,
    quantile_difference,
    verdict,
)
from support.polling import until
from support.service import Person, Service
from support.spans import Body, new_span, send

START = datetime(2025, 6, 2, tzinfo=UTC)
WEEK = {"startDate": "2025-06-02T00:00:00Z", "endDate": "2025-06-09T00:00:00Z"}
MODELS = {**WEEK, "dimension": "model", "baseline": "zz-large", "candidate": "zz-small"}
TRACES = 200


def call_of(root: Body, latency_ms: float, **fields: Any) -> Body:
    made = new_span(datetime.fromisoformat(root["startTime"]), latency_ms)
    return {**made, "traceId": root["traceId"], "parentSpanId": root["spanId"], **fields}


def make_trace(dice: random.Random, number: int) -> tuple[list[Body], list[Trace]]:
    """Return the spans of a trace, and its model calls; both models are in the same traces."""
    start = START + timedelta(minutes=10 * number)
    root = new_span(
        start, 90_000, kind="agent", agentName="writer", sessionId=f"chat-{number // 2}"
    )
    spans, calls = [root], []
    for _ in range(1 + dice.randrange(3)):
        model = dice.choice(("zz-large", "zz-small"))
        latency = round(400 * dice.lognormvariate(0, 0.5) / (1 + (model == "zz-small")), 3)
        cost, tokens = dice.randrange(1, 4096) / 1024, dice.randrange(10, 900)
        failed = dice.random() < 0.1
        usage = {"inputTokens": tokens, "outputTokens": 5, "cost": cost}
        status = {"status": "error", "errorType": "timeout"} if failed else {"status": "ok"}
        spans.append(call_of(root, latency, kind="llm", model=model, **usage, **status))
        calls.append(Trace(number // 2, model, latency, failed, cost, tokens + 5, {}, [], model))
    return spans, calls


@pytest.fixture(scope="module")
async def eve(shared_service: Service) -> Person:
    return await shared_service.sign_up()


@pytest.fixture(scope="module")
async def calls(shared_service: Service, eve: Person) -> list[Trace]:
    """The model calls of eve's only agent, with the engine's clusters."""
    dice = random.Random(5)
    made = [make_trace(dice, number) for number in range(TRACES)]
    await send(eve, *(span for spans, _ in made for span in spans))
    rows = await shared_service.services.engine.fetch(
        f"""SELECT cityHash64(concat('chat-', toString(number))) % {CLUSTERS} AS cluster
        FROM numbers({TRACES}) ORDER BY number""",
        {},
    )
    clusters = [row["cluster"] for row in rows]
    return [
        Trace(**{**vars(call), "cluster": clusters[call.cluster]})
        for _, calls in made
        for call in calls
    ]


async def ask(person: Person, **parameters: Any) -> Any:
    return await person.data("GET", "/analytics/changes", params=parameters)


def by_measure(found: Any) -> dict[str, Any]:
    return {change["measure"]: change for change in found["measures"]}


def assert_exact(found: Any, first: Sequence[Trace], second: Sequence[Trace]) -> None:
    changes = by_measure(found)
    names = {"costPerTrace": "costPerCall", "tokensPerTrace": "tokensPerCall"}
    for name in ("errorRate", "avgLatency", "costPerTrace", "tokensPerTrace"):
        change = changes[names.get(name, name)]
        means = [measure(side, MEASURES[name]) for side in (first, second)]
        expected = difference(means[0], means[1])
        assert [change["baseline"], change["candidate"]] == pytest.approx([m.value for m in means])
        assert found_difference(change) == pytest.approx(expected, rel=1e-6), name
        assert change["verdict"] == verdict(*expected[1:])
        samples = [change["baselineSamples"], change["candidateSamples"]]
        assert samples == [len(first), len(second)]
        observations = [change["baselineObservations"], change["candidateObservations"]]
        assert observations == [mean.clusters for mean in means]
    for name, level in (("p50", 0.5), ("p95", 0.95)):
        assert changes[name]["baseline"] == pytest.approx(quantile(first, level)[0])
        expected = quantile_difference(first, second, level)
        assert found_difference(changes[name]) == pytest.approx(expected, rel=1e-6), name


async def test_models_in_the_same_traces_are_compared_by_their_calls(
    eve: Person, calls: list[Trace]
) -> None:
    large, small = ([c for c in calls if c.model == name] for name in ("zz-large", "zz-small"))
    found = await ask(eve, **MODELS)
    assert_exact(found, large, small)
    assert (found["of"], found["agents"]["mix"]) == ("spans", "same")
    assert [found[side]["calls"] for side in ("baseline", "candidate")] == [len(large), len(small)]
    changes = by_measure(found)
    assert changes["avgLatency"]["verdict"] == "better"
    # Their traces last 90 s, and contain the cost of both.
    assert changes["p95"]["candidate"] < 5000
    assert changes["costPerCall"]["verdict"] == "unclear"
    assert "toolErrorRate" not in changes
    # The only agent would repeat the measures.
    assert {row["dimension"] for row in found["contributors"]} <= {"errorType"}


async def test_a_call_that_two_spans_report_counts_once(service: Service) -> None:
    bob = await service.sign_up()
    spans = []
    for number in range(40):
        root = new_span(START + timedelta(minutes=number), 900, kind="agent", agentName="writer")
        usage = {"model": "zz-large", "inputTokens": 100, "outputTokens": 5, "cost": 0.5}
        outer = call_of(root, 400, kind="llm", **usage)
        inner = {**call_of(root, 300, kind="llm", **usage), "parentSpanId": outer["spanId"]}
        other = call_of(root, 200, kind="llm", **{**usage, "model": "zz-small"})
        spans += [root, outer, inner, other]
    await send(bob, *spans)
    found = await ask(bob, **MODELS)
    assert found["baseline"]["calls"] == found["candidate"]["calls"] == 40
    assert by_measure(found)["costPerCall"]["baseline"] == 0.5
    # So does its time.
    week = await ask(bob, startDate="2025-06-02T00:20:00Z", endDate="2025-06-02T00:40:00Z")
    assert week["baseline"]["traces"] == week["candidate"]["traces"] == 20


async def test_signals_count_once_per_trace(service: Service) -> None:
    bob = await service.sign_up()
    spans, signals = [], []
    for number in range(70):
        model = "zz-small" if number % 2 else "zz-large"
        root = new_span(START + timedelta(minutes=number), 900, kind="agent", agentName="writer")
        calls = [call_of(root, 100, kind="llm", model=model) for _ in range(1 + number % 3)]
        spans += [root, *calls]
        signals.append({"signalName": "thumb", "value": number % 5, "traceId": root["traceId"]})
    await send(bob, *spans)
    await bob.data("POST", "/signals/batch", json={"signals": signals})
    thumb = by_measure(await ask(bob, **MODELS))["signal:thumb"]
    large, small = ([n % 5 for n in range(70) if n % 2 == odd] for odd in (0, 1))
    assert thumb["baseline"] == pytest.approx(sum(large) / 35)
    assert thumb["candidate"] == pytest.approx(sum(small) / 35)
    assert (thumb["baselineSamples"], thumb["candidateSamples"]) == (35, 35)


async def send_calls(person: Person, shares: dict[str, tuple[int, int]], **usage: Any) -> None:
    """Send traces of agents: each has a number of calls of the large and of the small model."""
    spans = []
    for agent, counts in shares.items():
        for model, count in zip(("zz-large", "zz-small"), counts, strict=True):
            for number in range(count):
                start = START + timedelta(minutes=number)
                root = new_span(start, 900, kind="agent", agentName=agent)
                latency = 100 + number % 7
                spans += [root, call_of(root, latency, kind="llm", model=model, **usage)]
    await send(person, *spans)


@pytest.mark.parametrize(
    ("shares", "mix"),
    [
        ({"writer": (60, 0), "planner": (0, 60)}, "disjoint"),
        ({"writer": (90, 30), "planner": (10, 70)}, "different"),
        ({"writer": (60, 55), "planner": (40, 45)}, "same"),
    ],
)
async def test_there_is_no_verdict_on_different_agents(
    service: Service, shares: dict[str, tuple[int, int]], mix: str
) -> None:
    bob = await service.sign_up()
    await send_calls(bob, shares, cost=0.5)
    found = await ask(bob, **MODELS)
    assert found["agents"]["mix"] == mix
    rows = found["agents"]["agents"]
    listed = {row["agent"]: (row["baseline"], row["candidate"]) for row in rows}
    for agent, counts in shares.items():
        totals = [sum(side) for side in zip(*shares.values(), strict=True)]
        expected = [count / total for count, total in zip(counts, totals, strict=True)]
        assert listed[agent] == pytest.approx(expected)
    verdicts = {change["verdict"] for change in found["measures"]}
    if mix == "same":
        assert "incomparable" not in verdicts
        return
    assert verdicts == {"incomparable"}
    assert found["contributors"] == []
    # Agents are compared on purpose, and traffic between them is part of what periods differ by.
    agents = {"dimension": "agent", "baseline": "writer", "candidate": "planner"}
    assert (await ask(bob, **WEEK, **agents))["agents"] is None
    assert (await ask(bob, **WEEK))["agents"] is None


async def test_usage_without_a_price_is_no_saving(service: Service) -> None:
    bob = await service.sign_up()
    await send_calls(bob, {"writer": (60, 0)}, cost=0.5, inputTokens=100, outputTokens=5)
    await send_calls(bob, {"writer": (0, 60)}, inputTokens=100, outputTokens=5)
    found = await ask(bob, **MODELS)
    cost = by_measure(found)["costPerCall"]
    assert (cost["baseline"], cost["candidate"], cost["verdict"]) == (0.5, None, "unpriced")
    assert cost["difference"] is cost["interval"] is cost["relativeDifference"] is None
    assert (found["baseline"]["unpriced"], found["candidate"]["unpriced"]) == (0, 60)
    assert found["candidate"]["unpricedModels"] == ["zz-small"]
    # Whole traces with such a call have no known cost either.
    agents = {"dimension": "attribute:x", "baseline": "a", "candidate": "b"}
    spans = []
    for number in range(120):
        root = new_span(START + timedelta(minutes=number), 900, kind="agent", agentName="writer")
        root["attributes"] = {"x": "ab"[number % 2]}
        paid = call_of(root, 100, kind="llm", model="zz-large", inputTokens=9, cost=0.5)
        free = call_of(root, 100, kind="llm", model="zz-small", inputTokens=9)
        spans += [root, paid, *([free] if number % 2 else [])]
    await send(bob, *spans)
    found = await ask(bob, **WEEK, **agents)
    cost = by_measure(found)["costPerTrace"]
    assert (cost["baseline"], cost["candidate"], cost["verdict"]) == (0.5, None, "unpriced")
    # A price of 0 is a price.
    price = {"model": "zz-small", "inputPerMillion": 0, "outputPerMillion": 0}
    await bob.data("PUT", "/models/prices", json=price)

    async def is_known() -> bool:
        cost = by_measure(await ask(bob, **WEEK, **agents))["costPerTrace"]
        return bool(cost["candidate"] == 0.5)

    await until(is_known, 30)
