# pip install anthropic openinference-instrumentation-anthropic opentelemetry-sdk opentelemetry-exporter-otlp-proto-http
from anthropic import Anthropic
from openinference.instrumentation import using_attributes
from openinference.instrumentation.anthropic import AnthropicInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
AnthropicInstrumentor().instrument(tracer_provider=provider)

with using_attributes(session_id="session-1", user_id="user-7"):
    Anthropic().messages.create(
        model="claude-sonnet-4-5",
        max_tokens=500,
        messages=[{"role": "user", "content": "Say hello."}],
    )

provider.shutdown()
