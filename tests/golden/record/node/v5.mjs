// Vercel AI SDK 5: experimental_telemetry with the ai.* spans.
import { createOpenAI } from '@ai-sdk/openai';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { detectResources, envDetector } from '@opentelemetry/resources';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { embed, generateText, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';

const provider = new NodeTracerProvider({
  resource: detectResources({ detectors: [envDetector] }),
  spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
});
provider.register();

const openai = createOpenAI({ baseURL: process.env.OPENAI_BASE_URL, apiKey: 'sk-fake' });
const model = openai('gpt-4o-mini');
const experimental_telemetry = {
  isEnabled: true,
  functionId: 'weather-agent',
  metadata: { sessionId: 'session-ai5-1', userId: 'user-7', tags: ['weather', 'demo'] },
};
const getWeather = tool({
  description: 'The weather in a city.',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `18 degrees and sunny in ${city}`,
});

await generateText({
  model,
  system: 'You are a helpful weather assistant.',
  prompt: 'What is the weather in Paris?',
  tools: { get_weather: getWeather },
  stopWhen: stepCountIs(3),
  experimental_telemetry,
});
const stream = streamText({
  model: openai.chat('gpt-4o-mini'),
  prompt: 'What is the weather in Paris?',
  experimental_telemetry,
});
for await (const part of stream.textStream) void part;
await embed({
  model: openai.textEmbeddingModel('text-embedding-3-small'),
  value: 'sunny day',
  experimental_telemetry,
});
try {
  await generateText({
    model,
    prompt: 'What is the weather in Paris? [rate limit]',
    maxRetries: 0,
    experimental_telemetry,
  });
} catch (error) {
  console.log(error.name);
}
await provider.shutdown();
