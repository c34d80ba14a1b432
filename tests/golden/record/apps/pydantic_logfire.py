"""A Pydantic AI agent instrumented through Logfire, exporting OTLP to another backend."""

from __future__ import annotations

from contextlib import suppress

import _weather
import logfire
from pydantic_ai import Agent
from pydantic_ai.exceptions import ModelHTTPError

agent = Agent("openai-chat:gpt-4o-mini", name="weather_agent", instructions=_weather.SYSTEM)


@agent.tool_plain
def get_weather(city: str) -> str:
    """The weather in a city."""
    return _weather.get_weather(city)


def main() -> None:
    logfire.configure(
        send_to_logfire=False,
        service_name="weather-assistant",
        service_version="1.4.0",
        environment="staging",
        console=False,
    )
    logfire.instrument_pydantic_ai()
    with logfire.span("answer {question}", question=_weather.QUESTION):
        agent.run_sync(_weather.QUESTION, conversation_id="session-pai-1")
    with suppress(ModelHTTPError):
        agent.run_sync(f"{_weather.QUESTION} [bad request]")
    logfire.info("served {count} questions", count=2)
    logfire.shutdown()


if __name__ == "__main__":
    main()
