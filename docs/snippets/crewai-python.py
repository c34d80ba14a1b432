# pip install crewai openinference-instrumentation-crewai openinference-instrumentation-openai opentelemetry-sdk opentelemetry-exporter-otlp-proto-http
from crewai import LLM, Agent, Crew, Task
from openinference.instrumentation import using_attributes
from openinference.instrumentation.crewai import CrewAIInstrumentor
from openinference.instrumentation.openai import OpenAIInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
CrewAIInstrumentor().instrument(tracer_provider=provider)
OpenAIInstrumentor().instrument(tracer_provider=provider)

greeter = Agent(
    role="Greeter",
    goal="Greet people.",
    backstory="You are friendly.",
    llm=LLM(model="openai/gpt-5-mini"),
)
task = Task(description="Say hello.", expected_output="A greeting.", agent=greeter)
with using_attributes(session_id="session-1", user_id="user-7"):
    Crew(agents=[greeter], tasks=[task]).kickoff()

provider.shutdown()
