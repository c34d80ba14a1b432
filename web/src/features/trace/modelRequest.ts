/** The request of a model call, rebuilt from its span for the API of a provider. */
import type { Span } from "@/lib/api";
import { type Message, type Part, readJson } from "@/lib/messages";

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Attributes with all parameters of a call as JSON. */
const PARAMETER_OBJECTS = ["llm.invocation_parameters", "langfuse.observation.model.parameters"];
/** Parameters of OpenAI and Anthropic, and where else they are. */
const PARAMETERS: Record<string, string[]> = {
  temperature: ["gen_ai.request.temperature", "ai.settings.temperature"],
  top_p: ["gen_ai.request.top_p", "ai.settings.topP"],
  top_k: ["gen_ai.request.top_k", "ai.settings.topK"],
  max_tokens: ["gen_ai.request.max_tokens", "ai.settings.maxOutputTokens", "ai.settings.maxTokens"],
  max_completion_tokens: [],
  frequency_penalty: ["gen_ai.request.frequency_penalty", "ai.settings.frequencyPenalty"],
  presence_penalty: ["gen_ai.request.presence_penalty", "ai.settings.presencePenalty"],
  stop: ["gen_ai.request.stop_sequences", "ai.settings.stopSequences"],
  stop_sequences: [],
  seed: ["gen_ai.request.seed", "ai.settings.seed"],
  reasoning_effort: ["gen_ai.openai.request.reasoning_effort"],
  response_format: [],
  tool_choice: [],
};

function parametersOf({ attributes }: Span): Json {
  const found: Json = {};
  const objects = PARAMETER_OBJECTS.map((name) => readJson(attributes[name])).filter(isObject);
  for (const [name, sources] of Object.entries(PARAMETERS)) {
    const values = [...sources.map((key) => attributes[key]), ...objects.map((one) => one[name])];
    const value = values.find((one) => one !== undefined && one !== null && one !== "None");
    if (value !== undefined) found[name] = readJson(value);
  }
  return found;
}

interface Tool {
  name: string;
  description?: unknown;
  schema: unknown;
}

/** The tools that the model could call, from the forms of OpenAI, Anthropic and OpenTelemetry. */
function toolsOf({ attributes }: Span): Tool[] {
  const listed = readJson(attributes["gen_ai.tool.definitions"]);
  const numbered = Object.entries(attributes)
    .filter(([key]) => /^llm\.tools\.\d+\.tool\.json_schema$/.test(key))
    .map(([, value]) => readJson(value));
  return [...(Array.isArray(listed) ? listed.map(readJson) : []), ...numbered].flatMap((one) => {
    if (!isObject(one)) return [];
    const own = isObject(one.function) ? one.function : one;
    if (typeof own.name !== "string") return [];
    const schema = own.parameters ?? own.input_schema ?? { type: "object" };
    return [{ name: own.name, description: own.description, schema }];
  });
}

/** The model called a tool, or could, but the span does not say which tools it had. */
export function lacksTools(span: Span): boolean {
  const messages = [...(span.messages.input ?? []), ...(span.messages.output ?? [])];
  const hasCalls = messages.some(({ parts }) =>
    parts.some(({ type }) => type === "toolCall" || type === "toolResult"),
  );
  return (hasCalls || "tool_choice" in parametersOf(span)) && toolsOf(span).length === 0;
}

const asText = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));

/** Inline media is not in the messages. */
const MISSING = (part: Extract<Part, { type: "media" }>) => `[${part.mediaType} is not stored]`;

function textsOf(message: Message): string {
  return message.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

export function toOpenAi(span: Span): Json {
  const { max_tokens, stop_sequences, ...parameters } = parametersOf(span);
  const tools = toolsOf(span).map(({ name, description, schema }) => ({
    type: "function",
    function: { name, description, parameters: schema },
  }));
  const limit = span.provider === "openai" ? "max_completion_tokens" : "max_tokens";
  return {
    model: span.model,
    messages: (span.messages.input ?? []).flatMap(openAiMessages),
    ...(stop_sequences !== undefined && { stop: stop_sequences }),
    ...(max_tokens !== undefined && { [limit]: max_tokens }),
    ...parameters,
    ...(tools.length > 0 && { tools }),
  };
}

/** A result of a tool is a message of its own. */
function openAiMessages(message: Message): Json[] {
  const results: Json[] = [];
  const content: Json[] = [];
  const calls: Json[] = [];
  for (const part of message.parts) {
    if (part.type === "toolResult") {
      results.push({ role: "tool", tool_call_id: part.id, content: asText(part.result) });
    } else if (part.type === "toolCall") {
      const called = { name: part.name, arguments: asText(part.arguments) };
      calls.push({ id: part.id, type: "function", function: called });
    } else if (part.type === "media") {
      content.push(
        part.url
          ? { type: "image_url", image_url: { url: part.url } }
          : { type: "text", text: MISSING(part) },
      );
    } else if (part.type !== "reasoning") {
      content.push({ type: "text", text: part.type === "text" ? part.text : asText(part.value) });
    }
  }
  if (content.length === 0 && calls.length === 0) return results;
  const isPlain = content.every((one) => one.type === "text");
  const said = isPlain ? content.map((one) => one.text).join("\n") : content;
  return [
    {
      role: message.role,
      content: content.length > 0 ? said : null,
      ...(calls.length > 0 && { tool_calls: calls }),
    },
    ...results,
  ];
}

/** Anthropic requires a limit. */
const DEFAULT_MAX_TOKENS = 1024;
const ANTHROPIC_PARAMETERS = ["temperature", "top_p", "top_k", "tool_choice"];

export function toAnthropic(span: Span): Json {
  const parameters = parametersOf(span);
  const messages = span.messages.input ?? [];
  const system = messages.filter((one) => one.role === "system").map(textsOf);
  const tools = toolsOf(span).map(({ name, description, schema }) => ({
    name,
    description,
    input_schema: schema,
  }));
  const stop = parameters.stop_sequences ?? parameters.stop;
  return {
    model: span.model,
    max_tokens: parameters.max_tokens ?? DEFAULT_MAX_TOKENS,
    ...(system.length > 0 && { system: system.join("\n\n") }),
    messages: messages.filter((one) => one.role !== "system").map(anthropicMessage),
    ...Object.fromEntries(
      ANTHROPIC_PARAMETERS.filter((name) => name in parameters).map((name) => [
        name,
        parameters[name],
      ]),
    ),
    ...(stop !== undefined && { stop_sequences: stop }),
    ...(tools.length > 0 && { tools }),
  };
}

function anthropicMessage(message: Message): Json {
  const content = message.parts.flatMap((part): Json[] => {
    switch (part.type) {
      case "text":
        return [{ type: "text", text: part.text }];
      case "toolCall":
        return [
          { type: "tool_use", id: part.id, name: part.name, input: readJson(part.arguments) },
        ];
      case "toolResult":
        return [{ type: "tool_result", tool_use_id: part.id, content: asText(part.result) }];
      case "media":
        return part.url
          ? [{ type: "image", source: { type: "url", url: part.url } }]
          : [{ type: "text", text: MISSING(part) }];
      case "data":
        return [{ type: "text", text: asText(part.value) }];
      default:
        // Reasoning needs a signature, which is not stored.
        return [];
    }
  });
  return { role: message.role === "assistant" ? "assistant" : "user", content };
}
