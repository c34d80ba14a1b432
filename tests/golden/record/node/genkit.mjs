// Genkit: a flow with a model and a tool, exported over OTLP/HTTP.
import { openAICompatible } from '@genkit-ai/compat-oai';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { genkit, z } from 'genkit';
import { enableTelemetry } from 'genkit/tracing';

const processor = new BatchSpanProcessor(new OTLPTraceExporter());
await enableTelemetry({ spanProcessors: [processor] });
const ai = genkit({
  plugins: [
    openAICompatible({
      name: 'openai',
      apiKey: 'sk-fake',
      baseURL: process.env.OPENAI_BASE_URL,
    }),
  ],
});
const getWeather = ai.defineTool(
  {
    name: 'get_weather',
    description: 'The weather in a city.',
    inputSchema: z.object({ city: z.string() }),
    outputSchema: z.string(),
  },
  async ({ city }) => `18 degrees and sunny in ${city}`,
);
const flow = ai.defineFlow(
  { name: 'weatherFlow', inputSchema: z.string(), outputSchema: z.string() },
  async (question) => {
    const { text } = await ai.generate({
      model: 'openai/gpt-4o-mini',
      system: 'You are a helpful weather assistant.',
      prompt: question,
      tools: [getWeather],
    });
    return text;
  },
);
console.log(await flow('What is the weather in Paris?'));
await processor.forceFlush();
await processor.shutdown();
process.exit(0);
