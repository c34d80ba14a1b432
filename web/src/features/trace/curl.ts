/** Commands for the shell that repeat a model call, or fetch a trace. */
import type { Span } from "@/lib/api";
import { toAnthropic, toOpenAi } from "./modelRequest";

/** One argument for a POSIX shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

export function curlOfTrace(origin: string, traceId: string): string {
  return `curl ${quote(`${origin}/api/spans/traces/${traceId}`)} \\\n  -H "x-api-key: $SPANWISE_API_KEY"`;
}

interface ProviderEndpoint {
  /** May contain a variable of the shell. */
  url: string;
  key: string;
}

/** Providers with an API like OpenAI's. */
const ENDPOINTS: Record<string, ProviderEndpoint> = {
  openai: { url: "https://api.openai.com/v1", key: "OPENAI_API_KEY" },
  deepseek: { url: "https://api.deepseek.com/v1", key: "DEEPSEEK_API_KEY" },
  "gcp.gemini": {
    url: "https://generativelanguage.googleapis.com/v1beta/openai",
    key: "GEMINI_API_KEY",
  },
  groq: { url: "https://api.groq.com/openai/v1", key: "GROQ_API_KEY" },
  mistral_ai: { url: "https://api.mistral.ai/v1", key: "MISTRAL_API_KEY" },
  moonshot_ai: { url: "https://api.moonshot.ai/v1", key: "MOONSHOT_API_KEY" },
  openrouter: { url: "https://openrouter.ai/api/v1", key: "OPENROUTER_API_KEY" },
  perplexity: { url: "https://api.perplexity.ai", key: "PERPLEXITY_API_KEY" },
  x_ai: { url: "https://api.x.ai/v1", key: "XAI_API_KEY" },
};
/** For all other providers: many gateways and servers have this API. */
const ANY: ProviderEndpoint = { url: "$OPENAI_BASE_URL", key: "OPENAI_API_KEY" };

/** The command that repeats a model call; null if the span does not have its messages. */
export function curlOfCall(span: Span): string | null {
  if (span.kind !== "llm" || !span.model || !span.messages.input?.length) return null;
  if (span.provider === "anthropic") {
    return post("https://api.anthropic.com/v1/messages", toAnthropic(span), [
      "x-api-key: $ANTHROPIC_API_KEY",
      "anthropic-version: 2023-06-01",
    ]);
  }
  const { url, key } = ENDPOINTS[span.provider ?? ""] ?? ANY;
  return post(`${url}/chat/completions`, toOpenAi(span), [`Authorization: Bearer $${key}`]);
}

/**
 * The body is a here-document: nothing in it needs quotes, and an argument may have 128 KiB only.
 * Every line of the JSON is indented or a brace, so none of them ends it.
 */
function post(url: string, body: unknown, headers: string[]): string {
  const lines = [
    `curl "${url}"`,
    ...[...headers, "Content-Type: application/json"].map((header) => `  -H "${header}"`),
    "  --data-binary @- <<'JSON'",
  ];
  return `${lines.join(" \\\n")}\n${JSON.stringify(body, null, 2)}\nJSON`;
}
