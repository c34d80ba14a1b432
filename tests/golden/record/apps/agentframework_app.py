"""Microsoft Agent Framework's own tracing: an agent with a tool, a failed run."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import _tracing
from _weather import QUESTION, SYSTEM, get_weather
from agent_framework import Agent
from agent_framework.observability import enable_sensitive_telemetry
from agent_framework.openai import OpenAIChatClient


async def run() -> None:
    agent = Agent(
        client=OpenAIChatClient(model="gpt-4o-mini"),
        name="weather_agent",
        instructions=SYSTEM,
        tools=[get_weather],
    )
    session = agent.create_session(session_id=_tracing.SESSION)
    await agent.run(QUESTION, session=session)
    with suppress(Exception):
        await agent.run(_tracing.FAILING)


def main() -> None:
    provider = _tracing.start()
    enable_sensitive_telemetry()
    asyncio.run(run())
    provider.shutdown()


if __name__ == "__main__":
    main()
