// OpenInference's instrumentation of the Anthropic SDK for Node.js.
import Anthropic from '@anthropic-ai/sdk';
import { setSession, setUser } from '@arizeai/openinference-core';
import { AnthropicInstrumentation } from '@arizeai/openinference-instrumentation-anthropic';
import { context } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { NodeSDK } from '@opentelemetry/sdk-node';

const instrumentation = new AnthropicInstrumentation();
instrumentation.manuallyInstrument(Anthropic);
const sdk = new NodeSDK({
  traceExporter: new OTLPTraceExporter(),
  instrumentations: [instrumentation],
});
sdk.start();

const client = new Anthropic({ maxRetries: 0 });
const common = { model: 'claude-sonnet-4-5', max_tokens: 500 };
const messages = [{ role: 'user', content: 'What is the weather in Paris?' }];
const tools = [
  {
    name: 'get_weather',
    description: 'The weather in a city.',
    input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
];
const caller = setUser(setSession(context.active(), { sessionId: 'session-1' }), {
  userId: 'user-7',
});
await context.with(caller, async () => {
  const system = 'You are a helpful weather assistant.';
  await client.messages.create({ ...common, system, messages, tools });
  const stream = await client.messages.create({ ...common, system, messages, stream: true });
  for await (const event of stream) void event;
  const failing = [{ role: 'user', content: 'What is the weather in Paris? [rate limit]' }];
  await client.messages.create({ ...common, messages: failing }).catch((error) => {
    console.log(error.name);
  });
});
await sdk.shutdown();
