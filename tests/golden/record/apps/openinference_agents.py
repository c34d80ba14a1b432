"""OpenInference's instrumentation of the OpenAI Agents SDK."""

from __future__ import annotations

import asyncio

import _weather
from agents import Agent, Runner, function_tool
from openinference.instrumentation import using_attributes
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor


@function_tool
def get_weather(city: str) -> str:
    """The weather in a city."""
    return _weather.get_weather(city)


async def run() -> None:
    agent = Agent(
        name="weather_agent",
        instructions=_weather.SYSTEM,
        model="gpt-4o-mini",
        tools=[get_weather],
    )
    with using_attributes(session_id="session-oa-1", user_id="user-7"):
        await Runner.run(agent, _weather.QUESTION)


def main() -> None:
    tracer_provider = TracerProvider()
    tracer_provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    OpenAIAgentsInstrumentor().instrument(tracer_provider=tracer_provider, exclusive_processor=True)
    asyncio.run(run())
    tracer_provider.shutdown()


if __name__ == "__main__":
    main()
