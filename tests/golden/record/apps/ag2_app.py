"""AG2's own telemetry middleware: an agent with a tool, a failed run."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import _tracing
from _weather import QUESTION, SYSTEM, get_weather
from ag2 import Agent
from ag2.config import OpenAIConfig
from ag2.middleware.builtin.telemetry import TelemetryMiddleware


async def run() -> None:
    telemetry = TelemetryMiddleware(
        agent_name="weather_agent",
        provider_name="openai",
        model_name="gpt-4o-mini",
        span_attributes={"session.id": _tracing.SESSION, "user.id": _tracing.USER},
    )
    agent = Agent(
        "weather_agent",
        SYSTEM,
        config=OpenAIConfig(model="gpt-4o-mini", max_retries=0),
        tools=[get_weather],
        middleware=[telemetry],
    )
    await agent.ask(QUESTION)
    with suppress(Exception):
        await agent.ask(_tracing.FAILING)


def main() -> None:
    provider = _tracing.start()
    asyncio.run(run())
    provider.shutdown()


if __name__ == "__main__":
    main()
