// npm install @opentelemetry/api @opentelemetry/sdk-node @opentelemetry/exporter-trace-otlp-proto
import { trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { NodeSDK } from "@opentelemetry/sdk-node";

const sdk = new NodeSDK({ traceExporter: new OTLPTraceExporter() });
sdk.start();

const tracer = trace.getTracer("my-app");
tracer.startActiveSpan("invoke_agent greeter", (agent) => {
  agent.setAttribute("gen_ai.operation.name", "invoke_agent");
  agent.setAttribute("gen_ai.agent.name", "greeter");
  agent.setAttribute("gen_ai.conversation.id", "session-1");
  agent.setAttribute("user.id", "user-7");
  tracer.startActiveSpan("chat gpt-5-mini", (call) => {
    call.setAttribute("gen_ai.operation.name", "chat");
    call.setAttribute("gen_ai.provider.name", "openai");
    call.setAttribute("gen_ai.request.model", "gpt-5-mini");
    call.setAttribute("gen_ai.usage.input_tokens", 1200);
    call.setAttribute("gen_ai.usage.output_tokens", 80);
    call.end();
  });
  agent.end();
});

await sdk.shutdown();
