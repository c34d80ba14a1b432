"""Logfire's instrumentation of the OpenAI client, without Pydantic AI."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import logfire
from _tracing import FAILING, SESSION, USER
from _weather import QUESTION, SYSTEM, TOOL
from openai import OpenAI

MODEL = "gpt-4o-mini"


def main() -> None:
    # By default Logfire scrubs values with names such as "session".
    logfire.configure(send_to_logfire=False, console=False, scrubbing=False)
    logfire.instrument_openai()
    client = OpenAI(max_retries=0)
    messages: list[Any] = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": QUESTION},
    ]
    known = {"session.id": SESSION, "user.id": USER, "gen_ai.agent.name": "weather_agent"}
    with logfire.span("handle question", **known):
        client.chat.completions.create(model=MODEL, messages=messages, tools=[TOOL])
        client.responses.create(model=MODEL, instructions=SYSTEM, input=QUESTION)
        client.embeddings.create(model="text-embedding-3-small", input="sunny day")
        with suppress(Exception):
            failing: Any = [{"role": "user", "content": FAILING}]
            client.chat.completions.create(model=MODEL, messages=failing)
    logfire.shutdown()


if __name__ == "__main__":
    main()
