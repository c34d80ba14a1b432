"""A Pydantic AI agent instrumented with plain OpenTelemetry, over the responses API."""

from __future__ import annotations

import _weather
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from pydantic_ai import Agent
from pydantic_ai.models.instrumented import InstrumentationSettings


def main() -> None:
    tracer_provider = TracerProvider()
    tracer_provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    # Version 2 is the oldest data format that can still be chosen; it names the spans
    # differently and repeats the usage of the run on the agent's span.
    settings = InstrumentationSettings(
        tracer_provider=tracer_provider,
        version=2,
        use_aggregated_usage_attribute_names=False,
    )
    Agent.instrument_all(settings)
    agent = Agent(
        "openai-responses:gpt-4o-mini",
        name="weather_agent",
        instructions=_weather.SYSTEM,
        tools=[_weather.get_weather],
    )
    agent.run_sync(_weather.QUESTION)
    tracer_provider.shutdown()


if __name__ == "__main__":
    main()
