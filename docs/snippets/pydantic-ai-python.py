# pip install "pydantic-ai-slim[openai]" opentelemetry-sdk opentelemetry-exporter-otlp-proto-http
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from pydantic_ai import Agent

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(provider)
Agent.instrument_all()

agent = Agent("openai-chat:gpt-5-mini", name="weather_agent")


@agent.tool_plain
def get_weather(city: str) -> str:
    """Return the weather in a city."""
    return f"18 degrees and sunny in {city}"


agent.run_sync("What is the weather in Paris?", conversation_id="session-1")
provider.shutdown()
