"""Laminar's SDK, exporting OTLP/HTTP."""

from __future__ import annotations

import os

import _weather
import openai
from lmnr import Laminar, observe


@observe(name="get_weather", span_type="TOOL")
def get_weather(city: str) -> str:
    return _weather.get_weather(city)


@observe(name="weather_agent", session_id="session-lm-1", user_id="user-7")
def weather_agent(question: str) -> str:
    get_weather("Paris")
    answer = openai.OpenAI(max_retries=0).chat.completions.create(
        model="gpt-4o-mini",
        messages=[
            {"role": "system", "content": _weather.SYSTEM},
            {"role": "user", "content": question},
        ],
    )
    return answer.choices[0].message.content or ""


def main() -> None:
    port = int(os.environ["RECEIVER_URL"].rsplit(":", 1)[1])
    Laminar.initialize(
        project_api_key="lmnr-fake",
        base_url="http://127.0.0.1",
        http_port=port,
        force_http=True,
        disable_batch=True,
    )
    weather_agent(_weather.QUESTION)
    Laminar.shutdown()


if __name__ == "__main__":
    main()
