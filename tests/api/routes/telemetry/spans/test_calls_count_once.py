"""A call that several spans report counts once, in all sums."""

import random
from typing import Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from spanwise.storage.telemetry.rows.call_deduplication import MAX_COMPARED
from support.ids import new_span_id, new_trace_id
from support.otlp import PROTOBUF, make_span, make_traces
from support.service import Person, Service

SONNET = {"gen_ai.provider.name": "anthropic", "gen_ai.request.model": "claude-sonnet-4-5"}


class Trace:
    """Builds the spans of one trace."""

    def __init__(self) -> None:
        self.id = bytes.fromhex(new_trace_id())
        self.spans: list[Span] = []

    def add(self, parent: Span | None = None, **values: Any) -> Span:
        """Add a span; `tokens` are input and output, `response` is the response id."""
        given, answered = values.get("tokens", (1000, 100))
        attributes: dict[str, Any] = {
            **SONNET,
            "gen_ai.operation.name": values.get("kind", "chat"),
            "gen_ai.usage.input_tokens": given,
            "gen_ai.usage.output_tokens": answered,
            "gen_ai.usage.cache_read.input_tokens": values.get("cached", 0),
        }
        if "response" in values:
            attributes["gen_ai.response.id"] = values["response"]
        above = parent.span_id if parent is not None else b""
        span = make_span(self.id, bytes.fromhex(new_span_id()), parent=above, **attributes)
        self.spans.append(span)
        return span


async def send(person: Person, *traces: Trace) -> None:
    body = make_traces([span for trace in traces for span in trace.spans]).SerializeToString()
    headers = {"Content-Type": PROTOBUF}
    response = await person.call("POST", "/otlp/v1/traces", content=body, headers=headers)
    assert response.status_code == 200, response.text


async def show(person: Person, trace: Trace) -> dict[str, Any]:
    shown: dict[str, Any] = await person.data("GET", f"/spans/traces/{trace.id.hex()}")
    return shown


def counted_in(trace: dict[str, Any], span: Span) -> str | None:
    [found] = [s["countedIn"] for s in trace["spans"] if s["spanId"] == span.span_id.hex()]
    return found  # type: ignore[no-any-return]


def _call_within_a_call() -> Trace:
    trace = Trace()
    agent = trace.add(kind="invoke_agent")
    trace.add(trace.add(agent), response="r1")
    return trace


def _fuller_inside() -> Trace:
    trace = Trace()
    trace.add(trace.add(tokens=(0, 0)), tokens=(1000, 100))
    return trace


def _siblings() -> Trace:
    trace = Trace()
    agent = trace.add(kind="invoke_agent")
    trace.add(agent, response="r1")
    trace.add(agent, response="r1", cached=500)
    trace.add(agent, response="r2")
    return trace


def _different_responses() -> Trace:
    trace = Trace()
    trace.add(trace.add(response="r1"), response="r2")
    return trace


def _two_inside() -> Trace:
    trace = Trace()
    outer = trace.add()
    trace.add(outer)
    trace.add(outer)
    return trace


def _above_and_beside() -> Trace:
    trace = Trace()
    agent = trace.add(kind="invoke_agent")
    trace.add(trace.add(agent), response="r1")
    trace.add(agent, response="r1")
    return trace


