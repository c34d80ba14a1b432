# pip install langgraph langchain-openai openinference-instrumentation-langchain opentelemetry-sdk opentelemetry-exporter-otlp-proto-http
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from openinference.instrumentation import using_attributes
from openinference.instrumentation.langchain import LangChainInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
LangChainInstrumentor().instrument(tracer_provider=provider)

model = ChatOpenAI(model="gpt-5-mini")


def greet(state: MessagesState) -> MessagesState:
    return {"messages": [model.invoke(state["messages"])]}


graph = StateGraph(MessagesState)
graph.add_node("greet", greet)
graph.add_edge(START, "greet")
with using_attributes(session_id="session-1", user_id="user-7"):
    graph.compile(name="greeter").invoke({"messages": [{"role": "user", "content": "Say hello."}]})

provider.shutdown()
