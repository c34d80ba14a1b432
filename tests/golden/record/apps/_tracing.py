"""What apps with an OpenTelemetry instrumentation share: a tracer provider that exports."""

from __future__ import annotations

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

SESSION = "session-1"
USER = "user-7"
FAILING = "What is the weather in Paris? [rate limit]"


def start() -> TracerProvider:
    """Export over OTLP, to where the environment says."""
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    return provider
