"""OpenInference's instrumentation of Agno: an agent with a tool, a failed run."""

from __future__ import annotations

from contextlib import suppress

import _tracing
from _weather import QUESTION, SYSTEM, get_weather
from agno.agent import Agent
from agno.models.openai import OpenAIChat
from openinference.instrumentation.agno import AgnoInstrumentor


def main() -> None:
    provider = _tracing.start()
    AgnoInstrumentor().instrument(tracer_provider=provider)
    agent = Agent(
        name="weather_agent",
        model=OpenAIChat(id="gpt-4o-mini", max_retries=0),
        instructions=SYSTEM,
        tools=[get_weather],
        telemetry=False,
    )
    agent.run(QUESTION, session_id=_tracing.SESSION, user_id=_tracing.USER)
    with suppress(Exception):
        agent.run(_tracing.FAILING, session_id=_tracing.SESSION, user_id=_tracing.USER)
    provider.shutdown()


if __name__ == "__main__":
    main()
