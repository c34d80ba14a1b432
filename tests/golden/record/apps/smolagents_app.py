"""OpenInference's instrumentation of smolagents: a tool calling agent."""

from __future__ import annotations

import os
from contextlib import suppress

import _tracing
import _weather
from openinference.instrumentation import using_attributes
from openinference.instrumentation.smolagents import SmolagentsInstrumentor
from smolagents import OpenAIModel, ToolCallingAgent, tool


@tool
def get_weather(city: str) -> str:
    """The weather in a city.

    Args:
        city: The city.
    """
    return _weather.get_weather(city)


def main() -> None:
    provider = _tracing.start()
    SmolagentsInstrumentor().instrument(tracer_provider=provider)
    model = OpenAIModel(
        model_id="gpt-4o-mini",
        api_base=os.environ["OPENAI_BASE_URL"],
        api_key="fake",
        client_kwargs={"max_retries": 0},
        retry=False,
    )
    agent = ToolCallingAgent(tools=[get_weather], model=model, name="weather_agent", max_steps=3)
    with using_attributes(session_id=_tracing.SESSION, user_id=_tracing.USER):
        agent.run(_weather.QUESTION)
        with suppress(Exception):
            agent.run(_tracing.FAILING)
    provider.shutdown()


if __name__ == "__main__":
    main()
