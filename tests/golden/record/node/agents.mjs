// OpenInference's instrumentation of the OpenAI Agents SDK for Node.js.
import { setSession, setUser } from '@arizeai/openinference-core';
import { OpenAIAgentsInstrumentation } from '@arizeai/openinference-instrumentation-openai-agents';
import * as agents from '@openai/agents';
import { context } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { NodeSDK } from '@opentelemetry/sdk-node';
import OpenAI from 'openai';
import { z } from 'zod';

const sdk = new NodeSDK({ traceExporter: new OTLPTraceExporter() });
sdk.start();
new OpenAIAgentsInstrumentation().manuallyInstrument(agents);
agents.setDefaultOpenAIClient(new OpenAI({ maxRetries: 0 }));

const getWeather = agents.tool({
  name: 'get_weather',
  description: 'The weather in a city.',
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => `18 degrees and sunny in ${city}`,
});
const agent = new agents.Agent({
  name: 'weather_agent',
  instructions: 'You are a helpful weather assistant.',
  model: 'gpt-4o-mini',
  tools: [getWeather],
});
const caller = setUser(setSession(context.active(), { sessionId: 'session-1' }), {
  userId: 'user-7',
});
await context.with(caller, async () => {
  await agents.run(agent, 'What is the weather in Paris?');
  await agents.run(agent, 'What is the weather in Paris? [rate limit]').catch((error) => {
    console.log(error.name);
  });
});
await agents.getGlobalTraceProvider().forceFlush();
await sdk.shutdown();
