# pip install langchain langchain-openai openinference-instrumentation-langchain opentelemetry-sdk opentelemetry-exporter-otlp-proto-http
from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from openinference.instrumentation import using_attributes
from openinference.instrumentation.langchain import LangChainInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
LangChainInstrumentor().instrument(tracer_provider=provider)


def get_weather(city: str) -> str:
    """Return the weather in a city."""
    return f"18 degrees and sunny in {city}"


agent = create_agent(ChatOpenAI(model="gpt-5-mini"), tools=[get_weather], name="weather_agent")
with using_attributes(session_id="session-1", user_id="user-7"):
    agent.invoke({"messages": [{"role": "user", "content": "What is the weather in Paris?"}]})

provider.shutdown()
