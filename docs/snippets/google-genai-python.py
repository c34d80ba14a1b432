# pip install google-genai openinference-instrumentation-google-genai opentelemetry-sdk opentelemetry-exporter-otlp-proto-http
from google import genai
from openinference.instrumentation import using_attributes
from openinference.instrumentation.google_genai import GoogleGenAIInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
GoogleGenAIInstrumentor().instrument(tracer_provider=provider)

client = genai.Client()
with using_attributes(session_id="session-1", user_id="user-7"):
    client.models.generate_content(model="gemini-2.5-flash", contents="Say hello.")

provider.shutdown()
