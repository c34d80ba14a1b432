"""OpenInference's instrumentation of Haystack: an agent with a tool, a failed run."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

import _tracing
import _weather
from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import tool
from openinference.instrumentation import using_attributes
from openinference.instrumentation.haystack import HaystackInstrumentor


@tool
def get_weather(city: Annotated[str, "the city"]) -> str:
    """The weather in a city."""
    return _weather.get_weather(city)


def main() -> None:
    provider = _tracing.start()
    HaystackInstrumentor().instrument(tracer_provider=provider)
    agent = Agent(
        chat_generator=OpenAIChatGenerator(model="gpt-4o-mini", max_retries=0),
        system_prompt=_weather.SYSTEM,
        tools=[get_weather],
    )
    agent.warm_up()
    with using_attributes(session_id=_tracing.SESSION, user_id=_tracing.USER):
        agent.run(messages=[ChatMessage.from_user(_weather.QUESTION)])
        with suppress(Exception):
            agent.run(messages=[ChatMessage.from_user(_tracing.FAILING)])
    provider.shutdown()


if __name__ == "__main__":
    main()
