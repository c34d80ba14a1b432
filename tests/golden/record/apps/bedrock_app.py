"""OpenInference's instrumentation of Bedrock's Converse API in boto3."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import _tracing
import boto3
from _weather import QUESTION, SYSTEM, TOOL_SCHEMA
from botocore.config import Config
from openinference.instrumentation import using_attributes
from openinference.instrumentation.bedrock import BedrockInstrumentor

MODEL = "anthropic.claude-sonnet-4-5-20250929-v1:0"


def main() -> None:
    provider = _tracing.start()
    BedrockInstrumentor().instrument(tracer_provider=provider)
    client = boto3.client("bedrock-runtime", config=Config(retries={"max_attempts": 0}))
    spec = {
        "name": "get_weather",
        "description": "The weather in a city.",
        "inputSchema": {"json": TOOL_SCHEMA},
    }
    messages: list[Any] = [{"role": "user", "content": [{"text": QUESTION}]}]
    system = [{"text": SYSTEM}]
    tools = {"tools": [{"toolSpec": spec}]}
    with using_attributes(session_id=_tracing.SESSION, user_id=_tracing.USER):
        client.converse(modelId=MODEL, system=system, messages=messages, toolConfig=tools)
        client.converse(modelId=MODEL, system=system, messages=messages)
        with suppress(Exception):
            failing = {"role": "user", "content": [{"text": _tracing.FAILING}]}
            client.converse(modelId=MODEL, messages=[failing])
    provider.shutdown()


if __name__ == "__main__":
    main()
