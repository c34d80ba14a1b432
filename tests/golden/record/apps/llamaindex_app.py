"""OpenInference's instrumentation of LlamaIndex: an agent with a tool, a failed call."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import _tracing
from _weather import QUESTION, SYSTEM, get_weather
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.llms.openai import OpenAI
from openinference.instrumentation import using_attributes
from openinference.instrumentation.llama_index import LlamaIndexInstrumentor


async def run() -> None:
    llm = OpenAI(model="gpt-4o-mini", max_retries=0)
    agent = FunctionAgent(
        name="weather_agent", system_prompt=SYSTEM, tools=[get_weather], llm=llm, streaming=False
    )
    with using_attributes(session_id=_tracing.SESSION, user_id=_tracing.USER):
        await agent.run(QUESTION)
        with suppress(Exception):
            await llm.acomplete(_tracing.FAILING)


def main() -> None:
    provider = _tracing.start()
    LlamaIndexInstrumentor().instrument(tracer_provider=provider)
    asyncio.run(run())
    provider.shutdown()


if __name__ == "__main__":
    main()
