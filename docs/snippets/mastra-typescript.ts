// npm install @mastra/core @mastra/observability @mastra/otel-exporter @opentelemetry/exporter-trace-otlp-proto @ai-sdk/openai zod
import { openai } from "@ai-sdk/openai";
import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { createTool } from "@mastra/core/tools";
import { Observability } from "@mastra/observability";
import { OtelExporter } from "@mastra/otel-exporter";
import { z } from "zod";

const endpoint = `${process.env.OTEL_EXPORTER_OTLP_ENDPOINT}/v1/traces`;
const protocol = "http/protobuf";
const getWeather = createTool({
  id: "get_weather",
  description: "Return the weather in a city.",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `18 degrees and sunny in ${city}`,
});
const agent = new Agent({
  id: "weather_agent",
  name: "weather_agent",
  instructions: "You report the weather.",
  model: openai("gpt-5-mini"),
  tools: { get_weather: getWeather },
});
const mastra = new Mastra({
  agents: { agent },
  observability: new Observability({
    configs: {
      otel: {
        serviceName: "my-first-agent",
        // The key is read from OTEL_EXPORTER_OTLP_HEADERS.
        exporters: [new OtelExporter({ provider: { custom: { endpoint, protocol } } })],
      },
    },
  }),
});

await mastra.getAgent("agent").generate("What is the weather in Paris?", {
  tracingOptions: { metadata: { threadId: "session-1", userId: "user-7" } },
});
await mastra.shutdown();
