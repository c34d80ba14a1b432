"""OpenLIT's instrumentation of the OpenAI client."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import openlit
from _tracing import FAILING, SESSION, USER
from _weather import QUESTION, SYSTEM, TOOL
from openai import OpenAI
from opentelemetry import trace

MODEL = "gpt-4o-mini"


def main() -> None:
    openlit.init(application_name="weather-assistant", environment="staging", disable_metrics=True)
    client = OpenAI(max_retries=0)
    messages: list[Any] = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": QUESTION},
    ]
    with trace.get_tracer("app").start_as_current_span("handle question") as span:
        span.set_attribute("session.id", SESSION)
        span.set_attribute("user.id", USER)
        client.chat.completions.create(model=MODEL, messages=messages, tools=[TOOL])
        client.responses.create(model=MODEL, instructions=SYSTEM, input=QUESTION)
        client.embeddings.create(model="text-embedding-3-small", input="sunny day")
        with suppress(Exception):
            failing: Any = [{"role": "user", "content": FAILING}]
            client.chat.completions.create(model=MODEL, messages=failing)
    trace.get_tracer_provider().shutdown()


if __name__ == "__main__":
    main()
