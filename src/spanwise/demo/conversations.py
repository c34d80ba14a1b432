"""Simulates conversations: each turn produces a trace with logs and signals."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any
from zlib import crc32

from opentelemetry.proto.trace.v1.trace_pb2 import Span

from spanwise.demo.experiments import DemoExperiments, Treatment
from spanwise.demo.fleet import FAILURES, SLOTS, AgentProfile, Failure, Model, Rating, Screening
from spanwise.demo.recording import (
    Message,
    Recording,
    chat_attributes,
    count_tokens,
    dump,
    text_message,
)
from spanwise.demo.scripts import Call, Exchange, fill_slots
from spanwise.demo.timeline import Timeline
from spanwise.ingest.rest_bodies import NewLog, NewSignal
from spanwise.model.telemetry.logs import LogLevel

_INCIDENT_FAILURE_RATE = 0.45
_INCIDENT_SLOWDOWN = 2.8
_RETRY_FAILURE_RATE = 0.35
_TOOL_FAILURE_ENDS_TURN_RATE = 0.6
_TOOL_RETRY_RATE = 0.5
_PRODUCTION_SHARE = 0.88
_REASONING_PROVIDERS = {"openai"}


@dataclass(frozen=True)
class Turn:
    """The telemetry of one trace."""

    agent: AgentProfile
    environment: str
    ends_at: datetime
    spans: Sequence[Span]
    logs: Sequence[NewLog]
    signals: Sequence[NewSignal]


class TurnFailed(Exception):  # noqa: N818 -- a simulated outcome
    """The turn ends with this failure."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


# Attributes of the application, the same for all traces of a user.
_PLANS = ("free", "free", "free", "pro", "pro", "enterprise")
_REGIONS = ("eu-west", "us-east", "ap-south")


