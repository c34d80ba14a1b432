# pip install litellm openinference-instrumentation-litellm opentelemetry-sdk opentelemetry-exporter-otlp-proto-http
import litellm
from openinference.instrumentation import using_attributes
from openinference.instrumentation.litellm import LiteLLMInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
LiteLLMInstrumentor().instrument(tracer_provider=provider)

with using_attributes(session_id="session-1", user_id="user-7"):
    litellm.completion(
        model="openai/gpt-5-mini",
        messages=[{"role": "user", "content": "Say hello."}],
    )

provider.shutdown()
