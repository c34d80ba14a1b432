"""OpenInference's LangChain instrumentation around an agent graph with a tool."""

from __future__ import annotations

import _weather
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.tools import tool
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_openai import ChatOpenAI
from openinference.instrumentation import using_session
from openinference.instrumentation.langchain import LangChainInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor


@tool
def get_weather(city: str) -> str:
    """The weather in a city."""
    return _weather.get_weather(city)


def main() -> None:
    tracer_provider = TracerProvider()
    tracer_provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    LangChainInstrumentor().instrument(tracer_provider=tracer_provider)
    agent = create_agent(
        ChatOpenAI(model="gpt-4o-mini"),
        tools=[get_weather],
        system_prompt=_weather.SYSTEM,
        name="weather_agent",
    )
    with using_session("session-lc-1"):
        agent.invoke({"messages": [{"role": "user", "content": _weather.QUESTION}]})
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=4))
    store.add_documents([Document("Paris is mild in May.", metadata={"source": "guide"})])
    store.as_retriever(search_kwargs={"k": 1}).invoke("Paris in May")
    tracer_provider.shutdown()


if __name__ == "__main__":
    main()
