/** Normalizes the message formats of different SDKs into one conversation format. */

export type Part =
  | { kind: "text"; text: string }
  | { kind: "reasoning"; text: string }
  | { kind: "call"; id: string | undefined; name: string; args: unknown }
  | { kind: "result"; id: string | undefined; name: string | undefined; result: unknown }
  | { kind: "media"; what: string; detail: string }
  | { kind: "data"; value: unknown };

export interface Message {
  role: string;
  parts: Part[];
}

type Json = Record<string, unknown>;

const ROLES: Record<string, string> = {
  human: "user",
  ai: "assistant",
  model: "assistant",
  developer: "system",
  function: "tool",
};
const WRAPPERS = [
  "messages",
  "input_messages",
  "output_messages",
  "choices",
  "contents",
  "candidates",
  "generations",
];

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Parses JSON that was stored as text; other text is returned unchanged. */
export function readJson(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{"]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** The messages of an input or output, or null when it is not a conversation. */
export function parseMessages(content: unknown, role: string): Message[] | null {
  const value = readJson(content);
  if (value === null || value === undefined || value === "") return [];
  if (typeof value === "string") return [{ role, parts: [{ kind: "text", text: value }] }];
  if (Array.isArray(value)) return parseList(value, role);
  return isObject(value) ? parseObject(value, role) : null;
}

function parseList(list: unknown[], role: string): Message[] | null {
  // LangChain wraps the messages of each prompt in another list.
  if (list.length === 1 && Array.isArray(list[0])) return parseList(list[0], role);
  const messages = list.map((item) => parseMessage(readJson(item), role));
  if (messages.length > 0 && messages.every((one) => one !== null)) return messages;
  const parts = list.map(parsePart);
  if (parts.length > 0 && parts.every((one) => one !== null && one.kind !== "data")) {
    return [{ role, parts: parts as Part[] }];
  }
  return null;
}

function parseObject(value: Json, role: string): Message[] | null {
  const single = parseMessage(value, role);
  if (single) return [single];
  for (const key of WRAPPERS) {
    const inner = readJson(value[key]);
    if (Array.isArray(inner)) {
      const messages = parseList(inner, role);
      const system = text(value.system) ?? text(value.system_instruction);
      if (messages && system)
        messages.unshift({ role: "system", parts: [{ kind: "text", text: system }] });
      if (messages) return messages;
    }
  }
  return null;
}

function parseMessage(item: unknown, fallback: string): Message | null {
  if (!isObject(item)) return null;
  const inner = item.message ?? item.kwargs;
  if (isObject(inner)) return parseMessage(inner, fallback);
  const named = text(item.role) ?? langChainRole(item);
  const body = item.parts ?? item.content ?? item.contents;
  if (named === undefined && !(Array.isArray(item.parts) || isObject(item.content))) return null;
  if (isObject(item.content) && Array.isArray(item.content.parts)) {
    return parseMessage(item.content, fallback);
  }
  const role = ROLES[named ?? ""] ?? named ?? fallback;
  const parts = [
    ...reasoningOf(item),
    ...parseBody(body, role, item),
    ...parseCalls(item.tool_calls ?? item.toolCalls),
  ];
  return { role, parts };
}

function langChainRole(item: Json): string | undefined {
  const type = text(item.type);
  return type && "content" in item && /^(human|ai|system|tool|function)$/.test(type)
    ? type
    : undefined;
}

function reasoningOf(item: Json): Part[] {
  const words = text(item.reasoning_content) ?? text(item.reasoning);
  return words ? [{ kind: "reasoning", text: words }] : [];
}

function parseBody(body: unknown, role: string, item: Json): Part[] {
  if (body === null || body === undefined || body === "") return [];
  if (role === "tool" && !Array.isArray(body)) {
    const id = text(item.tool_call_id) ?? text(item.toolCallId);
    return [{ kind: "result", id, name: text(item.name), result: readJson(body) }];
  }
  if (typeof body === "string") return [{ kind: "text", text: body }];
  if (Array.isArray(body))
    return body.map((part) => parsePart(part) ?? { kind: "data", value: part });
  return [parsePart(body) ?? { kind: "data", value: body }];
}

function parseCalls(calls: unknown): Part[] {
  const list = readJson(calls);
  if (!Array.isArray(list)) return [];
  return list.filter(isObject).map((call) => {
    const inner = isObject(call.function)
      ? call.function
      : isObject(call.tool_call)
        ? call.tool_call
        : call;
    return callPart({ ...inner, id: call.id ?? inner.id });
  });
}

function callPart(part: Json): Part {
  const given = part.arguments ?? part.args ?? part.input;
  return {
    kind: "call",
    id: text(part.id) ?? text(part.toolCallId),
    name: text(part.name) ?? text(part.toolName) ?? "tool",
    args: readJson(given),
  };
}

function resultPart(part: Json): Part {
  const given = part.response ?? part.result ?? part.output ?? part.content;
  const id = text(part.id) ?? text(part.tool_use_id) ?? text(part.toolCallId) ?? text(part.call_id);
  return {
    kind: "result",
    id,
    name: text(part.name) ?? text(part.toolName),
    result: readJson(given),
  };
}

function parsePart(part: unknown): Part | null {
  if (typeof part === "string") return { kind: "text", text: part };
  if (!isObject(part)) return null;
  const type = (text(part.type) ?? "").replaceAll("-", "_");
  const words = text(part.text) ?? text(part.content) ?? text(part.thinking) ?? text(part.summary);
  if (/^(tool_call|tool_use|function_call)$/.test(type)) return callPart(part);
  if (/^(tool_call_response|tool_result|function_call_output)$/.test(type)) return resultPart(part);
  if (isObject(part.functionCall)) return callPart(part.functionCall);
  if (isObject(part.functionResponse)) return resultPart(part.functionResponse);
  if (/^(reasoning|thinking)$/.test(type) && words !== undefined)
    return { kind: "reasoning", text: words };
  if (/image|audio|video|file|blob|uri|media|document/.test(type)) return mediaPart(type, part);
  if (words !== undefined && /^(|text|input_text|output_text|refusal)$/.test(type))
    return { kind: "text", text: words };
  return null;
}

function mediaPart(type: string, part: Json): Part {
  const mime =
    text(part.mime_type) ?? text(part.mediaType) ?? text(part.media_type) ?? text(part.modality);
  const what = (mime ?? type).split("/")[0] ?? type;
  const size = JSON.stringify(part).length;
  return {
    kind: "media",
    what: what.replace(/_url$/, ""),
    detail: `${mime ?? type}, ${size} characters`,
  };
}

/** One line of plain text for a list, also from truncated JSON. */
export function previewText(preview: string): string {
  if (!/^\s*[[{]/.test(preview)) return preview;
  const found = [
    ...preview.matchAll(/"(?:content|text|response|query|arguments)"\s*:\s*"((?:[^"\\]|\\.)*)/g),
  ];
  const words = found.map((match) => unquote(match[1] ?? "")).filter((one) => one.trim() !== "");
  return words.at(-1) ?? preview;
}

function unquote(words: string): string {
  try {
    return JSON.parse(`"${words.replace(/\\(u[0-9a-fA-F]{0,3})?$/, "")}"`);
  } catch {
    return words;
  }
}
