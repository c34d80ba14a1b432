"""LangSmith's SDK in its OpenTelemetry mode."""

from __future__ import annotations

import os
from contextlib import suppress

os.environ.setdefault("LANGSMITH_TRACING", "true")
os.environ.setdefault("LANGSMITH_OTEL_ENABLED", "true")
os.environ.setdefault("LANGSMITH_OTEL_ONLY", "true")
os.environ.setdefault("LANGSMITH_API_KEY", "lsv2_fake")
os.environ.setdefault("LANGSMITH_ENDPOINT", os.environ["RECEIVER_URL"])
os.environ.setdefault("LANGSMITH_PROJECT", "weather")
# Without an endpoint of its own it sends to LANGSMITH_ENDPOINT/otel/v1/traces.
os.environ.pop("OTEL_EXPORTER_OTLP_ENDPOINT", None)

import _weather
import openai
from langsmith import Client, traceable
from langsmith.wrappers import wrap_openai


@traceable(run_type="tool", name="get_weather")
def get_weather(city: str) -> str:
    return _weather.get_weather(city)


@traceable(
    run_type="chain",
    name="weather_agent",
    tags=["weather"],
    metadata={"session_id": "session-ls-1", "user_id": "user-7"},
)
def weather_agent(question: str) -> str:
    client = wrap_openai(openai.OpenAI(max_retries=0))
    get_weather("Paris")
    answer = client.chat.completions.create(
        model="gpt-4o-mini",
        messages=[
            {"role": "system", "content": _weather.SYSTEM},
            {"role": "user", "content": question},
        ],
    )
    with suppress(openai.RateLimitError):
        client.chat.completions.create(
            model="gpt-4o-mini", messages=[{"role": "user", "content": "More [rate limit]"}]
        )
    return answer.choices[0].message.content or ""


def main() -> None:
    client = Client()
    weather_agent(_weather.QUESTION, langsmith_extra={"client": client})
    client.flush()


if __name__ == "__main__":
    main()
