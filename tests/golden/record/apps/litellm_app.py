"""LiteLLM's own OpenTelemetry callback."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

import litellm
from _tracing import FAILING, SESSION, USER
from _weather import QUESTION, SYSTEM, TOOL

MODEL = "openai/gpt-4o-mini"


def caller() -> dict[str, Any]:
    """The user and the session; LiteLLM takes a call with the same dictionary for a repetition."""
    return {"user": USER, "metadata": {"session_id": SESSION}}


def main() -> None:
    litellm.callbacks = ["otel"]
    messages: list[Any] = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": QUESTION},
    ]
    litellm.completion(model=MODEL, messages=messages, tools=[TOOL], **caller())
    litellm.completion(model=MODEL, messages=messages, **caller())
    litellm.embedding(model="openai/text-embedding-3-small", input=["sunny day"], **caller())
    with suppress(Exception):
        failing = [{"role": "user", "content": FAILING}]
        litellm.completion(model=MODEL, messages=failing, num_retries=0, **caller())
    # The callback runs in a thread of its own, and exports every five seconds.
    time.sleep(7)


if __name__ == "__main__":
    main()
