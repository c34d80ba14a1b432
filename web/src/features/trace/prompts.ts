/** The prompt template of a model call and its variables, as SDKs send them in attributes. */
import type { Span } from "@/lib/api";
import { readJson } from "@/lib/messages";

export interface Prompt {
  name?: string;
  version?: string;
  template?: string;
  variables: Record<string, unknown>;
}

const NAMES = [
  "langfuse.observation.prompt.name",
  "traceloop.prompt.key",
  "gen_ai.prompt.name",
  "prompt.id",
];
const VERSIONS = [
  "langfuse.observation.prompt.version",
  "llm.prompt_template.version",
  "traceloop.prompt.version_name",
  "traceloop.prompt.version",
];
const TEMPLATES = ["llm.prompt_template.template", "traceloop.prompt.template"];
const VARIABLES = ["llm.prompt_template.variables", "traceloop.prompt.template_variables"];

export function findPrompt({ attributes }: Span): Prompt | null {
  const first = (keys: string[]) =>
    keys.map((key) => attributes[key]).find((one) => one !== undefined && one !== "");
  const template = first(TEMPLATES);
  const [name, version] = [first(NAMES), first(VERSIONS)];
  const read = readJson(first(VARIABLES));
  const variables =
    typeof read === "object" && read !== null && !Array.isArray(read)
      ? (read as Record<string, unknown>)
      : {};
  if (template === undefined && name === undefined) return null;
  return {
    ...(name !== undefined && { name: String(name) }),
    ...(version !== undefined && { version: String(version) }),
    ...(template !== undefined && { template: asTemplate(template) }),
    variables,
  };
}

/** A template of several messages is shown with their roles. */
function asTemplate(value: unknown): string {
  const read = readJson(value);
  if (!Array.isArray(read)) return typeof read === "string" ? read : JSON.stringify(read, null, 2);
  return read
    .map((one) => (typeof one === "string" ? one : `${one?.role ?? "user"}: ${one?.content ?? ""}`))
    .join("\n\n");
}

export interface Piece {
  text: string;
  /** The name of the variable that stands here. */
  variable?: string;
}

/** `{{name}}`, `${name}` and `{name}`, with blanks inside. */
const PLACEHOLDER = /\{\{\s*([\w.-]+)\s*\}\}|\$\{\s*([\w.-]+)\s*\}|\{\s*([\w.-]+)\s*\}/g;

/** Splits a template at its variables; if they are known, other braces are text. */
export function splitTemplate(template: string, variables: Record<string, unknown>): Piece[] {
  const known = new Set(Object.keys(variables));
  const pieces: Piece[] = [];
  let from = 0;
  for (const match of template.matchAll(PLACEHOLDER)) {
    const variable = match[1] ?? match[2] ?? match[3] ?? "";
    if (known.size > 0 && !known.has(variable)) continue;
    if (match.index > from) pieces.push({ text: template.slice(from, match.index) });
    pieces.push({ text: match[0], variable });
    from = match.index + match[0].length;
  }
  if (from < template.length) pieces.push({ text: template.slice(from) });
  return pieces;
}
