// A plain OpenTelemetry SDK for Node.js, over OTLP/HTTP with JSON or protobuf.
import { OpenFeature, InMemoryProvider } from '@openfeature/server-sdk';
import * as flagHooks from '@openfeature/open-telemetry-hooks';
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { SeverityNumber, logs } from '@opentelemetry/api-logs';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtoExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';

const json = process.argv[2] === 'json';
const resource = resourceFromAttributes({ 'service.name': 'checkout-node' });
const exporter = json ? new JsonExporter() : new ProtoExporter();
const provider = new NodeTracerProvider({
  resource,
  spanProcessors: [new BatchSpanProcessor(exporter)],
});
provider.register();
const loggers = new LoggerProvider({
  resource,
  processors: [new BatchLogRecordProcessor({ exporter: new OTLPLogExporter() })],
});
logs.setGlobalLoggerProvider(loggers);

await OpenFeature.setProviderAndWait(
  new InMemoryProvider({
    'answer-style': {
      variants: { control: 'short', treatment: 'detailed' },
      defaultVariant: 'treatment',
      disabled: false,
    },
  }),
);
const Hook = flagHooks.EventHook ?? flagHooks.SpanEventHook ?? flagHooks.TracingHook;
OpenFeature.addHooks(new Hook());
const flags = OpenFeature.getClient();

const tracer = trace.getTracer('checkout', '0.3.0');
const earlier = tracer.startSpan('warm up');
earlier.end();
await tracer.startActiveSpan(
  'POST /checkout',
  { kind: SpanKind.SERVER, links: [{ context: earlier.spanContext(), attributes: { n: 1 } }] },
  async (root) => {
    await flags.getStringValue('answer-style', 'short', { targetingKey: 'user-7' });
    root.setAttribute('cart.items', ['tea', 'cup']);
    root.setAttribute('cart.prices', [3.5, 8.25]);
    root.setAttribute('cart.count', 2);
    root.setAttribute('cart.gift', false);
    tracer.startActiveSpan('charge card', { kind: SpanKind.CLIENT }, (span) => {
      const error = new Error('card gateway timed out');
      error.name = 'TimeoutError';
      span.recordException(error);
      span.setStatus({ code: SpanStatusCode.ERROR, message: error.message });
      span.setAttribute('error.type', error.name);
      logs.getLogger('checkout').emit({
        severityNumber: SeverityNumber.ERROR,
        severityText: 'ERROR',
        body: { message: 'charge failed', attempt: 1, items: ['tea', 'cup'] },
        attributes: { attempt: 1, cart: { total: 11.75, items: ['tea', 'cup'] } },
      });
      span.end();
    });
    root.setStatus({ code: SpanStatusCode.ERROR });
    root.end();
  },
);
await provider.shutdown();
await loggers.shutdown();
