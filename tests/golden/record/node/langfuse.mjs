// Langfuse's SDK for Node.js: observations around an instrumented OpenAI client.
import { observeOpenAI } from '@langfuse/openai';
import { LangfuseSpanProcessor } from '@langfuse/otel';
import { propagateAttributes, startActiveObservation } from '@langfuse/tracing';
import { NodeSDK } from '@opentelemetry/sdk-node';
import OpenAI from 'openai';

const sdk = new NodeSDK({
  spanProcessors: [
    new LangfuseSpanProcessor({
      publicKey: 'pk',
      secretKey: 'sk',
      baseUrl: process.env.RECEIVER_URL,
      environment: 'staging',
    }),
  ],
});
sdk.start();
const client = observeOpenAI(new OpenAI({ maxRetries: 0 }));
const tool = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'The weather in a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};
const model = 'gpt-4o-mini';
const question = 'What is the weather in Paris?';
await propagateAttributes({ sessionId: 'session-1', userId: 'user-7' }, () =>
  startActiveObservation(
    'weather_agent',
    async (agent) => {
      const messages = [{ role: 'user', content: question }];
      agent.update({ input: question });
      await client.chat.completions.create({ model, messages, tools: [tool] });
      await startActiveObservation(
        'get_weather',
        async (span) => span.update({ input: { city: 'Paris' }, output: '18 degrees and sunny' }),
        { asType: 'tool' },
      );
      await client.chat.completions.create({ model, messages });
      const failing = [{ role: 'user', content: `${question} [rate limit]` }];
      await client.chat.completions.create({ model, messages: failing }).catch((error) => {
        console.log(error.name);
      });
      agent.update({ output: 'It is 18 degrees and sunny in Paris.' });
    },
    { asType: 'agent' },
  ),
);
await sdk.shutdown();
