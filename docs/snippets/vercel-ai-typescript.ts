// npm install ai @ai-sdk/openai @ai-sdk/otel @opentelemetry/sdk-node @opentelemetry/exporter-trace-otlp-proto zod
import { openai } from "@ai-sdk/openai";
import { OpenTelemetry } from "@ai-sdk/otel";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { NodeSDK } from "@opentelemetry/sdk-node";
import { generateText, isStepCount, registerTelemetry, tool } from "ai";
import { z } from "zod";

const sdk = new NodeSDK({ traceExporter: new OTLPTraceExporter() });
sdk.start();
registerTelemetry(new OpenTelemetry({ runtimeContext: true, usage: true }));

const getWeather = tool({
  description: "Return the weather in a city.",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `18 degrees and sunny in ${city}`,
});
await generateText({
  model: openai("gpt-5-mini"),
  prompt: "What is the weather in Paris?",
  tools: { get_weather: getWeather },
  stopWhen: isStepCount(3),
  runtimeContext: { sessionId: "session-1", userId: "user-7" },
  telemetry: {
    functionId: "weather_agent",
    includeRuntimeContext: { sessionId: true, userId: true },
  },
});

await sdk.shutdown();
