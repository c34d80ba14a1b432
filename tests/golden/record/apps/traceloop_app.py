"""Traceloop's SDK (OpenLLMetry): a workflow, an agent and a tool around a model."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from typing import Any

import _weather
import anthropic
import openai
from traceloop.sdk import Traceloop
from traceloop.sdk.decorators import agent, tool, workflow

MODELS = {"openai": "gpt-4o-mini", "anthropic": "claude-sonnet-4-5"}


@tool(name="get_weather")
def get_weather(city: str) -> str:
    return _weather.get_weather(city)


@agent(name="weather_agent")
def ask_openai(question: str) -> str:
    client = openai.OpenAI(max_retries=0, timeout=0.5)
    messages: list[Any] = [
        {"role": "system", "content": _weather.SYSTEM},
        {"role": "user", "content": question},
    ]
    tools: list[Any] = [_weather.TOOL]
    first = client.chat.completions.create(
        model=MODELS["openai"], messages=messages, tools=tools, temperature=0.2
    )
    message = first.choices[0].message
    messages.append(message.model_dump(exclude_none=True))
    for call in message.tool_calls or []:
        arguments = json.loads(call.function.arguments)  # type: ignore[union-attr]
        result = get_weather(**arguments)
        messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    last = client.chat.completions.create(model=MODELS["openai"], messages=messages, tools=tools)
    client.embeddings.create(model="text-embedding-3-small", input="sunny day")
    return last.choices[0].message.content or ""


@agent(name="weather_agent")
def ask_anthropic(question: str) -> str:
    client = anthropic.Anthropic()
    tools: list[Any] = [
        {
            "name": "get_weather",
            "description": "The weather in a city.",
            "input_schema": _weather.TOOL_SCHEMA,
        }
    ]
    messages: list[Any] = [{"role": "user", "content": question}]
    first = client.messages.create(
        model=MODELS["anthropic"],
        max_tokens=200,
        system=_weather.SYSTEM,
        messages=messages,
        tools=tools,
    )
    block: Any = first.content[0]
    result = get_weather(**block.input)
    messages.append({"role": "assistant", "content": [block.model_dump(exclude_none=True)]})
    answer = {"type": "tool_result", "tool_use_id": block.id, "content": result}
    messages.append({"role": "user", "content": [answer]})
    last = client.messages.create(
        model=MODELS["anthropic"],
        max_tokens=200,
        system=_weather.SYSTEM,
        messages=messages,
        tools=tools,
    )
    text: Any = last.content[0]
    return str(text.text)


@workflow(name="weather_workflow")
def run(question: str, kind: str) -> str:
    Traceloop.set_association_properties({"session_id": "session-tl-1", "user_id": "user-7"})
    if kind == "openai":
        return ask_openai(question)
    if kind == "anthropic":
        return ask_anthropic(question)
    for marker in ("[time out]", "[rate limit]"):
        with suppress(openai.APITimeoutError):
            ask_openai(f"{question} {marker}")
    return ""


def main() -> None:
    Traceloop.init(
        app_name="weather-assistant",
        api_endpoint=os.environ["RECEIVER_URL"],
        disable_batch=True,
        telemetry_enabled=False,
        resource_attributes={"deployment.environment.name": "staging"},
    )
    with suppress(openai.RateLimitError):
        run(_weather.QUESTION, sys.argv[1])


if __name__ == "__main__":
    main()
