"""Coding agents of the demo's developers: the logs and metrics that such agents export."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.metrics.v1.metrics_pb2 import AggregationTemporality

from spanwise.api.services import Services
from spanwise.demo.data import FromData
from spanwise.demo.scripts import fill_slots
from spanwise.demo.timeline import Timeline
from spanwise.ingest.otlp.from_rest import to_any_value
from spanwise.ingest.records.record import Kind
from spanwise.model.accounts import Sender
from spanwise.model.times import to_unix_nano

DELTA = AggregationTemporality.AGGREGATION_TEMPORALITY_DELTA
CUMULATIVE = AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE
_SATURDAY = 5
_BOUNDS = (250.0, 500.0, 1000.0, 2500.0, 5000.0, 10000.0)
_SECOND = 10**9
Values = Mapping[str, Any]


class _Event(FromData):
    """A log record, with placeholders."""

    event: str
    attributes: dict[str, Any]


class _CodingAgent(FromData):
    """The logs of a coding agent: a prompt, a model call, its answer and a tool call."""

    scope: str
    identity: dict[str, str]
    prompt: _Event
    call: _Event
    answer: _Event | None = None
    tool: _Event


class Developer(FromData):
    email: str
    agent: str
    model: str
    sessions_per_day: float
    repositories: tuple[str, ...]
    language: str
    # Instead of the agent's usual one.
    identity: dict[str, str] | None = None
    sends_logs: bool = True


class _Task(FromData):
    prompt: str
    answer: str
    command: str


class _CodingAgents(FromData):
    agents: dict[str, _CodingAgent]
    developers: tuple[Developer, ...]
    prices: dict[str, tuple[float, float, float, float]]
    tasks: tuple[_Task, ...]


DATA = _CodingAgents.read("coding-agents")
DEVELOPERS = DATA.developers


@dataclass(frozen=True)
class Export:
    kind: Kind
    request: ExportLogsServiceRequest | ExportMetricsServiceRequest


async def send_coding_agents(
    services: Services, sender: Sender, timeline: Timeline, scale: float, seed: int
) -> None:
    """Send the month of all developers through the OTLP receiver."""
    rng = Random(f"{seed}/coding agents")
    for export in coding_exports(timeline, scale, rng):
        body = export.request.SerializeToString()
        await services.ingest.receiver.receive_otlp(sender, export.kind, body, is_json=False)


def coding_exports(timeline: Timeline, scale: float, rng: Random) -> Iterator[Export]:
    """Yield the exports of all sessions, by developer."""
    for developer in DEVELOPERS:
        for at in _session_starts(developer, timeline, scale, rng):
            yield from _Session(developer, at, rng).exports()


def _session_starts(
    developer: Developer, timeline: Timeline, scale: float, rng: Random
) -> Iterator[datetime]:
    day = timeline.start.replace(hour=0, minute=0, second=0, microsecond=0)
    # A small demo has a session on most days all the same.
    expected = developer.sessions_per_day * max(scale, 0.3)
    while day < timeline.end:
        is_busy = day.weekday() < _SATURDAY or developer.email.startswith("ci@")
        count = int(expected) + (rng.random() < expected % 1) if is_busy else 0
        for hour in sorted(rng.uniform(7.5, 17.5) for _ in range(count)):
            at = day + timedelta(hours=hour)
            if timeline.start <= at < timeline.end - timedelta(hours=1):
                yield at
        day += timedelta(days=1)


class _Session:
    """One session: prompts with model calls and tool calls, and what was measured of it."""

    def __init__(self, developer: Developer, at: datetime, rng: Random) -> None:
        self._who = developer
        self._rng = rng
        self._id = str(UUID(bytes=rng.randbytes(16), version=4))
        self._started = to_unix_nano(at)
        self._now = self._started
        self._repository = rng.choice(developer.repositories)
        self._logs = ExportLogsServiceRequest()
        self._metrics = ExportMetricsServiceRequest()
        for request in (self._logs.resource_logs.add(), self._metrics.resource_metrics.add()):
            request.resource.attributes.extend(_pairs(self._resource()))
        self._agent = DATA.agents[developer.agent]
        self._records = self._logs.resource_logs[0].scope_logs.add()
        self._records.scope.name = self._agent.scope
        self._points = self._metrics.resource_metrics[0].scope_metrics.add()
        self._points.scope.name = self._agent.scope
        self._usage = dict.fromkeys(("input", "output", "cacheRead", "cacheCreation"), 0)
        self._latencies: list[float] = []
        self._cost = 0.0

    def _resource(self) -> Values:
        return {
            "service.name": self._who.agent,
            "service.version": "2.1.0",
            "vcs.repository.name": self._repository,
        }

    def exports(self) -> Iterator[Export]:
        for number, task in enumerate(self._rng.sample(DATA.tasks, self._rng.randint(1, 3))):
            self._run(number, task)
        if self._who.sends_logs:
            yield Export(Kind.LOGS, self._logs)
        self._measure()
        yield Export(Kind.METRICS, self._metrics)

    def _run(self, number: int, task: _Task) -> None:
        about = {"prompt_id": f"{self._id}-{number}", "command": task.command}
        self._log(self._agent.prompt, prompt=task.prompt, prompt_length=len(task.prompt), **about)
        for step in range(self._rng.randint(2, 5)):
            is_last = step > 0 and self._rng.random() < 0.5  # noqa: PLR2004 -- half of the steps
            self._call(task.answer if is_last else "", f"{number}-{step}", about)
            if is_last:
                return
            duration = self._rng.randint(30, 4000)
            self._now += duration * 1_000_000
            self._log(self._agent.tool, duration_ms=duration, **about)
        self._call(task.answer, f"{number}-last", about)

    def _call(self, answer: str, name: str, about: Values) -> None:
        """Log one model call, as the agent does it."""
        rng = self._rng
        fresh, written, output = rng.randint(200, 2500), rng.randint(0, 4000), rng.randint(80, 900)
        cached = rng.randint(8_000, 60_000)
        duration = rng.uniform(900, 7000)
        self._now += round(duration) * 1_000_000
        self._latencies.append(duration)
        amounts = (fresh, output, cached, written)
        for key, amount in zip(self._usage, amounts, strict=True):
            self._usage[key] += amount
        prices = DATA.prices.get(self._who.model, (0.0, 0.0, 0.0, 0.0))
        cost = sum(a * p for a, p in zip(amounts, prices, strict=True)) / 1e6
        self._cost += cost
        request_id = f"req_{self._id[:8]}_{name}"
        self._log(
            self._agent.call,
            model=self._who.model,
            duration_ms=round(duration),
            fresh=fresh,
            cached=cached,
            written=written,
            input=fresh + cached,
            output=output,
            reasoning=output // 3,
            thoughts=output // 4,
            cost_usd=cost,
            text=answer or "I look at the code first.",
            request_id=request_id,
            **about,
        )
        if answer and self._agent.answer:
            self._log(self._agent.answer, answer=answer, request_id=request_id, **about)

    def _identity(self) -> dict[str, Any]:
        identity = self._who.identity or self._agent.identity
        filled: dict[str, Any] = fill_slots(
            identity, {"session": self._id, "email": self._who.email}
        )
        return filled

    def _log(self, record: _Event, **values: Any) -> None:  # noqa: ANN401 -- any placeholders
        self._now += 5_000_000
        added = self._records.log_records.add(time_unix_nano=self._now, severity_number=9)
        added.body.string_value = record.event
        attributes = fill_slots(record.attributes, values)
        added.attributes.extend(
            _pairs({**self._identity(), "event.name": record.event, **attributes})
        )

    # --- metrics --------------------------------------------------------------------------------

    def _measure(self) -> None:
        if self._who.agent == "claude-code":
            self._measure_claude()
        elif self._who.agent == "gemini-cli":
            self._measure_gemini()
        else:
            self._histogram("codex.turn.e2e_duration_ms", DELTA)
            self._add("codex.thread.started", 1, DELTA, model=self._who.model)

    def _measure_claude(self) -> None:
        rng, language = self._rng, self._who.language
        model = {"model": self._who.model}
        self._add("claude_code.session.count", 1, DELTA, start_type="fresh")
        self._add("claude_code.cost.usage", self._cost, DELTA, unit="USD", **model)
        for kind, amount in self._usage.items():
            self._add("claude_code.token.usage", amount, DELTA, "tokens", type=kind, **model)
        added = rng.randint(5, 220)
        for kind, lines in (("added", added), ("removed", rng.randint(0, added))):
            self._add("claude_code.lines_of_code.count", lines, DELTA, type=kind, **model)
        for decision, most in (("accept", 9), ("reject", 2)):
            self._add(
                "claude_code.code_edit_tool.decision",
                rng.randint(0, most),
                DELTA,
                tool_name="Edit",
                decision=decision,
                language=rng.choice((language, language, "Markdown")),
            )
        if rng.random() < 0.6:  # noqa: PLR2004 -- of the sessions
            self._add("claude_code.commit.count", rng.randint(1, 3), DELTA)
        if rng.random() < 0.25:  # noqa: PLR2004
            self._add("claude_code.pull_request.count", 1, DELTA)
        seconds = (self._now - self._started) / _SECOND
        self._add("claude_code.active_time.total", seconds, DELTA, "s", type="cli")
        self._add("claude_code.active_time.total", rng.uniform(60, 900), DELTA, "s", type="user")

    def _measure_gemini(self) -> None:
        self._histogram("gemini_cli.api.request.latency", CUMULATIVE)
        for kind, name in (("input", "input"), ("output", "output"), ("cacheRead", "cache")):
            self._add("gemini_cli.token.usage", self._usage[kind], CUMULATIVE, type=name)
        lines = self._rng.randint(5, 120)
        self._add("gemini_cli.lines.changed", lines, CUMULATIVE, type="added")
        for decision, most in (("accept", 5), ("reject", 1)):
            self._add(
                "gemini_cli.tool.call.count",
                self._rng.randint(0, most),
                CUMULATIVE,
                function_name="replace",
                decision=decision,
            )

    def _add(
        self,
        name: str,
        amount: float,
        temporality: AggregationTemporality.ValueType,
        unit: str = "",
        **attributes: Any,  # noqa: ANN401
    ) -> None:
        """Add a point of a counter, which began with the session."""
        metric = self._points.metrics.add(name=name, unit=unit)
        metric.sum.is_monotonic = True
        metric.sum.aggregation_temporality = temporality
        point = metric.sum.data_points.add(
            start_time_unix_nano=self._started, time_unix_nano=self._now, as_double=amount
        )
        point.attributes.extend(_pairs({**self._identity(), **attributes}))

    def _histogram(self, name: str, temporality: AggregationTemporality.ValueType) -> None:
        metric = self._points.metrics.add(name=name, unit="ms")
        metric.histogram.aggregation_temporality = temporality
        counts = [0] * (len(_BOUNDS) + 1)
        for latency in self._latencies:
            counts[sum(latency > bound for bound in _BOUNDS)] += 1
        point = metric.histogram.data_points.add(
            start_time_unix_nano=self._started,
            time_unix_nano=self._now,
            count=len(self._latencies),
            sum=sum(self._latencies),
            bucket_counts=counts,
            explicit_bounds=_BOUNDS,
        )
        point.attributes.extend(_pairs({**self._identity(), "model": self._who.model}))


def _pairs(values: Values) -> list[KeyValue]:
    return [KeyValue(key=key, value=to_any_value(value)) for key, value in values.items()]
