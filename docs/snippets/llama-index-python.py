# pip install llama-index-core llama-index-llms-openai openinference-instrumentation-llama-index opentelemetry-sdk opentelemetry-exporter-otlp-proto-http
import asyncio

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.llms.openai import OpenAI
from openinference.instrumentation import using_attributes
from openinference.instrumentation.llama_index import LlamaIndexInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
LlamaIndexInstrumentor().instrument(tracer_provider=provider)


def get_weather(city: str) -> str:
    """Return the weather in a city."""
    return f"18 degrees and sunny in {city}"


async def main() -> None:
    agent = FunctionAgent(
        name="weather_agent", tools=[get_weather], llm=OpenAI(model="gpt-5-mini"), streaming=False
    )
    with using_attributes(session_id="session-1", user_id="user-7"):
        await agent.run("What is the weather in Paris?")


asyncio.run(main())
provider.shutdown()
