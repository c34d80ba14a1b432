"""OpenInference's instrumentation of the Groq client."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

import _tracing
from _weather import QUESTION, SYSTEM, TOOL
from groq import Groq
from openinference.instrumentation import using_attributes
from openinference.instrumentation.groq import GroqInstrumentor

MODEL = "llama-3.3-70b-versatile"


def main() -> None:
    provider = _tracing.start()
    GroqInstrumentor().instrument(tracer_provider=provider)
    client = Groq(api_key="fake", base_url=os.environ["MODEL_SERVER"], max_retries=0)
    messages: list[Any] = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": QUESTION},
    ]
    with using_attributes(session_id=_tracing.SESSION, user_id=_tracing.USER):
        client.chat.completions.create(model=MODEL, messages=messages, tools=[TOOL])
        client.chat.completions.create(model=MODEL, messages=messages)
        with suppress(Exception):
            failing = {"role": "user", "content": _tracing.FAILING}
            client.chat.completions.create(model=MODEL, messages=[failing])
    provider.shutdown()


if __name__ == "__main__":
    main()