def _large() -> Trace:
    trace = Trace()
    for _ in range(MAX_COMPARED // 2 + 1):
        trace.add(trace.add(), response="r1")
    return trace


def _random(chance: random.Random) -> Trace:
    trace = Trace()
    for _ in range(chance.randint(1, 8)):
        parent = chance.choice([None, *trace.spans])
        values: dict[str, Any] = {"tokens": (chance.choice([0, 10, 20, 30]), 0)}
        values["kind"] = chance.choice(["chat", "chat", "chat", "embeddings", "invoke_agent"])
        values["cached"] = chance.choice([0, 0, 5])
        if chance.random() < 0.6:
            values["response"] = chance.choice(["a", "b"])
        trace.add(parent, **values)
    return trace


@pytest.fixture(scope="module")
async def person(shared_service: Service) -> Person:
    return await shared_service.sign_up()


@pytest.fixture(scope="module")
async def traces(person: Person) -> dict[str, Trace]:
    """Send all traces of this file that are only read."""
    sent = {
        "call within a call": _call_within_a_call(),
        "fuller inside": _fuller_inside(),
        "siblings": _siblings(),
        "different responses": _different_responses(),
        "two inside": _two_inside(),
        "above and beside": _above_and_beside(),
        "large": _large(),
    }
    await send(person, *sent.values())
    return sent


async def test_a_call_within_a_call_counts_once(person: Person, traces: dict[str, Trace]) -> None:
    trace = traces["call within a call"]
    agent, outer, inner = trace.spans
    shown = await show(person, trace)
    assert (shown["inputTokens"], shown["outputTokens"]) == (1000, 100)
    assert shown["cost"] == pytest.approx(0.0045)
    assert counted_in(shown, inner) == outer.span_id.hex()
    assert counted_in(shown, outer) is counted_in(shown, agent) is None
    path = f"/spans/traces/{trace.id.hex()}/spans/{inner.span_id.hex()}"
    assert (await person.data("GET", path))["countedIn"] == outer.span_id.hex()


async def test_the_span_with_the_fuller_usage_counts(
    person: Person, traces: dict[str, Trace]
) -> None:
    outer, inner = traces["fuller inside"].spans
    shown = await show(person, traces["fuller inside"])
    assert shown["inputTokens"] == 1000
    assert counted_in(shown, outer) == inner.span_id.hex()
    assert counted_in(shown, inner) is None


async def test_siblings_with_the_same_response_count_once(
    person: Person, traces: dict[str, Trace]
) -> None:
    _, poorer, fuller, other = traces["siblings"].spans
    shown = await show(person, traces["siblings"])
    assert shown["inputTokens"] == 2000
    assert counted_in(shown, poorer) == fuller.span_id.hex()
    assert counted_in(shown, fuller) is counted_in(shown, other) is None


async def test_different_responses_are_different_calls(
    person: Person, traces: dict[str, Trace]
) -> None:
    outer, inner = traces["different responses"].spans
    shown = await show(person, traces["different responses"])
    assert shown["inputTokens"] == 2000
    assert counted_in(shown, outer) is counted_in(shown, inner) is None


async def test_calls_that_exceed_the_span_above_count_themselves(
    person: Person, traces: dict[str, Trace]
) -> None:
    assert (await show(person, traces["two inside"]))["inputTokens"] == 2000


async def test_a_call_reported_above_and_beside_counts_once(
    person: Person, traces: dict[str, Trace]
) -> None:
    _, outer, inner, beside = traces["above and beside"].spans
    shown = await show(person, traces["above and beside"])
    assert shown["inputTokens"] == 1000
    assert counted_in(shown, inner) == counted_in(shown, beside) == outer.span_id.hex()


async def test_the_calls_of_a_large_trace_all_count(
    person: Person, traces: dict[str, Trace]
) -> None:
    shown = await show(person, traces["large"])
    assert shown["inputTokens"] == 1000 * (MAX_COMPARED + 2)
    assert {span["countedIn"] for span in shown["spans"]} == {None}


async def test_a_second_report_that_comes_later_is_not_added(service: Service) -> None:
    """Also in analytics and downloads, which agree with the trace."""
    person, first, second = await service.sign_up(), Trace(), Trace()
    outer = first.add()
    await send(person, first)
    assert (await show(person, first))["inputTokens"] == 1000
    second.id = first.id
    second.add(outer, response="r1")
    await send(person, second)
    shown = await show(person, first)
    assert (shown["inputTokens"], shown["spanCount"]) == (1000, 2)
    costs = await person.data("GET", "/analytics/costs")
    assert costs["totalCost"] == pytest.approx(0.0045)
    assert costs["byModel"] == {"claude-sonnet-4-5": pytest.approx(0.0045)}
    download = await person.call("GET", "/analytics/traces/list?format=jsonl")
    assert download.json()["cost"] == pytest.approx(0.0045)


@pytest.mark.parametrize(
    ("seed", "number"), [(7, 15), pytest.param(8, 100, marks=pytest.mark.long)]
)
async def test_sums_are_those_of_the_spans_that_count(
    service: Service, seed: int, number: int
) -> None:
    """The aggregates and the spans state the same rule, in SQL and in Python."""
    person, chance = await service.sign_up(), random.Random(seed)
    traces = [_random(chance) for _ in range(number)]
    await send(person, *traces)
    for trace in traces:
        shown = await show(person, trace)
        counted = [
            s for s in shown["spans"] if s["kind"] in {"llm", "embedding"} and not s["countedIn"]
        ]
        assert shown["inputTokens"] == sum(s["inputTokens"] for s in counted), trace.spans
