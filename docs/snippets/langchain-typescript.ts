// npm install langchain @langchain/core @langchain/openai @arizeai/openinference-core @arizeai/openinference-instrumentation-langchain @opentelemetry/api @opentelemetry/sdk-node @opentelemetry/exporter-trace-otlp-proto zod
import { setSession, setUser } from "@arizeai/openinference-core";
import { LangChainInstrumentation } from "@arizeai/openinference-instrumentation-langchain";
import * as CallbackManager from "@langchain/core/callbacks/manager";
import { ChatOpenAI } from "@langchain/openai";
import { context } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { NodeSDK } from "@opentelemetry/sdk-node";
import { createAgent, tool } from "langchain";
import { z } from "zod";

const instrumentation = new LangChainInstrumentation();
instrumentation.manuallyInstrument(CallbackManager);
const sdk = new NodeSDK({
  traceExporter: new OTLPTraceExporter(),
  instrumentations: [instrumentation],
});
sdk.start();

const getWeather = tool(({ city }) => `18 degrees and sunny in ${city}`, {
  name: "get_weather",
  description: "Return the weather in a city.",
  schema: z.object({ city: z.string() }),
});
const agent = createAgent({
  name: "weather_agent",
  model: new ChatOpenAI({ model: "gpt-5-mini" }),
  tools: [getWeather],
});
const caller = setUser(setSession(context.active(), { sessionId: "session-1" }), {
  userId: "user-7",
});
await context.with(caller, () =>
  agent.invoke({ messages: [{ role: "user", content: "What is the weather in Paris?" }] }),
);

await sdk.shutdown();
