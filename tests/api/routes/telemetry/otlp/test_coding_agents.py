"""A coding agent's call counts once, whether its span, its log record or both arrive."""

import asyncio
import os
import time
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
from spanwise.storage.telemetry.writer import Batch, TelemetryWriter
from support.otlp import SECOND, Exporter, make_span, make_traces, pairs
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


@pytest.fixture(autouse=True)
def _restored_rollup(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore the rollup of the shared service, which tests replace."""
    for reader in (service.services.analytics, service.services.traces):
        monkeypatch.setattr(reader, "_rollup", reader._rollup)


@dataclass
class Sender:
    """A user with a key, who sends and reads."""

    service: Service
    person: Person
    exporter: Exporter
    rollup: Rollup

    @classmethod
    async def of(cls, service: Service, person: Person | None = None) -> "Sender":
        person = person or await service.sign_up()
        # One that also aggregates hours with recent writes.
        rollup = Rollup(service.services.engine, quiet_seconds=0)
        service.services.analytics._rollup = rollup
        key = (await person.new_key())["key"]
        return cls(service, person, Exporter(service.http, key), rollup)

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

    async def assert_counts(self, calls: int, tools: int, spans: int, name: str) -> None:
        """Check the same numbers in the list, the trace itself, the analytics and the rollup."""
        await self.assert_trace(calls, tools, spans, name)
        for _ in range(2):
            metrics = await self.person.data("GET", "/analytics/metrics")
            assert metrics["totalTraces"] == 1
            assert metrics["totalTokens"] == calls * (INPUT + OUTPUT)
            assert metrics["estimatedCost"] == pytest.approx(calls * COST)
            costs = await self.person.data("GET", "/analytics/costs")
            assert costs["totalCost"] == pytest.approx(calls * COST)
            [model] = await self.person.data("GET", "/models")
            assert model["calls"] == calls
            usage = await self.person.data("GET", "/analytics/traces/tool-usage")
            used = [by_tool for by_tool in usage["heatmap"].values() if by_tool]
            assert used == ([{"Bash": tools}] if tools else [])
            filters = await self.person.data("GET", "/spans/filters")
            assert "superseded" not in filters["kinds"]
            await self.rollup.maintenance.update()

    async def assert_trace(self, calls: int, tools: int, spans: int, name: str) -> None:
        """Check the numbers in the list and in the trace itself."""
        [listed] = await self.person.data("GET", "/spans/traces")
        whole = await self.person.data("GET", f"/spans/traces/{listed['traceId']}")
        for trace in (listed, whole):
            assert trace["name"] == name
            assert trace["spanCount"] == spans
            assert trace["cost"] == pytest.approx(calls * COST)
            assert (trace["inputTokens"], trace["outputTokens"]) == (calls * INPUT, calls * OUTPUT)
            assert (trace["models"], trace["tools"]) == ([MODEL], ["Bash"] if tools else [])
        kinds = [span["kind"] for span in whole["spans"]]
        assert (len(kinds), kinds.count("llm"), kinds.count("tool")) == (spans, calls, tools)


LOGS_ONLY: dict[str, Any] = {"calls": 2, "tools": 1, "spans": 3, "name": f"chat {MODEL}"}
COMPLETE: dict[str, Any] = {"calls": 2, "tools": 1, "spans": 5, "name": "claude_code.interaction"}


async def test_records_without_spans_count(service: Service) -> None:
    sender, session = await Sender.of(service), Session()
    await sender.send(session.all_records())
    await sender.assert_counts(**LOGS_ONLY)
    await sender.send(session.all_records())
    await sender.assert_counts(**LOGS_ONLY)
    whole = await sender.person.data("GET", f"/spans/traces/{session.trace_id.hex()}")
    assert {span["parentSpanId"] for span in whole["spans"]} == {session.interaction.hex()}
    assert whole["sessionId"] == "s"
    assert whole["agentName"] == "claude-code"


async def test_spans_without_records_count(service: Service) -> None:
    sender = await Sender.of(service)
    await sender.send(Session().all_spans())
    await sender.assert_counts(**COMPLETE)


@pytest.mark.parametrize("order", ["records first", "spans first", "together", "records again"])
async def test_a_call_in_a_span_and_a_record_counts_once(service: Service, order: str) -> None:
    sender, session = await Sender.of(service), Session()
    records, spans = session.all_records(), session.all_spans()
    match order:
        case "records first":
            await sender.send(records)
            await sender.assert_counts(**LOGS_ONLY)
            await sender.send(spans)
        case "spans first":
            await sender.send(spans)
            await sender.assert_counts(**COMPLETE)
            await sender.send(records)
        case "together":
            await sender.send(records, spans)
        case "records again":
            await sender.send(records, spans)
            await sender.assert_counts(**COMPLETE)
            await sender.send(records)
    await sender.assert_counts(**COMPLETE)


@pytest.mark.parametrize("everywhere", [False, pytest.param(True, marks=pytest.mark.long)])
async def test_each_call_counts_once_in_the_trace_after_every_export(
    service: Service, *, everywhere: bool
) -> None:
    """The spans of the calls are exported as they end, and their root last."""
    sender, session = await Sender.of(service), Session()
    check = sender.assert_counts if everywhere else sender.assert_trace
    chat = f"chat {MODEL}"
    await sender.send(session.logs(session.call_record(1)))
    await check(calls=1, tools=0, spans=1, name=chat)
    await sender.send(session.logs(session.call_record(3)))
    await check(calls=2, tools=0, spans=2, name=chat)
    await sender.send(session.traces(session.call(1)))
    await check(calls=2, tools=0, spans=2, name=chat)
    await sender.send(session.traces(session.call(3)))
    await sender.assert_counts(calls=2, tools=0, spans=2, name=chat)
    await sender.send(session.traces(*session.tool()))
    await check(calls=2, tools=1, spans=4, name=chat)
    await sender.send(session.logs(session.tool_record()))
    await check(calls=2, tools=1, spans=4, name=chat)
    await sender.send(session.traces(session.root()))
    await sender.assert_counts(**COMPLETE)


async def test_a_call_without_its_span_counts_beside_the_others(
    service: Service,
) -> None:
    sender, session = await Sender.of(service), Session()
    await sender.send(session.traces(session.call(1), session.root()))
    await sender.send(session.all_records())
    await sender.assert_counts(calls=2, tools=1, spans=4, name="claude_code.interaction")


async def test_records_within_an_application_trace_count_in_it(service: Service) -> None:
    sender, session = await Sender.of(service), Session()
    # TRACEPARENT names a span of the application that started the agent.
    own = make_span(session.trace_id, session.interaction, name="nightly job", start=session.at(0))
    await sender.send(session.all_records())
    await sender.send(make_traces([own]))
    await sender.assert_counts(calls=2, tools=1, spans=4, name="nightly job")


async def test_a_record_with_an_event_name_and_no_body_counts(service: Service) -> None:
    sender, session = await Sender.of(service), Session()
    records = (session.call_record(1), session.tool_record(), session.call_record(3))
    await sender.send(session.logs(*records, has_body=False))
    await sender.assert_counts(**LOGS_ONLY)


async def test_a_superseded_call_cannot_be_fetched(service: Service) -> None:
    sender, session = await Sender.of(service), Session()
    await sender.send(session.all_records())
    path = f"/spans/traces/{session.trace_id.hex()}"
    derived = (await sender.person.data("GET", path))["spans"][0]["spanId"]
    await sender.person.data("GET", f"{path}/spans/{derived}")
    await sender.send(session.all_spans())
    answer = await sender.person.call("GET", f"{path}/spans/{derived}")
    assert answer.status_code == 404


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
    for _ in range(200):
        [trace] = await sender.person.data("GET", "/spans/traces")
        if trace["cost"]:
            break
        await asyncio.sleep(0.05)
    assert trace["cost"] == pytest.approx(2 * INPUT / 1e6)
    assert trace["spanCount"] == 3


@pytest.mark.parametrize("values", [{"duration_ms": "1e400"}, {"duration_ms": "nan"}])
async def test_an_impossible_duration_of_a_record_is_ignored(
    service: Service, values: dict[str, Any]
) -> None:
    sender, session = await Sender.of(service), Session()
    await sender.send(session.logs({**session.call_record(1), **values}))
    [trace] = await sender.person.data("GET", "/spans/traces")
    assert trace["durationMs"] == 0


async def test_a_record_without_a_time_is_only_a_log(service: Service) -> None:
    sender, session = await Sender.of(service), Session()
    request = session.logs(session.call_record(1))
    record = request.resource_logs[0].scope_logs[0].log_records[0]
    record.time_unix_nano, record.trace_id = 0, b""
    await sender.send(request)
    assert await sender.person.data("GET", "/spans/traces") == []
    assert len(await sender.person.data("GET", "/logs")) == 1


def _take_nothing(_writer: TelemetryWriter, _batch: Batch) -> None:
    raise Unavailable("the engine takes nothing at the moment")


@pytest.mark.parametrize("first", ["records", "spans"])
@pytest.mark.parametrize("is_unapplied", [False, True])
async def test_a_restart_in_between_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str, *, is_unapplied: bool
) -> None:
    session = Session()
    requests: list[ExportRequest] = [session.all_records(), session.all_spans()]
    if first == "spans":
        requests.reverse()
    async with AsyncExitStack() as stack:
        service = await stack.enter_async_context(start_service(tmp_path))
        sender = await Sender.of(service)
        await sender.send(requests[0])
        await sender.person.data("GET", "/spans/traces")
        if is_unapplied:
            # Acknowledged, but only in the journal when the service stops.
            with monkeypatch.context() as patch:
                patch.setattr(TelemetryWriter, "insert", _take_nothing)
                await sender.send(requests[1])
                await stack.aclose()
    async with start_service(tmp_path) as again:
        sender = await Sender.of(again, await again.log_in(sender.person.email))
        if not is_unapplied:
            await sender.send(requests[1])
        await sender.assert_counts(**COMPLETE)
