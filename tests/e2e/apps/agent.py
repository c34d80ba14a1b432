"""An unmodified application: OpenTelemetry's SDK, without any code of Spanwise."""

import logging
import sys

from opentelemetry import metrics, trace
from opentelemetry._logs import set_logger_provider
from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

if sys.argv[1] == "grpc":
    from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter
    from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
else:
    from opentelemetry.exporter.otlp.proto.http._log_exporter import (  # type: ignore[assignment]
        OTLPLogExporter,
    )
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import (  # type: ignore[assignment]
        OTLPMetricExporter,
    )
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # type: ignore[assignment]
        OTLPSpanExporter,
    )

resource = Resource.create({"service.name": "shop", "deployment.environment.name": "test"})
tracers = TracerProvider(resource=resource)
tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(tracers)
loggers = LoggerProvider(resource=resource)
loggers.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
set_logger_provider(loggers)
meters = MeterProvider([PeriodicExportingMetricReader(OTLPMetricExporter())], resource)
metrics.set_meter_provider(meters)

log = logging.getLogger("shop")
log.addHandler(LoggingHandler(logger_provider=loggers))
log.setLevel(logging.INFO)
tokens = metrics.get_meter("shop").create_histogram("gen_ai.client.token.usage")
tracer = trace.get_tracer("shop")

with tracer.start_as_current_span(
    "invoke_agent concierge",
    attributes={
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "concierge",
        "session.id": "s-1",
        "user.id": "u-1",
    },
):
    with tracer.start_as_current_span(
        "chat gpt-4o",
        kind=trace.SpanKind.CLIENT,
        attributes={
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": "gpt-4o",
            "gen_ai.response.model": "gpt-4o",
            "gen_ai.usage.input_tokens": 1000,
            "gen_ai.usage.output_tokens": 200,
        },
    ):
        tokens.record(1000, {"gen_ai.token.type": "input"})
    with tracer.start_as_current_span(
        "execute_tool find_room",
        attributes={"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find_room"},
    ):
        log.warning("no room with a view")

for provider in (tracers, loggers, meters):
    provider.shutdown()
