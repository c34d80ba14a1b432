// Vercel AI SDK 7: the GenAI integration ("genai", or "extras" with every option on) or the
// older ai.* spans ("legacy").
import { createOpenAI } from '@ai-sdk/openai';
import { LegacyOpenTelemetry, OpenTelemetry } from '@ai-sdk/otel';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { envDetector, detectResources } from '@opentelemetry/resources';
import { embed, generateText, isStepCount, registerTelemetry, streamText, tool } from 'ai';
import { z } from 'zod';

const provider = new NodeTracerProvider({
  resource: detectResources({ detectors: [envDetector] }),
  spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
});
provider.register();
const kind = process.argv[2];
const everything = {
  usage: true,
  providerMetadata: true,
  embedding: true,
  reranking: true,
  runtimeContext: true,
  headers: true,
  toolChoice: true,
  schema: true,
  agentSpanName: 'functionId',
};
registerTelemetry(
  kind === 'legacy'
    ? new LegacyOpenTelemetry()
    : new OpenTelemetry(kind === 'extras' ? everything : {}),
);

const openai = createOpenAI({ baseURL: process.env.OPENAI_BASE_URL, apiKey: 'sk-fake' });
const model = openai('gpt-4o-mini');
const telemetry = { functionId: 'weather-agent' };
const runtimeContext = { sessionId: 'session-ai7-1', userId: 'user-7' };
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
  stopWhen: isStepCount(3),
  telemetry: { ...telemetry, includeRuntimeContext: { sessionId: true, userId: true } },
  runtimeContext,
});
const stream = streamText({
  model: openai.chat('gpt-4o-mini'),
  prompt: 'What is the weather in Paris?',
  telemetry,
});
for await (const part of stream.textStream) void part;
await embed({
  model: openai.embeddingModel('text-embedding-3-small'),
  value: 'sunny day',
  telemetry: { functionId: 'weather-embed' },
});
try {
  await generateText({
    model,
    prompt: 'What is the weather in Paris? [rate limit]',
    maxRetries: 0,
    telemetry,
  });
} catch (error) {
  console.log(error.name);
}
await provider.shutdown();
