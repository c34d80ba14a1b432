"""OpenInference's instrumentation of the Mistral client."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

import _tracing
from _weather import QUESTION, SYSTEM, TOOL
from mistralai.client import Mistral
from openinference.instrumentation import using_attributes
from openinference.instrumentation.mistralai import MistralAIInstrumentor

MODEL = "mistral-small-latest"


def main() -> None:
    provider = _tracing.start()
    MistralAIInstrumentor().instrument(tracer_provider=provider)
    client = Mistral(api_key="fake", server_url=os.environ["MODEL_SERVER"])
    messages: list[Any] = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": QUESTION},
    ]
    with using_attributes(session_id=_tracing.SESSION, user_id=_tracing.USER):
        client.chat.complete(model=MODEL, messages=messages, tools=[TOOL])
        client.chat.complete(model=MODEL, messages=messages)
        with suppress(Exception):
            failing = {"role": "user", "content": _tracing.FAILING}
            client.chat.complete(model=MODEL, messages=[failing])
    provider.shutdown()


if __name__ == "__main__":
    main()
