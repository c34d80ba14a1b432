"""Semantic Kernel's own tracing: an agent with a tool, a failed run."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

import _tracing
import _weather
from openai import AsyncOpenAI
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from semantic_kernel.agents import ChatCompletionAgent
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion
from semantic_kernel.functions import kernel_function


class WeatherPlugin:
    """One tool."""

    @kernel_function
    def get_weather(self, city: str) -> str:
        """The weather in a city."""
        return _weather.get_weather(city)


async def run() -> None:
    service = OpenAIChatCompletion(
        ai_model_id="gpt-4o-mini", async_client=AsyncOpenAI(max_retries=0)
    )
    agent = ChatCompletionAgent(
        service=service,
        name="weather_agent",
        instructions=_weather.SYSTEM,
        plugins=[WeatherPlugin()],
    )
    await agent.get_response(messages=_weather.QUESTION)
    with suppress(Exception):
        await agent.get_response(messages=_tracing.FAILING)


def main() -> None:
    provider = _tracing.start()
    # Semantic Kernel writes messages to its log.
    loggers = LoggerProvider()
    loggers.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
    diagnostics = logging.getLogger("semantic_kernel.utils.telemetry")
    diagnostics.addHandler(LoggingHandler(logger_provider=loggers))
    diagnostics.setLevel(logging.INFO)
    asyncio.run(run())
    loggers.shutdown()
    provider.shutdown()


if __name__ == "__main__":
    main()
