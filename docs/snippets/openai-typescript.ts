// npm install openai @arizeai/openinference-core @arizeai/openinference-instrumentation-openai @opentelemetry/api @opentelemetry/sdk-node @opentelemetry/exporter-trace-otlp-proto
import { setSession, setUser } from "@arizeai/openinference-core";
import { OpenAIInstrumentation } from "@arizeai/openinference-instrumentation-openai";
import { context } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { NodeSDK } from "@opentelemetry/sdk-node";
import OpenAI from "openai";

const instrumentation = new OpenAIInstrumentation();
instrumentation.manuallyInstrument(OpenAI);
const sdk = new NodeSDK({
  traceExporter: new OTLPTraceExporter(),
  instrumentations: [instrumentation],
});
sdk.start();

const caller = setUser(setSession(context.active(), { sessionId: "session-1" }), {
  userId: "user-7",
});
await context.with(caller, () =>
  new OpenAI().chat.completions.create({
    model: "gpt-5-mini",
    messages: [{ role: "user", content: "Say hello." }],
  }),
);

await sdk.shutdown();
