"""The tracing that Anthropic's own Python SDK carries, without any instrumentation package."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import _weather
import anthropic
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor


def main() -> None:
    tracer_provider = TracerProvider()
    tracer_provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(tracer_provider)
    client = anthropic.Anthropic(max_retries=0)
    question: list[Any] = [{"role": "user", "content": _weather.QUESTION}]
    tools: list[Any] = [{"name": "get_weather", "input_schema": _weather.TOOL_SCHEMA}]
    client.messages.create(
        model="claude-sonnet-4-5",
        max_tokens=200,
        system=_weather.SYSTEM,
        messages=question,
        tools=tools,
    )
    with client.messages.stream(
        model="claude-sonnet-4-5", max_tokens=200, messages=question
    ) as stream:
        for _ in stream.text_stream:
            pass
    failing: list[Any] = [{"role": "user", "content": "More [rate limit]"}]
    with suppress(anthropic.RateLimitError):
        client.messages.create(model="claude-sonnet-4-5", max_tokens=200, messages=failing)
    tracer_provider.shutdown()


if __name__ == "__main__":
    main()
