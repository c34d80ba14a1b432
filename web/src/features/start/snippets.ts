/** Code that sends a trace, configured by the two environment variables only. */
export interface Snippet {
  id: string;
  label: string;
  install?: string;
  code: string;
}

export function environment(origin: string, key: string): string {
  return `export OTEL_EXPORTER_OTLP_ENDPOINT=${origin}/api/otlp
export OTEL_EXPORTER_OTLP_HEADERS=x-api-key=${key}`;
}

export function snippets(origin: string, key: string): Snippet[] {
  return [
    {
      id: "python",
      label: "Python",
      install: "pip install opentelemetry-sdk opentelemetry-exporter-otlp-proto-http",
      code: PYTHON,
    },
    {
      id: "node",
      label: "Node",
      install:
        "npm install @opentelemetry/sdk-node @opentelemetry/exporter-trace-otlp-proto @opentelemetry/api",
      code: NODE,
    },
    {
      id: "openai",
      label: "OpenAI",
      install:
        "pip install openai openinference-instrumentation-openai opentelemetry-sdk opentelemetry-exporter-otlp-proto-http",
      code: OPENAI,
    },
    {
      id: "langchain",
      label: "LangChain",
      install:
        "pip install langchain langchain-openai openinference-instrumentation-langchain opentelemetry-sdk opentelemetry-exporter-otlp-proto-http",
      code: LANGCHAIN,
    },
    {
      id: "vercel",
      label: "Vercel AI SDK",
      install:
        "npm install ai @ai-sdk/openai @opentelemetry/sdk-node @opentelemetry/exporter-trace-otlp-proto",
      code: VERCEL,
    },
    { id: "curl", label: "curl", code: curl(origin, key) },
  ];
}

const SETUP = `from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(provider)
`;

const PYTHON = `${SETUP}
tracer = trace.get_tracer("my-app")
with tracer.start_as_current_span("answer") as span:
    span.set_attribute("gen_ai.agent.name", "my-first-agent")
    span.set_attribute("gen_ai.operation.name", "invoke_agent")

provider.shutdown()
`;

const OPENAI = `${SETUP}
from openai import OpenAI
from openinference.instrumentation.openai import OpenAIInstrumentor

OpenAIInstrumentor().instrument(tracer_provider=provider)
OpenAI().chat.completions.create(
    model="gpt-5-mini",
    messages=[{"role": "user", "content": "Say hello."}],
)
provider.shutdown()
`;

const LANGCHAIN = `${SETUP}
from langchain_openai import ChatOpenAI
from openinference.instrumentation.langchain import LangChainInstrumentor

LangChainInstrumentor().instrument(tracer_provider=provider)
ChatOpenAI(model="gpt-5-mini").invoke("Say hello.")
provider.shutdown()
`;

const NODE_SETUP = `import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { NodeSDK } from "@opentelemetry/sdk-node";

const sdk = new NodeSDK({
  serviceName: "my-first-agent",
  traceExporter: new OTLPTraceExporter(),
});
sdk.start();
`;

const NODE = `${NODE_SETUP}
import { trace } from "@opentelemetry/api";

trace.getTracer("my-app").startActiveSpan("answer", (span) => {
  span.setAttribute("gen_ai.operation.name", "invoke_agent");
  span.end();
});
await sdk.shutdown();
`;

const VERCEL = `${NODE_SETUP}
import { openai } from "@ai-sdk/openai";
import { generateText } from "ai";

await generateText({
  model: openai("gpt-5-mini"),
  prompt: "Say hello.",
  experimental_telemetry: { isEnabled: true, functionId: "my-first-agent" },
});
await sdk.shutdown();
`;

function curl(origin: string, key: string): string {
  return `curl ${origin}/api/spans \\
  -H 'content-type: application/json' \\
  -H 'x-api-key: ${key}' \\
  -d '{
    "traceId": "'$(openssl rand -hex 16)'",
    "spanId": "'$(openssl rand -hex 8)'",
    "name": "answer", "kind": "agent", "agentName": "my-first-agent",
    "startTime": "'$(date -u +%Y-%m-%dT%H:%M:%SZ)'", "durationMs": 840,
    "input": "Say hello.", "output": "Hello!"
  }'
`;
}
