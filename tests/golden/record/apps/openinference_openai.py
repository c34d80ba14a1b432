"""OpenInference's OpenAI instrumentation, with a session and a user."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import openai
from _weather import QUESTION, SYSTEM, TOOL
from openinference.instrumentation import using_attributes
from openinference.instrumentation.openai import OpenAIInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

MODEL = "gpt-4o-mini"


def main() -> None:
    resource = Resource.create({"openinference.project.name": "weather"})
    tracer_provider = TracerProvider(resource=resource)
    tracer_provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    OpenAIInstrumentor().instrument(tracer_provider=tracer_provider)
    client = openai.OpenAI(max_retries=0, timeout=0.5)
    messages: list[Any] = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": QUESTION},
    ]
    tools: list[Any] = [TOOL]
    with using_attributes(
        session_id="session-oi-1",
        user_id="user-7",
        metadata={"tier": "gold"},
        tags=["weather", "demo"],
    ):
        client.chat.completions.create(model=MODEL, messages=messages, tools=tools)
        stream = client.chat.completions.create(
            model=MODEL,
            messages=messages,
            stream=True,
            stream_options={"include_usage": True},
        )
        for _ in stream:
            pass
        client.responses.create(model=MODEL, instructions=SYSTEM, input=QUESTION)
        client.embeddings.create(model="text-embedding-3-small", input="sunny day")
        for marker in ("[rate limit]", "[time out]"):
            with suppress(openai.OpenAIError):
                client.chat.completions.create(
                    model=MODEL, messages=[{"role": "user", "content": f"{QUESTION} {marker}"}]
                )
    tracer_provider.shutdown()


if __name__ == "__main__":
    main()
