"""Langfuse's Python SDK: @observe, a generation with usage and cost, session and user."""

from __future__ import annotations

import os
from contextlib import suppress

os.environ.setdefault("LANGFUSE_PUBLIC_KEY", "pk-lf-fake")
os.environ.setdefault("LANGFUSE_SECRET_KEY", "sk-lf-fake")
os.environ.setdefault("LANGFUSE_BASE_URL", os.environ["RECEIVER_URL"])
os.environ.setdefault("LANGFUSE_HOST", os.environ["RECEIVER_URL"])
os.environ.setdefault("LANGFUSE_TRACING_ENVIRONMENT", "staging")
os.environ.setdefault("LANGFUSE_RELEASE", "1.4.0")

import _weather
from langfuse import get_client, observe, propagate_attributes
from langfuse.openai import openai

langfuse = get_client()


@observe(as_type="tool", name="get_weather")
def get_weather(city: str) -> str:
    return _weather.get_weather(city)


@observe(as_type="agent", name="weather_agent")
def weather_agent(question: str) -> str:
    with langfuse.start_as_current_observation(
        as_type="generation",
        name="plan",
        model="gpt-4o-mini",
        input=[{"role": "user", "content": question}],
        model_parameters={"temperature": 0.2},
    ) as generation:
        generation.update(
            output={"role": "assistant", "content": "I shall look it up."},
            usage_details={
                "input": 56,
                "input_cached_tokens": 64,
                "output": 18,
                "output_reasoning_tokens": 12,
                "total": 150,
            },
            cost_details={"input": 0.00001, "output": 0.00002, "total": 0.00003},
        )
    get_weather("Paris")
    client = openai.OpenAI(max_retries=0)
    answer = client.chat.completions.create(
        name="answer",
        model="gpt-4o-mini",
        messages=[
            {"role": "system", "content": _weather.SYSTEM},
            {"role": "user", "content": question},
        ],
    )
    with langfuse.start_as_current_observation(
        as_type="retriever", name="guide", input={"query": "Paris in May"}
    ) as retriever:
        retriever.update(output=[{"text": "Paris is mild in May."}])
    with suppress(openai.RateLimitError):
        client.chat.completions.create(
            name="follow-up",
            model="gpt-4o-mini",
            messages=[{"role": "user", "content": "More [rate limit]"}],
        )
    return str(answer.choices[0].message.content)


@observe(name="handle question")
def handle(question: str) -> str:
    with propagate_attributes(
        session_id="session-lf-1",
        user_id="user-7",
        tags=["weather"],
        metadata={"tier": "gold"},
        trace_name="weather question",
    ):
        return weather_agent(question)


def main() -> None:
    handle(_weather.QUESTION)
    langfuse.flush()
    langfuse.shutdown()


if __name__ == "__main__":
    main()
