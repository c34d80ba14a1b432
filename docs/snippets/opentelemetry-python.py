# pip install opentelemetry-sdk opentelemetry-exporter-otlp-proto-http
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
tracer = provider.get_tracer("my-app")

with tracer.start_as_current_span("invoke_agent greeter") as agent:
    agent.set_attribute("gen_ai.operation.name", "invoke_agent")
    agent.set_attribute("gen_ai.agent.name", "greeter")
    agent.set_attribute("gen_ai.conversation.id", "session-1")
    agent.set_attribute("user.id", "user-7")
    with tracer.start_as_current_span("chat gpt-5-mini") as call:
        call.set_attribute("gen_ai.operation.name", "chat")
        call.set_attribute("gen_ai.provider.name", "openai")
        call.set_attribute("gen_ai.request.model", "gpt-5-mini")
        call.set_attribute("gen_ai.usage.input_tokens", 1200)
        call.set_attribute("gen_ai.usage.output_tokens", 80)

provider.shutdown()
