"""Builds one trace: OpenTelemetry spans and logs on a simulated clock."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import orjson
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from spanwise.demo.fleet import Failure, Model
from spanwise.ingest.otlp.from_rest import to_any_value
from spanwise.ingest.rest_bodies import NewLog
from spanwise.model.telemetry.logs import LogLevel
from spanwise.model.times import to_unix_nano

Message = dict[str, Any]
_CHARACTERS_PER_TOKEN = 3.8
_NANOS_PER_MS = 1_000_000


class Recording:
    """Spans and logs of one trace. `now` is the simulated time in Unix nanoseconds."""

    def __init__(self, agent: str, begins: datetime, rng: Random) -> None:
        self.agent = agent
        self.rng = rng
        self.trace_id = rng.randbytes(16)
        self.root_id = rng.randbytes(8)
        self.begins = to_unix_nano(begins)
        self.now = self.begins
        self.spans: list[Span] = []
        self.logs: list[NewLog] = []

    @property
    def time(self) -> datetime:
        return datetime.fromtimestamp(0, UTC) + timedelta(microseconds=self.now // 1000)

    def advance(self, milliseconds: float) -> None:
        self.now += round(milliseconds * _NANOS_PER_MS)

    def draw_ms(self, median: float, spread: float = 0.4) -> float:
        return median * math.exp(self.rng.gauss(0, spread))

    def add_span(
        self,
        name: str,
        began: int,
        attributes: dict[str, Any],
        *,
        parent: bytes | None = None,
        span_id: bytes | None = None,
        failure: Failure | None = None,
    ) -> bytes:
        """Add a span that ends now; its parent defaults to the root."""
        span_id = span_id or self.rng.randbytes(8)
        is_root = span_id == self.root_id
        span = Span(
            trace_id=self.trace_id,
            span_id=span_id,
            parent_span_id=b"" if is_root else parent or self.root_id,
            name=name,
            kind=Span.SPAN_KIND_INTERNAL,
            start_time_unix_nano=began,
            end_time_unix_nano=self.now,
            attributes=_pairs(attributes),
            status=Status(code=Status.STATUS_CODE_OK),
        )
        if failure is not None:
            span.attributes.extend(_pairs({"error.type": failure.error}))
            span.status.CopyFrom(Status(code=Status.STATUS_CODE_ERROR, message=failure.message))
            span.events.append(_exception(failure, self.now))
        self.spans.append(span)
        return span_id

    def log(
        self,
        level: LogLevel,
        message: str,
        span_id: bytes | None = None,
        **attributes: Any,  # noqa: ANN401
    ) -> None:
        self.logs.append(
            NewLog(
                message=message,
                level=level,
                timestamp=self.time,
                trace_id=self.trace_id.hex(),
                span_id=(span_id or self.root_id).hex(),
                agent_name=self.agent,
                attributes=attributes,
            )
        )


def text_message(role: str, text: str, **more: Any) -> Message:  # noqa: ANN401 -- any JSON
    return {"role": role, "parts": [{"type": "text", "content": text}], **more}


def count_tokens(messages: Sequence[Message]) -> int:
    return round(len(orjson.dumps(messages)) / _CHARACTERS_PER_TOKEN)


def dump(value: Any) -> str:  # noqa: ANN401 -- any JSON
    return orjson.dumps(value).decode()


def chat_attributes(model: Model, conversation: str) -> dict[str, Any]:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": model.provider,
        "gen_ai.request.model": model.name,
        "gen_ai.response.model": model.name,
        "gen_ai.request.temperature": 0.3,
        "gen_ai.conversation.id": conversation,
    }


def _pairs(attributes: dict[str, Any]) -> list[KeyValue]:
    return [
        KeyValue(key=name, value=to_any_value(value))
        for name, value in attributes.items()
        if value is not None
    ]


def _exception(failure: Failure, at: int) -> Span.Event:
    stack = (
        "Traceback (most recent call last):\n"
        '  File "/app/agent/loop.py", line 118, in step\n'
        "    result = await action.run(arguments)\n"
        '  File "/app/agent/actions.py", line 64, in run\n'
        "    return await self._call(arguments)\n"
        f"{failure.exception}: {failure.message}"
    )
    return Span.Event(
        name="exception",
        time_unix_nano=at,
        attributes=_pairs(
            {
                "exception.type": failure.exception,
                "exception.message": failure.message,
                "exception.stacktrace": stack,
            }
        ),
    )
