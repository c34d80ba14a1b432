"""Google ADK: an agent with a tool, traced by the ADK itself."""

from __future__ import annotations

import asyncio
import os

import _weather
from google.adk.agents import LlmAgent
from google.adk.models.lite_llm import LiteLlm
from google.adk.runners import InMemoryRunner
from google.genai import types
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor


async def run() -> None:
    model = LiteLlm(
        model="openai/gpt-4o-mini", api_base=os.environ["OPENAI_BASE_URL"], api_key="sk-fake"
    )
    agent = LlmAgent(
        name="weather_agent",
        model=model,
        instruction=_weather.SYSTEM,
        tools=[_weather.get_weather],
    )
    runner = InMemoryRunner(agent=agent, app_name="weather")
    await runner.session_service.create_session(
        app_name="weather", user_id="user-7", session_id="session-adk-1"
    )
    message = types.Content(role="user", parts=[types.Part(text=_weather.QUESTION)])
    async for _ in runner.run_async(
        user_id="user-7", session_id="session-adk-1", new_message=message
    ):
        pass


def main() -> None:
    tracer_provider = TracerProvider()
    tracer_provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(tracer_provider)
    asyncio.run(run())
    tracer_provider.shutdown()


if __name__ == "__main__":
    main()
