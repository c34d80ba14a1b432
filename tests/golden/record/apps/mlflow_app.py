"""MLflow tracing with the OpenAI autolog, exported over OTLP instead of to a server."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from contextlib import suppress
from typing import Any

os.environ.setdefault(
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", f"{os.environ['RECEIVER_URL']}/v1/traces"
)
os.environ.setdefault("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf")
os.environ.setdefault("MLFLOW_ENABLE_ASYNC_TRACE_LOGGING", "false")

import _weather
import mlflow
import openai
from mlflow.entities import SpanType


@mlflow.trace(span_type=SpanType.TOOL)
def get_weather(city: str) -> str:
    return _weather.get_weather(city)


@mlflow.trace(name="weather_agent", span_type=SpanType.AGENT)
def weather_agent(question: str) -> str:
    mlflow.update_current_trace(
        # User tags make this version lose the root span over OTLP.
        tags={"tier": "gold"} if "tags" in sys.argv else None,
        metadata={"mlflow.trace.session": "session-ml-1", "mlflow.trace.user": "user-7"},
    )
    client = openai.OpenAI(max_retries=0)
    tools: list[Any] = [_weather.TOOL]
    messages: list[Any] = [
        {"role": "system", "content": _weather.SYSTEM},
        {"role": "user", "content": question},
    ]
    first = client.chat.completions.create(model="gpt-4o-mini", messages=messages, tools=tools)
    message = first.choices[0].message
    messages.append(message.model_dump(exclude_none=True))
    for call in message.tool_calls or []:
        arguments = json.loads(call.function.arguments)  # type: ignore[union-attr]
        messages.append(
            {"role": "tool", "tool_call_id": call.id, "content": get_weather(**arguments)}
        )
    last = client.chat.completions.create(model="gpt-4o-mini", messages=messages, tools=tools)
    client.embeddings.create(model="text-embedding-3-small", input="sunny day")
    with suppress(openai.RateLimitError):
        client.chat.completions.create(
            model="gpt-4o-mini", messages=[{"role": "user", "content": "More [rate limit]"}]
        )
    return last.choices[0].message.content or ""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
        mlflow.openai.autolog()
        weather_agent(_weather.QUESTION)
        mlflow.flush_trace_async_logging()


if __name__ == "__main__":
    main()
