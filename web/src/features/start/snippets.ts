/** Programs that send a trace: the files in docs/snippets, which are recorded as they are. */
export interface Snippet {
  id: string;
  label: string;
  install?: string;
  code: string;
}

export interface Language {
  id: string;
  label: string;
  snippets: Snippet[];
}

const FILES = import.meta.glob<string>("../../../../docs/snippets/*.{py,ts}", {
  query: "?raw",
  import: "default",
  eager: true,
});

// The files of each language, without their endings; the most used first.
const PYTHON = {
  openai: "OpenAI",
  langchain: "LangChain",
  langgraph: "LangGraph",
  anthropic: "Anthropic",
  "openai-agents": "OpenAI Agents",
  "llama-index": "LlamaIndex",
  crewai: "CrewAI",
  "pydantic-ai": "Pydantic AI",
  "google-genai": "Google Gen AI",
  litellm: "LiteLLM",
  opentelemetry: "OpenTelemetry",
};
const TYPESCRIPT = {
  "vercel-ai": "Vercel AI SDK",
  openai: "OpenAI",
  langchain: "LangChain.js",
  mastra: "Mastra",
  opentelemetry: "OpenTelemetry",
};

export function environment(origin: string, key: string): string {
  return `export OTEL_EXPORTER_OTLP_ENDPOINT=${origin}/api/otlp
export OTEL_EXPORTER_OTLP_HEADERS=x-api-key=${key}
export OTEL_SERVICE_NAME=my-first-agent`;
}

export function languages(origin: string, key: string): Language[] {
  return [
    { id: "python", label: "Python", snippets: read(PYTHON, "python.py") },
    { id: "typescript", label: "TypeScript", snippets: read(TYPESCRIPT, "typescript.ts") },
    {
      id: "http",
      label: "HTTP",
      snippets: [{ id: "curl", label: "curl", code: curl(origin, key) }],
    },
  ];
}

function read(labels: Record<string, string>, ending: string): Snippet[] {
  return Object.entries(labels).map(([name, label]) => {
    const file = FILES[`../../../../docs/snippets/${name}-${ending}`] ?? "";
    // The first line is a comment with the command that installs the packages.
    const [install = "", ...lines] = file.split("\n");
    const code = lines.join("\n");
    return { id: name, label, install: install.replace(/^(#|\/\/) /, ""), code };
  });
}

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
