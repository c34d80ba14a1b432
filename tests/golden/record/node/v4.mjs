// Vercel AI SDK 4: experimental_telemetry with the ai.* spans.
import { createOpenAI } from '@ai-sdk/openai';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { detectResources, envDetector } from '@opentelemetry/resources';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { embed, generateObject, generateText, streamText, tool } from 'ai';
import { z } from 'zod';

const provider = new NodeTracerProvider({
  resource: detectResources({ detectors: [envDetector] }),
  spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
});
provider.register();

const openai = createOpenAI({
  baseURL: process.env.OPENAI_BASE_URL,
  apiKey: 'sk-fake',
  compatibility: 'strict',
});
const model = openai('gpt-4o-mini');
const experimental_telemetry = {
  isEnabled: true,
  functionId: 'weather-agent',
  metadata: { sessionId: 'session-ai4-1', userId: 'user-7' },
};
const getWeather = tool({
  description: 'The weather in a city.',
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => `18 degrees and sunny in ${city}`,
});

await generateText({
  model,
  system: 'You are a helpful weather assistant.',
  prompt: 'What is the weather in Paris?',
  tools: { get_weather: getWeather },
  maxSteps: 3,
  experimental_telemetry,
});
const stream = streamText({
  model,
  prompt: 'What is the weather in Paris?',
  experimental_telemetry,
});
for await (const part of stream.textStream) void part;
await generateObject({
  model,
  mode: 'tool',
  schema: z.object({ city: z.string() }),
  prompt: 'Which city?',
  experimental_telemetry,
});
await embed({
  model: openai.embedding('text-embedding-3-small'),
  value: 'sunny day',
  experimental_telemetry,
});
await provider.shutdown();
