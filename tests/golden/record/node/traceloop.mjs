// Traceloop's SDK for Node.js: a workflow, an agent and a tool around an OpenAI client.
import * as traceloop from '@traceloop/node-server-sdk';
import OpenAI from 'openai';

traceloop.initialize({
  appName: 'weather-assistant',
  baseUrl: process.env.RECEIVER_URL,
  apiKey: 'fake',
  disableBatch: true,
  instrumentModules: { openAI: OpenAI },
  silenceInitializationMessage: true,
});
const client = new OpenAI({ maxRetries: 0 });
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
const properties = { session_id: 'session-1', user_id: 'user-7' };
await traceloop.withAssociationProperties(properties, () =>
  traceloop.withWorkflow({ name: 'weather_workflow' }, () =>
    traceloop.withAgent({ name: 'weather_agent' }, async () => {
      const messages = [{ role: 'user', content: question }];
      await client.chat.completions.create({ model, messages, tools: [tool] });
      await traceloop.withTool(
        { name: 'get_weather', inputParameters: [{ city: 'Paris' }] },
        async () => '18 degrees and sunny in Paris',
      );
      await client.chat.completions.create({ model, messages });
      const failing = [{ role: 'user', content: `${question} [rate limit]` }];
      await client.chat.completions.create({ model, messages: failing }).catch((error) => {
        console.log(error.name);
      });
      return 'It is 18 degrees and sunny in Paris.';
    }),
  ),
);
await traceloop.forceFlush();
