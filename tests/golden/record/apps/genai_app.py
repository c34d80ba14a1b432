"""OpenInference's instrumentation of Google's Gen AI client: a tool call, an answer, a failure."""

from __future__ import annotations

from contextlib import suppress

import _tracing
from _weather import QUESTION, SYSTEM, TOOL_SCHEMA
from google import genai
from google.genai import types
from openinference.instrumentation import using_attributes
from openinference.instrumentation.google_genai import GoogleGenAIInstrumentor

MODEL = "gemini-2.5-flash"


def main() -> None:
    provider = _tracing.start()
    GoogleGenAIInstrumentor().instrument(tracer_provider=provider)
    client = genai.Client()
    declaration = types.FunctionDeclaration(
        name="get_weather", description="The weather in a city.", parameters=TOOL_SCHEMA
    )
    config = types.GenerateContentConfig(
        system_instruction=SYSTEM, tools=[types.Tool(function_declarations=[declaration])]
    )
    with using_attributes(session_id=_tracing.SESSION, user_id=_tracing.USER):
        client.models.generate_content(model=MODEL, contents=QUESTION, config=config)
        client.models.generate_content(model=MODEL, contents=QUESTION)
        with suppress(Exception):
            client.models.generate_content(model=MODEL, contents=_tracing.FAILING)
    provider.shutdown()


if __name__ == "__main__":
    main()
