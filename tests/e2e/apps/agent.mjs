// An application as its owner wrote it: OpenTelemetry's own SDK, nothing of Spanwise in it.
import { SpanKind, trace } from "@opentelemetry/api";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { NodeSDK } from "@opentelemetry/sdk-node";

const protocol = process.argv[2] === "grpc" ? "grpc" : "proto";
const { OTLPTraceExporter } = await import(`@opentelemetry/exporter-trace-otlp-${protocol}`);
const sdk = new NodeSDK({
  resource: resourceFromAttributes({
    "service.name": "shop",
    "deployment.environment.name": "test",
  }),
  traceExporter: new OTLPTraceExporter(),
});
sdk.start();

const tracer = trace.getTracer("shop");
tracer.startActiveSpan(
  "invoke_agent concierge",
  {
    attributes: {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "concierge",
      "session.id": "s-1",
      "user.id": "u-1",
    },
  },
  (agent) => {
    tracer
      .startSpan("chat gpt-4o", {
        kind: SpanKind.CLIENT,
        attributes: {
          "gen_ai.operation.name": "chat",
          "gen_ai.provider.name": "openai",
          "gen_ai.request.model": "gpt-4o",
          "gen_ai.response.model": "gpt-4o",
          "gen_ai.usage.input_tokens": 1000,
          "gen_ai.usage.output_tokens": 200,
        },
      })
      .end();
    tracer
      .startSpan("execute_tool find_room", {
        attributes: { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find_room" },
      })
      .end();
    agent.end();
  },
);
await sdk.shutdown();
