"""OpenInference's instrumentations of CrewAI and of the OpenAI client below it."""

from __future__ import annotations

from contextlib import suppress

import _tracing
import _weather
from crewai import LLM, Agent, Crew, Task
from crewai.tools import tool
from openinference.instrumentation import using_attributes
from openinference.instrumentation.crewai import CrewAIInstrumentor
from openinference.instrumentation.openai import OpenAIInstrumentor


@tool("get_weather")
def get_weather(city: str) -> str:
    """The weather in a city."""
    return _weather.get_weather(city)


def crew(question: str) -> Crew:
    reporter = Agent(
        role="weather_agent",
        goal="Report the weather.",
        backstory="You are helpful.",
        llm=LLM(model="openai/gpt-4o-mini", max_retries=0),
        tools=[get_weather],
        max_retry_limit=0,
    )
    task = Task(description=question, expected_output="One sentence.", agent=reporter)
    return Crew(agents=[reporter], tasks=[task])


def main() -> None:
    provider = _tracing.start()
    CrewAIInstrumentor().instrument(tracer_provider=provider)
    OpenAIInstrumentor().instrument(tracer_provider=provider)
    with using_attributes(session_id=_tracing.SESSION, user_id=_tracing.USER):
        crew(_weather.QUESTION).kickoff()
        with suppress(Exception):
            crew(_tracing.FAILING).kickoff()
    provider.shutdown()


if __name__ == "__main__":
    main()
