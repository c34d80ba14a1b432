"""OpenInference's instrumentation of AutoGen's AgentChat: an agent with a tool, a failed run."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import _tracing
from _weather import QUESTION, SYSTEM, get_weather
from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient
from openinference.instrumentation import using_attributes
from openinference.instrumentation.autogen_agentchat import AutogenAgentChatInstrumentor


async def run() -> None:
    client = OpenAIChatCompletionClient(model="gpt-4o-mini", max_retries=0)
    agent = AssistantAgent(
        "weather_agent",
        model_client=client,
        system_message=SYSTEM,
        tools=[get_weather],
        reflect_on_tool_use=True,
    )
    with using_attributes(session_id=_tracing.SESSION, user_id=_tracing.USER):
        await agent.run(task=QUESTION)
        await agent.on_reset(None)
        with suppress(Exception):
            await agent.run(task=_tracing.FAILING)


def main() -> None:
    provider = _tracing.start()
    AutogenAgentChatInstrumentor().instrument(tracer_provider=provider)
    asyncio.run(run())
    provider.shutdown()


if __name__ == "__main__":
    main()