class Conversation:
    """One session of one user with one agent."""

    def __init__(
        self,
        agent: AgentProfile,
        begins: datetime,
        timeline: Timeline,
        experiments: DemoExperiments,
        rng: Random,
    ) -> None:
        self.agent = agent = timeline.version_at(agent, begins)
        self.begins = begins
        self.rng = rng
        self._timeline = timeline
        self.user = f"user-{rng.randrange(agent.users) + 1:05}"
        self.session = f"conv-{rng.getrandbits(40):010x}"
        self.treatment: Treatment = experiments.treat(agent.name, self.user, begins)
        self._slots = {name: slot.draw(rng) for name, slot in SLOTS.items()}
        is_production = rng.random() < _PRODUCTION_SHARE
        self._environment = "production" if is_production else "staging"
        models, weights = zip(*agent.models.items(), strict=True)
        self._model: Model = self.treatment.model or rng.choices(models, weights)[0]
        self._history: list[Message] = []

    def turns(self) -> Iterator[Turn]:
        script = self.rng.choice(self.agent.scripts)
        length = self.rng.randint(1, len(script.exchanges))
        at = self.begins
        for number, exchange in enumerate(script.exchanges[:length]):
            turn = self._play(exchange, at, is_last=number == length - 1)
            yield turn
            at = turn.ends_at + timedelta(seconds=self.rng.uniform(8, 70))

    def _play(self, exchange: Exchange, at: datetime, *, is_last: bool) -> Turn:
        recording = Recording(self.agent.name, at, self.rng)
        question = fill_slots(exchange.question, self._slots)
        self._history.append(text_message("user", question))
        answer, failure = "", None
        recording.log(LogLevel.DEBUG, f"turn of {self.session} started", user=self.user)
        try:
            answer = self._answer(recording, exchange, question)
        except TurnFailed as error:
            failure = error.failure
            recording.log(LogLevel.ERROR, f"turn failed: {failure.message}", error=failure.error)
        recording.advance(self.rng.uniform(1, 12))
        recording.add_span(
            f"invoke_agent {self.agent.name}",
            recording.begins,
            self._root_attributes(question, answer),
            span_id=recording.root_id,
            failure=failure,
        )
        if failure is None:
            seconds = (recording.now - recording.begins) / 1e9
            recording.log(LogLevel.INFO, f"answered in {seconds:.1f} s", model=self._model.name)
        signals = list(self._rate(recording, failed=failure is not None, is_last=is_last))
        return Turn(
            self.agent,
            self._environment,
            recording.time,
            recording.spans,
            recording.logs,
            signals,
        )

    def _root_attributes(self, question: str, answer: str) -> dict[str, Any]:
        return {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": self.agent.name,
            "gen_ai.agent.version": self.agent.version,
            "gen_ai.conversation.id": self.session,
            "session.id": self.session,
            "user.id": self.user,
            "app.plan": _PLANS[crc32(self.user.encode()) % len(_PLANS)],
            "app.region": _REGIONS[crc32(self.user.encode()) // 7 % len(_REGIONS)],
            "gen_ai.input.messages": dump([text_message("user", question)]),
            "gen_ai.output.messages": dump([text_message("assistant", answer)]) if answer else None,
            "spanwise.experiment.id": self.treatment.experiment_id,
            "spanwise.experiment.variant": self.treatment.variant,
        }

    def _answer(self, recording: Recording, exchange: Exchange, question: str) -> str:
        recording.advance(self.rng.uniform(1, 6))
        if self.agent.screens is not None:
            self._screen(recording, self.agent.screens, question)
        for calls in exchange.rounds:
            filled = [
                call.model_copy(update={"arguments": fill_slots(call.arguments, self._slots)})
                for call in calls
            ]
            ids = [f"call_{self.rng.getrandbits(32):08x}" for _ in filled]
            request: Message = {
                "role": "assistant",
                "parts": [
                    {"type": "tool_call", "id": i, "name": c.tool, "arguments": c.arguments}
                    for i, c in zip(ids, filled, strict=True)
                ],
                "finish_reason": "tool_calls",
            }
            self._chat(recording, request)
            self._history.append({"role": request["role"], "parts": request["parts"]})
            self._history.append(self._use_tools(recording, filled, ids))
        answer: str = fill_slots(exchange.answer, self._slots)
        self._chat(recording, text_message("assistant", answer, finish_reason="stop"))
        self._history.append(text_message("assistant", answer))
        return answer

    # --- models ---------------------------------------------------------------------------------

    def _chat(self, recording: Recording, reply: Message) -> None:
        """Call the model, with one retry; a second failure ends the turn."""
        is_incident = self._timeline.is_incident(self.agent.name, recording.time)
        rate = _INCIDENT_FAILURE_RATE if is_incident else self.agent.model_failure_rate
        for attempt in (1, 2):
            if self.rng.random() >= rate:
                break
            name = "overloaded" if is_incident else self.rng.choice(("rate_limit", "overloaded"))
            failure = FAILURES[name]
            self._add_failed_call(recording, failure)
            if attempt == 2:  # noqa: PLR2004 -- one retry
                raise TurnFailed(failure)
            recording.log(LogLevel.WARN, f"{failure.message}; trying again", attempt=attempt)
            recording.advance(recording.draw_ms(1800, 0.2))
            rate = max(rate, _RETRY_FAILURE_RATE)
        if not is_incident and self.rng.random() < self.agent.model_failure_rate / 4:
            self._add_failed_call(recording, FAILURES["content_filter"])
            raise TurnFailed(FAILURES["content_filter"])
        self._add_model_call(recording, reply, slowdown=_INCIDENT_SLOWDOWN if is_incident else 1.0)

    def _add_failed_call(self, recording: Recording, failure: Failure) -> None:
        began = recording.now
        recording.advance(recording.draw_ms(700))
        attributes = chat_attributes(self._model, self.session)
        attributes["gen_ai.input.messages"] = dump(self._history)
        recording.add_span(f"chat {self._model.name}", began, attributes, failure=failure)

    def _add_model_call(self, recording: Recording, reply: Message, slowdown: float) -> None:
        model, began = self._model, recording.now
        factor = self.agent.output_factor * self.treatment.output_factor
        output = max(12, round(count_tokens([reply]) * factor * self.rng.uniform(0.8, 1.3)))
        reasoning = 0
        if model.provider in _REASONING_PROVIDERS:
            reasoning = round(recording.draw_ms(260, 0.6))
        history_tokens = round(count_tokens(self._history) * 1.1)
        cached = self.agent.context_tokens if len(self._history) > 1 else 0
        first = recording.draw_ms(model.first_token_ms * slowdown, 0.3)
        pace = model.tokens_per_second / slowdown
        recording.advance(first + recording.draw_ms((output + reasoning) / pace * 1000, 0.2))
        recording.add_span(
            f"chat {model.name}",
            began,
            {
                **chat_attributes(model, self.session),
                "gen_ai.usage.input_tokens": self.agent.context_tokens + history_tokens,
                "gen_ai.usage.cache_read.input_tokens": cached or None,
                "gen_ai.usage.output_tokens": output + reasoning,
                "gen_ai.usage.reasoning.output_tokens": reasoning or None,
                "gen_ai.response.time_to_first_chunk": round(first / 1000, 3),
                "gen_ai.response.finish_reasons": [reply["finish_reason"]],
                "gen_ai.system_instructions": dump(
                    [{"type": "text", "content": self.agent.instructions}]
                ),
                "gen_ai.input.messages": dump(self._history),
                "gen_ai.output.messages": dump([reply]),
            },
        )

    def _screen(self, recording: Recording, screening: Screening, question: str) -> None:
        model, began, guard = screening.model, recording.now, self.rng.randbytes(8)
        recording.advance(recording.draw_ms(model.first_token_ms))
        variables = {"topic": screening.topic, "question": question}
        recording.add_span(
            f"chat {model.name}",
            began,
            {
                **chat_attributes(model, self.session),
                "gen_ai.usage.input_tokens": 80 + len(question) // 4,
                "gen_ai.usage.output_tokens": 3,
                "llm.prompt_template.template": screening.template,
                "llm.prompt_template.version": screening.template_version,
                "llm.prompt_template.variables": dump(variables),
                "gen_ai.input.messages": dump(
                    [text_message("user", screening.template.format(**variables))]
                ),
                "gen_ai.output.messages": dump([text_message("assistant", "allowed")]),
            },
            parent=guard,
        )
        recording.add_span(
            "screen_question", began, {"openinference.span.kind": "GUARDRAIL"}, span_id=guard
        )

    # --- tools ----------------------------------------------------------------------------------

    def _use_tools(
        self, recording: Recording, calls: Sequence[Call], ids: Sequence[str]
    ) -> Message:
        """Run the calls of a round in parallel; the slowest one ends the round."""
        began, ends, parts = recording.now, recording.now, []
        for call, call_id in zip(calls, ids, strict=True):
            recording.now = began
            result = self._use_tool(recording, call, call_id)
            parts.append({"type": "tool_call_response", "id": call_id, "response": result})
            ends = max(ends, recording.now)
        recording.now = ends
        return {"role": "tool", "parts": parts}

    def _use_tool(self, recording: Recording, call: Call, call_id: str) -> Any:  # noqa: ANN401
        failure = self._run_tool(recording, call, call_id)
        if failure is not None and self.rng.random() < _TOOL_RETRY_RATE:
            recording.log(LogLevel.WARN, f"{call.tool} failed, trying again", tool=call.tool)
            failure = self._run_tool(recording, call, call_id)
        if failure is None:
            return fill_slots(call.result, self._slots)
        if self.rng.random() < _TOOL_FAILURE_ENDS_TURN_RATE:
            raise TurnFailed(failure)
        return {"error": failure.message}

    def _run_tool(self, recording: Recording, call: Call, call_id: str) -> Failure | None:
        tool, began, span_id = self.agent.tools[call.tool], recording.now, self.rng.randbytes(8)
        rate = self._timeline.tool_failure_rate(
            self.agent.name, call.tool, tool.failure_rate, recording.time
        )
        failure = None
        if self.rng.random() < rate:
            failure = self._timeline.tool_failure(call.tool, tool.failure, recording.time)
        if self.agent.embeds is not None and call.tool.startswith("search_"):
            self._retrieve(recording, self.agent.embeds, call, span_id)
        is_timeout = failure is not None and failure.error == "timeout"
        recording.advance(10_000 if is_timeout else recording.draw_ms(tool.latency_ms, 0.5))
        recording.add_span(
            f"execute_tool {call.tool}",
            began,
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": call.tool,
                "gen_ai.tool.call.id": call_id,
                "gen_ai.tool.type": "function",
                "gen_ai.tool.call.arguments": dump(call.arguments),
                "gen_ai.tool.call.result": None
                if failure
                else dump(fill_slots(call.result, self._slots)),
            },
            span_id=span_id,
            failure=failure,
        )
        return failure

    def _retrieve(self, recording: Recording, model: Model, call: Call, parent: bytes) -> None:
        query, began = str(call.arguments.get("query", "")), recording.now
        recording.advance(recording.draw_ms(model.first_token_ms))
        recording.add_span(
            f"embeddings {model.name}",
            began,
            {
                "gen_ai.operation.name": "embeddings",
                "gen_ai.provider.name": model.provider,
                "gen_ai.request.model": model.name,
                "gen_ai.usage.input_tokens": 4 + len(query) // 4,
            },
            parent=parent,
        )
        began = recording.now
        recording.advance(recording.draw_ms(45))
        recording.add_span(
            "retrieve articles",
            began,
            {
                "gen_ai.operation.name": "retrieval",
                "gen_ai.retrieval.query.text": query,
                "gen_ai.retrieval.documents": dump(fill_slots(call.result, self._slots)),
            },
            parent=parent,
        )

    # --- ratings --------------------------------------------------------------------------------

    def _rate(self, recording: Recording, *, failed: bool, is_last: bool) -> Iterator[NewSignal]:
        for rating in self.agent.ratings:
            if (rating.by_session and not is_last) or self.rng.random() >= rating.share:
                continue
            shift = self._timeline.rating_shift(self.agent.name, rating.name, recording.time)
            if rating.name == "resolved":
                shift += self.treatment.resolved_shift
            value = self._draw_rating(rating, shift, failed=failed)
            yield NewSignal(
                id=f"sig_{self.rng.getrandbits(80):020x}",
                signal_name=rating.name,
                value=value,
                trace_id=recording.trace_id.hex(),
                comment=rating.comments.get(value) if self.rng.random() < 0.3 else None,  # noqa: PLR2004
                metadata={"label": _judge(value)} if rating.name == "faithfulness" else {},
                timestamp=recording.time + timedelta(seconds=self.rng.uniform(1, 20)),
            )

    def _draw_rating(self, rating: Rating, shift: float, *, failed: bool) -> float:
        if rating.scale == 1:
            return float(self.rng.random() < (0.08 if failed else rating.mean + shift))
        if rating.scale == 0:
            spread = self.rng.betavariate(6, 2) - 0.75
            return round(min(1.0, max(0.0, rating.mean + shift + 0.2 * spread)), 3)
        mean = 1.5 if failed else rating.mean + shift
        return float(min(rating.scale, max(1, round(self.rng.gauss(mean, 0.9)))))


def _judge(faithfulness: float) -> str:
    """Return the label that a judge model gives beside its score."""
    return "faithful" if faithfulness >= 0.8 else "unsupported claims"  # noqa: PLR2004
