"""A coding agent's call counts once, whether its span, its log record or both arrive."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from spanwise.model.errors import Unavailable
from spanwise.storage.telemetry.rollup.rollup import Rollup
from spanwise.storage.telemetry.write.writer import Batch, TelemetryWriter
from support.otlp import SECOND, Exporter, make_span, make_traces, pairs
from support.polling import until
from support.service import Person, Service, start_service

ExportRequest = ExportTraceServiceRequest | ExportLogsServiceRequest

MODEL = "claude-sonnet-4-5"
COST = 0.0047772
INPUT, OUTPUT = 100 + 1024 + 512, 150
TOKENS: dict[str, Any] = {
    "input_tokens": 100,
    "output_tokens": 150,
    "cache_read_tokens": 1024,
    "cache_creation_tokens": 512,
}


@dataclass
class Session:
    """What Claude Code sends for one prompt: a model call, a tool call and a second model call."""

    trace_id: bytes = field(default_factory=lambda: os.urandom(16))
    interaction: bytes = field(default_factory=lambda: os.urandom(8))
    started: int = field(default_factory=lambda: time.time_ns() - 60 * SECOND)
    number: str = field(default_factory=lambda: os.urandom(4).hex())

    def at(self, second: float) -> int:
        return self.started + int(second * SECOND)

    def call(self, number: int) -> Span:
        return make_span(
            self.trace_id,
            name="claude_code.llm_request",
            parent=self.interaction,
            start=self.at(number),
            gen_ai__system="anthropic",
            gen_ai__request__model=MODEL,
            request_id=f"req_{self.number}_{number}",
            **TOKENS,
        )

    def tool(self) -> list[Span]:
        tool = make_span(
            self.trace_id,
            name="claude_code.tool",
            parent=self.interaction,
            start=self.at(2),
            tool_name="Bash",
            tool_use_id=f"toolu_{self.number}",
        )
        execution = make_span(
            self.trace_id,
            name="claude_code.tool.execution",
            parent=tool.span_id,
            start=self.at(2.1),
            tool_use_id=f"toolu_{self.number}",
        )
        return [tool, execution]

    def root(self) -> Span:
        return make_span(
            self.trace_id, self.interaction, name="claude_code.interaction", start=self.at(0)
        )

    def record(self, event: str, second: float, **values: Any) -> dict[str, Any]:
        common = {"event.name": event, "session.id": "s", "prompt.id": "p", "duration_ms": "500"}
        return {"second": second, **common, **values}

    def call_record(self, number: int) -> dict[str, Any]:
        ids = {"request_id": f"req_{self.number}_{number}", "client_request_id": f"c{number}"}
        return self.record(
            "api_request", number + 0.51, model=MODEL, cost_usd=str(COST), **ids, **TOKENS
        )

    def tool_record(self) -> dict[str, Any]:
        values = {"tool_name": "Bash", "tool_use_id": f"toolu_{self.number}", "success": "true"}
        return self.record("tool_result", 2.51, **values)

    def logs(self, *records: dict[str, Any], has_body: bool = True) -> ExportLogsServiceRequest:
        request = ExportLogsServiceRequest()
        resource = request.resource_logs.add()
        resource.resource.attributes.extend(pairs({"service.name": "claude-code"}))
        scope = resource.scope_logs.add()
        scope.scope.name = "com.anthropic.claude_code.events"
        for values in records:
            record = scope.log_records.add(
                time_unix_nano=self.at(values["second"]),
                trace_id=self.trace_id,
                span_id=self.interaction,
            )
            record.attributes.extend(pairs({k: v for k, v in values.items() if k != "second"}))
            if has_body:
                record.body.string_value = f"claude_code.{values['event.name']}"
        return request

    def all_records(self) -> ExportLogsServiceRequest:
        return self.logs(self.call_record(1), self.tool_record(), self.call_record(3))

    def traces(self, *spans: Span) -> ExportTraceServiceRequest:
        request = make_traces(spans, service="claude-code")
        scope = request.resource_spans[0].scope_spans[0].scope
        scope.name = "com.anthropic.claude_code.tracing"
        return request

    def all_spans(self) -> ExportTraceServiceRequest:
        return self.traces(self.call(1), *self.tool(), self.call(3), self.root())


@dataclass(frozen=True)
class Counts:
    """What a trace must show."""

    calls: int
    tools: int
    spans: int
    name: str = f"chat {MODEL}"


# What is sent at once, and what the trace must show then.
Step = tuple[list[ExportRequest], Counts]
LOGS_ONLY = Counts(calls=2, tools=1, spans=3)
COMPLETE = Counts(calls=2, tools=1, spans=5, name="claude_code.interaction")


@dataclass
class Story:
    """What an agent sends for one prompt, step by step."""

    session: Session
    steps: Sequence[Step]


def records_only(session: Session) -> list[Step]:
    return [([session.all_records()], LOGS_ONLY)] * 2


def spans_only(session: Session) -> list[Step]:
    return [([session.all_spans()], COMPLETE)]


def records_first(session: Session) -> list[Step]:
    return [([session.all_records()], LOGS_ONLY), ([session.all_spans()], COMPLETE)]


def spans_first(session: Session) -> list[Step]:
    return [([session.all_spans()], COMPLETE), ([session.all_records()], COMPLETE)]


def together_and_records_again(session: Session) -> list[Step]:
    both: list[ExportRequest] = [session.all_records(), session.all_spans()]
    return [(both, COMPLETE), (both[:1], COMPLETE)]


def one_by_one(session: Session) -> list[Step]:
    """The spans of the calls are exported as they end, and their root last."""
    return [
        ([session.logs(session.call_record(1))], Counts(1, 0, 1)),
        ([session.logs(session.call_record(3))], Counts(2, 0, 2)),
        ([session.traces(session.call(1))], Counts(2, 0, 2)),
        ([session.traces(session.call(3))], Counts(2, 0, 2)),
        ([session.traces(*session.tool())], Counts(2, 1, 4)),
        ([session.logs(session.tool_record())], Counts(2, 1, 4)),
        ([session.traces(session.root())], COMPLETE),
    ]


def a_call_without_its_span(session: Session) -> list[Step]:
    name = "claude_code.interaction"
    return [
        ([session.traces(session.call(1), session.root())], Counts(1, 0, 2, name)),
        ([session.all_records()], Counts(2, 1, 4, name)),
    ]


def within_an_application_trace(session: Session) -> list[Step]:
    # TRACEPARENT names a span of the application that started the agent.
    own = make_span(session.trace_id, session.interaction, name="nightly job", start=session.at(0))
    return [
        ([session.all_records()], LOGS_ONLY),
        ([make_traces([own])], Counts(2, 1, 4, "nightly job")),
    ]


def event_names_and_no_body(session: Session) -> list[Step]:
    records = (session.call_record(1), session.tool_record(), session.call_record(3))
    return [([session.logs(*records, has_body=False)], LOGS_ONLY)]


MAKE = (
    records_only,
    spans_only,
    records_first,
    spans_first,
    together_and_records_again,
    one_by_one,
    a_call_without_its_span,
    within_an_application_trace,
    event_names_and_no_body,
)
Shown = dict[str, Any]


@dataclass
class Sender:
    """A user with a key, who sends and reads."""

    person: Person
    exporter: Exporter

    @classmethod
    async def of(cls, service: Service, person: Person | None = None) -> "Sender":
        person = person or await service.sign_up()
        return cls(person, Exporter(service.http, (await person.new_key())["key"]))

    async def send(self, *requests: ExportRequest) -> None:
        """Send requests concurrently; they share a batch or arrive in any order."""
        answers = await asyncio.gather(
            *(
                self.exporter.post(
                    request,
                    "/v1/logs" if isinstance(request, ExportLogsServiceRequest) else "/v1/traces",
                )
                for request in requests
            )
        )
        assert [(a.status_code, a.content) for a in answers] == [(200, b"")] * len(answers)

    async def list_traces(self) -> dict[str, Shown]:
        listed = await self.person.data("GET", "/spans/traces", params={"limit": 100})
        return {trace["traceId"]: trace for trace in listed}

    async def read(self, trace_id: str) -> Shown:
        trace: Shown = await self.person.data("GET", f"/spans/traces/{trace_id}")
        return trace

    async def check_totals(self, counts: Sequence[Counts]) -> None:
        """Check the sums of all traces in the analytics."""
        calls, tools = sum(one.calls for one in counts), sum(one.tools for one in counts)
        metrics = await self.person.data("GET", "/analytics/metrics")
        assert metrics["totalTraces"] == len(counts)
        assert metrics["totalTokens"] == calls * (INPUT + OUTPUT)
        assert metrics["estimatedCost"] == pytest.approx(calls * COST)
        costs = await self.person.data("GET", "/analytics/costs")
        assert costs["totalCost"] == pytest.approx(calls * COST)
        [model] = await self.person.data("GET", "/models")
        assert model["calls"] == calls
        usage = await self.person.data("GET", "/analytics/traces/tool-usage")
        used = [by_tool for by_tool in usage["heatmap"].values() if by_tool]
        assert {tool for by_tool in used for tool in by_tool} == {"Bash"}
        assert sum(by_tool["Bash"] for by_tool in used) == tools
        filters = await self.person.data("GET", "/spans/filters")
        assert "superseded" not in filters["kinds"]


def check_trace(expected: Counts, listed: Shown, whole: Shown) -> None:
    """Check the numbers in the list and in the trace itself."""
    calls, tools = expected.calls, expected.tools
    for trace in (listed, whole):
        assert trace["name"] == expected.name
        assert trace["spanCount"] == expected.spans
        assert trace["cost"] == pytest.approx(calls * COST)
        assert (trace["inputTokens"], trace["outputTokens"]) == (calls * INPUT, calls * OUTPUT)
        assert (trace["models"], trace["tools"]) == ([MODEL], ["Bash"] if tools else [])
    kinds = [span["kind"] for span in whole["spans"]]
    assert (len(kinds), kinds.count("llm"), kinds.count("tool")) == (expected.spans, calls, tools)


@dataclass
class Told:
    """All stories after they were sent, each to its own trace, and what was read in between."""

    sender: Sender
    stories: dict[str, Story]
    # By the name of the story: the trace in the list and the trace itself, after each step.
    shown: dict[str, list[tuple[Shown, Shown]]]


@pytest.fixture(scope="module")
async def told(shared_service: Service) -> AsyncIterator[Told]:
    """Send the stories at the same time, step by step, so that each step is one batch."""
    sender = await Sender.of(shared_service)
    stories: dict[str, Story] = {}
    for make in MAKE:
        session = Session()
        stories[make.__name__] = Story(session, make(session))
    shown: dict[str, list[tuple[Shown, Shown]]] = {name: [] for name in stories}
    analytics = shared_service.services.telemetry.analytics
    # One that also aggregates hours with recent writes.
    rollup = Rollup(shared_service.services.engine, quiet_seconds=0)
    last = max(len(story.steps) for story in stories.values()) - 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(analytics, "_rollup", rollup)
        for number in range(last + 1):
            going_on = {n: s for n, s in stories.items() if len(s.steps) > number}
            sent = [request for s in going_on.values() for request in s.steps[number][0]]
            await sender.send(*sent)
            listed = await sender.list_traces()
            for name, story in going_on.items():
                trace_id = story.session.trace_id.hex()
                shown[name].append((listed[trace_id], await sender.read(trace_id)))
            if number in {0, last}:
                counts = [s.steps[min(number, len(s.steps) - 1)][1] for s in stories.values()]
                # From the spans, and from the aggregates of earlier steps; then aggregated.
                await sender.check_totals(counts)
                await rollup.maintenance.update()
                await sender.check_totals(counts)
        yield Told(sender, stories, shown)


@pytest.mark.parametrize("name", [make.__name__ for make in MAKE])
async def test_each_call_counts_once_after_every_export(told: Told, name: str) -> None:
    steps = told.stories[name].steps
    for (_, expected), shown in zip(steps, told.shown[name], strict=True):
        check_trace(expected, *shown)


async def test_records_have_the_session_the_agent_and_the_parent(told: Told) -> None:
    session = told.stories["records_only"].session
    _, whole = told.shown["records_only"][-1]
    assert {span["parentSpanId"] for span in whole["spans"]} == {session.interaction.hex()}
    assert whole["sessionId"] == "s"
    assert whole["agentName"] == "claude-code"


async def test_a_superseded_call_cannot_be_fetched(told: Told) -> None:
    path = f"/spans/traces/{told.stories['records_first'].session.trace_id.hex()}"
    before, after = ([*whole["spans"]] for _, whole in told.shown["records_first"])
    superseded = {s["spanId"] for s in before} - {s["spanId"] for s in after}
    assert len(superseded) == LOGS_ONLY.spans
    for span_id in superseded:
        answer = await told.sender.person.call("GET", f"{path}/spans/{span_id}")
        assert answer.status_code == 404
    remaining = after[0]["spanId"]
    assert (await told.sender.person.call("GET", f"{path}/spans/{remaining}")).status_code == 200


async def test_a_price_that_comes_later_counts_each_call_once(service: Service) -> None:
    sender, session = await Sender.of(service), Session()
    records = [session.call_record(1), session.call_record(3)]
    for record in records:
        del record["cost_usd"]
        record["model"] = "house-model"
    spans = [session.call(1), session.call(3), session.root()]
    for span in spans[:2]:
        for pair in span.attributes:
            if pair.key == "gen_ai.request.model":
                pair.value.string_value = "house-model"
    await sender.send(session.logs(*records), session.traces(*spans))
    price = {"model": "house-model", "inputPerMillion": 1, "outputPerMillion": 0}
    await sender.person.data("PUT", "/models/prices", json=price)

    async def is_priced() -> bool:
        [trace] = (await sender.list_traces()).values()
        return bool(trace["cost"])

    await until(is_priced)
    [trace] = (await sender.list_traces()).values()
    assert trace["cost"] == pytest.approx(2 * INPUT / 1e6)
    assert trace["spanCount"] == 3


def _take_nothing(_writer: TelemetryWriter, _batch: Batch) -> None:
    raise Unavailable("the engine takes nothing at the moment")


async def test_a_restart_in_between_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second request of a trace is sent after the restart, or before it and not yet applied."""
    sessions = {
        (order, moment): Session()
        for order in ("records first", "spans first")
        for moment in ("after", "unapplied")
    }
    requests: dict[tuple[str, str], list[ExportRequest]] = {}
    for key, session in sessions.items():
        requests[key] = [session.all_records(), session.all_spans()]
        if key[0] == "spans first":
            requests[key].reverse()
    async with AsyncExitStack() as stack:
        service = await stack.enter_async_context(start_service(tmp_path))
        sender = await Sender.of(service)
        await sender.send(*(first for first, _ in requests.values()))
        await sender.person.data("GET", "/spans/traces")
        # Acknowledged, but only in the journal when the service stops.
        with monkeypatch.context() as patch:
            patch.setattr(TelemetryWriter, "insert", _take_nothing)
            unapplied = [second for key, (_, second) in requests.items() if key[1] == "unapplied"]
            await sender.send(*unapplied)
            await stack.aclose()
    async with start_service(tmp_path) as again:
        sender = await Sender.of(again, await again.log_in(sender.person.email))
        await sender.send(*(second for key, (_, second) in requests.items() if key[1] == "after"))
        listed = await sender.list_traces()
        for session in sessions.values():
            trace_id = session.trace_id.hex()
            check_trace(COMPLETE, listed[trace_id], await sender.read(trace_id))
        await sender.check_totals([COMPLETE] * len(sessions))
