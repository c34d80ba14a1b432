"""A plain OpenTelemetry SDK: exception, error status, links, lists, maps and feature flags."""

from __future__ import annotations

import logging

from openfeature import api
from openfeature.contrib.hook.opentelemetry import TracingHook
from openfeature.evaluation_context import EvaluationContext
from openfeature.provider.in_memory_provider import InMemoryFlag, InMemoryProvider
from opentelemetry import trace
from opentelemetry._logs import set_logger_provider
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Link, SpanKind, Status, StatusCode


def main() -> None:
    resource = Resource({"service.name": "checkout"})
    tracer_provider = TracerProvider(resource=resource)
    tracer_provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(tracer_provider)
    logger_provider = LoggerProvider(resource=resource)
    logger_provider.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
    set_logger_provider(logger_provider)
    log = logging.getLogger("checkout")
    log.addHandler(LoggingHandler(logger_provider=logger_provider))

    flag = InMemoryFlag("treatment", {"control": "short", "treatment": "detailed"})
    api.set_provider(InMemoryProvider({"answer-style": flag}))
    api.add_hooks([TracingHook()])
    flags = api.get_client()

    tracer = trace.get_tracer("checkout", "0.3.0")
    with tracer.start_as_current_span("warm up") as earlier:
        earlier.set_attribute("warm", True)
    with tracer.start_as_current_span(
        "POST /checkout", kind=SpanKind.SERVER, links=[Link(earlier.get_span_context(), {"n": 1})]
    ) as root:
        style = flags.get_string_value(
            "answer-style", "short", EvaluationContext(targeting_key="user-7")
        )
        root.set_attribute("answer.style", style)
        root.set_attribute("cart.items", ["tea", "cup"])
        root.set_attribute("cart.prices", [3.5, 8.25])
        root.set_attribute("cart.count", 2)
        with tracer.start_as_current_span("assign variant") as span:
            span.set_attribute("feature_flag.key", "new-checkout")
            span.set_attribute("feature_flag.result.variant", "control")
            span.set_attribute("feature_flag.context.id", "user-7")
        try:
            with tracer.start_as_current_span("charge card", kind=SpanKind.CLIENT) as span:
                span.set_attribute("http.response.status_code", 503)
                raise ConnectionError("card gateway unavailable")
        except ConnectionError:
            log.exception("charge failed", extra={"attempt": 1})
        root.set_status(Status(StatusCode.ERROR, "checkout failed"))
    log.warning("no active span here")
    tracer_provider.shutdown()
    logger_provider.shutdown()


if __name__ == "__main__":
    main()
