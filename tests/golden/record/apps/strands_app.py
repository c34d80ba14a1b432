"""The own tracing of Strands Agents: an agent with a tool, a failed run."""

from __future__ import annotations

from contextlib import suppress

import _tracing
import _weather
from strands import Agent, tool
from strands.models.openai import OpenAIModel


@tool
def get_weather(city: str) -> str:
    """The weather in a city."""
    return _weather.get_weather(city)


def main() -> None:
    provider = _tracing.start()
    agent = Agent(
        name="weather_agent",
        model=OpenAIModel(model_id="gpt-4o-mini", client_args={"max_retries": 0}),
        system_prompt=_weather.SYSTEM,
        tools=[get_weather],
        trace_attributes={"session.id": _tracing.SESSION, "user.id": _tracing.USER},
        callback_handler=None,
        retry_strategy=None,
    )
    agent(_weather.QUESTION)
    agent.messages.clear()
    with suppress(Exception):
        agent(_tracing.FAILING)
    provider.shutdown()


if __name__ == "__main__":
    main()
