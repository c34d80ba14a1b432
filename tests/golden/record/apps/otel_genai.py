"""OpenTelemetry's own OpenAI instrumentation: -openai-v2, or its successor -genai-openai."""

from __future__ import annotations

import importlib
import json
import sys
from contextlib import suppress
from typing import Any

import openai
from _weather import QUESTION, SYSTEM, TOOL, get_weather
from opentelemetry import _logs, metrics, trace
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

MODEL = "gpt-4o-mini"
MODULES = {
    "v2": "opentelemetry.instrumentation.openai_v2",
    "genai": "opentelemetry.instrumentation.genai.openai",
}


def chat(client: openai.OpenAI) -> None:
    messages: list[Any] = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": QUESTION},
    ]
    tools: list[Any] = [TOOL]
    with trace.get_tracer("weather").start_as_current_span("handle question") as span:
        span.set_attribute("session.id", "session-otel-1")
        span.set_attribute("user.id", "user-7")
        first = client.chat.completions.create(
            model=MODEL, messages=messages, tools=tools, temperature=0.2, max_tokens=200
        )
        message = first.choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls or []:
            arguments = json.loads(call.function.arguments)  # type: ignore[union-attr]
            messages.append(
                {"role": "tool", "tool_call_id": call.id, "content": get_weather(**arguments)}
            )
        client.chat.completions.create(model=MODEL, messages=messages, tools=tools)
        stream = client.chat.completions.create(
            model=MODEL,
            messages=[{"role": "user", "content": QUESTION}],
            stream=True,
            stream_options={"include_usage": True},
        )
        for _ in stream:
            pass
        client.embeddings.create(model="text-embedding-3-small", input="sunny day")


def responses(client: openai.OpenAI) -> None:
    with trace.get_tracer("weather").start_as_current_span("handle question"):
        client.responses.create(model=MODEL, instructions=SYSTEM, input=QUESTION)
        stream = client.responses.create(model=MODEL, input=QUESTION, stream=True)
        for _ in stream:
            pass


def errors(client: openai.OpenAI) -> None:
    for marker in ("[rate limit]", "[time out]", "[server error]", "[bad request]"):
        with suppress(openai.OpenAIError):
            client.with_options(max_retries=0, timeout=0.5).chat.completions.create(
                model=MODEL, messages=[{"role": "user", "content": f"{QUESTION} {marker}"}]
            )


def main() -> None:
    tracer_provider = TracerProvider()
    tracer_provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(tracer_provider)
    logger_provider = LoggerProvider()
    logger_provider.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
    _logs.set_logger_provider(logger_provider)
    meter_provider = MeterProvider([PeriodicExportingMetricReader(OTLPMetricExporter())])
    metrics.set_meter_provider(meter_provider)
    importlib.import_module(MODULES[sys.argv[2]]).OpenAIInstrumentor().instrument()
    {"chat": chat, "responses": responses, "errors": errors}[sys.argv[1]](openai.OpenAI())
    tracer_provider.shutdown()
    logger_provider.shutdown()
    meter_provider.shutdown()


if __name__ == "__main__":
    main()
