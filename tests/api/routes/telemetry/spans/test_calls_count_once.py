"""A call that several spans report counts once, in all sums."""

import random
from typing import Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from spanwise.storage.telemetry.traces.call_deduplication import MAX_COMPARED
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


async def test_a_call_within_a_call_counts_once(service: Service) -> None:
    person, trace = await service.sign_up(), Trace()
    agent = trace.add(kind="invoke_agent")
    outer = trace.add(agent)
    inner = trace.add(outer, response="r1")
    await send(person, trace)
    shown = await show(person, trace)
    assert (shown["inputTokens"], shown["outputTokens"]) == (1000, 100)
    assert shown["cost"] == pytest.approx(0.0045)
    assert counted_in(shown, inner) == outer.span_id.hex()
    assert counted_in(shown, outer) is counted_in(shown, agent) is None
    path = f"/spans/traces/{trace.id.hex()}/spans/{inner.span_id.hex()}"
    assert (await person.data("GET", path))["countedIn"] == outer.span_id.hex()


async def test_the_span_with_the_fuller_usage_counts(service: Service) -> None:
    person, trace = await service.sign_up(), Trace()
    outer = trace.add(tokens=(0, 0))
    inner = trace.add(outer, tokens=(1000, 100))
    await send(person, trace)
    shown = await show(person, trace)
    assert shown["inputTokens"] == 1000
    assert counted_in(shown, outer) == inner.span_id.hex()
    assert counted_in(shown, inner) is None


async def test_siblings_with_the_same_response_count_once(service: Service) -> None:
    person, trace = await service.sign_up(), Trace()
    agent = trace.add(kind="invoke_agent")
    poorer = trace.add(agent, response="r1")
    fuller = trace.add(agent, response="r1", cached=500)
    other = trace.add(agent, response="r2")
    await send(person, trace)
    shown = await show(person, trace)
    assert shown["inputTokens"] == 2000
    assert counted_in(shown, poorer) == fuller.span_id.hex()
    assert counted_in(shown, fuller) is counted_in(shown, other) is None


async def test_different_responses_are_different_calls(service: Service) -> None:
    person, trace = await service.sign_up(), Trace()
    outer = trace.add(response="r1")
    inner = trace.add(outer, response="r2")
    await send(person, trace)
    shown = await show(person, trace)
    assert shown["inputTokens"] == 2000
    assert counted_in(shown, outer) is counted_in(shown, inner) is None


async def test_calls_that_exceed_the_span_above_count_themselves(service: Service) -> None:
    person, trace = await service.sign_up(), Trace()
    outer = trace.add()
    trace.add(outer)
    trace.add(outer)
    await send(person, trace)
    assert (await show(person, trace))["inputTokens"] == 2000


async def test_a_call_reported_above_and_beside_counts_once(service: Service) -> None:
    person, trace = await service.sign_up(), Trace()
    agent = trace.add(kind="invoke_agent")
    outer = trace.add(agent)
    inner = trace.add(outer, response="r1")
    beside = trace.add(agent, response="r1")
    await send(person, trace)
    shown = await show(person, trace)
    assert shown["inputTokens"] == 1000
    assert counted_in(shown, inner) == counted_in(shown, beside) == outer.span_id.hex()


async def test_a_second_report_that_comes_later_is_not_added(service: Service) -> None:
    person, first, second = await service.sign_up(), Trace(), Trace()
    outer = first.add()
    await send(person, first)
    assert (await show(person, first))["inputTokens"] == 1000
    second.id = first.id
    second.add(outer, response="r1")
    await send(person, second)
    shown = await show(person, first)
    assert (shown["inputTokens"], shown["spanCount"]) == (1000, 2)


async def test_analytics_and_downloads_agree_with_the_trace(service: Service) -> None:
    person, trace = await service.sign_up(), Trace()
    trace.add(trace.add(), response="r1")
    await send(person, trace)
    costs = await person.data("GET", "/analytics/costs")
    assert costs["totalCost"] == pytest.approx(0.0045)
    assert costs["byModel"] == {"claude-sonnet-4-5": pytest.approx(0.0045)}
    download = await person.call("GET", "/analytics/traces/list?format=jsonl")
    assert download.json()["cost"] == pytest.approx(0.0045)


async def test_the_calls_of_a_large_trace_all_count(service: Service) -> None:
    person, trace = await service.sign_up(), Trace()
    for _ in range(MAX_COMPARED // 2 + 1):
        trace.add(trace.add(), response="r1")
    await send(person, trace)
    shown = await show(person, trace)
    assert shown["inputTokens"] == 1000 * (MAX_COMPARED + 2)
    assert {span["countedIn"] for span in shown["spans"]} == {None}


async def test_sums_are_those_of_the_spans_that_count(service: Service) -> None:
    """The aggregates and the spans state the same rule, in SQL and in Python."""
    person, chance = await service.sign_up(), random.Random(7)
    traces = []
    for _ in range(60):
        trace = Trace()
        for _ in range(chance.randint(1, 8)):
            parent = chance.choice([None, *trace.spans])
            values: dict[str, Any] = {"tokens": (chance.choice([0, 10, 20, 30]), 0)}
            values["kind"] = chance.choice(["chat", "chat", "chat", "embeddings", "invoke_agent"])
            values["cached"] = chance.choice([0, 0, 5])
            if chance.random() < 0.6:
                values["response"] = chance.choice(["a", "b"])
            trace.add(parent, **values)
        traces.append(trace)
    await send(person, *traces)
    for trace in traces:
        shown = await show(person, trace)
        counted = [
            s for s in shown["spans"] if s["kind"] in {"llm", "embedding"} and not s["countedIn"]
        ]
        assert shown["inputTokens"] == sum(s["inputTokens"] for s in counted), trace.spans
