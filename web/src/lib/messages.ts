/** Messages as the API returns them, in one form for all SDKs, and previews of raw content. */
import type { Schemas } from "./api";

export type Message = Schemas["Message"];
export type Part = Message["parts"][number];

/** Parses JSON that was stored as text; other text is returned unchanged. */
export function readJson(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{"]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** One line of plain text for a list, also from truncated JSON and from markdown. */
export function previewText(preview: string): string {
  return withoutMarks(contentOf(preview));
}

/** Text without the marks of markdown; those inside words, as in `snake_case`, stay. */
function withoutMarks(text: string): string {
  return text
    .replace(/^\s{0,3}(#{1,6}\s+|[-*+]\s+|>\s?|```\w*\s*$)/gm, "")
    .replace(/!?\[([^\]\n]+)\]\([^)\s]+\)/g, "$1")
    .replace(/(\*\*|__)(?=\S)(.+?)(?<=\S)\1/g, "$2")
    .replace(/(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])/g, "$1")
    .replace(/`([^`\n]+)`/g, "$1");
}

function contentOf(preview: string): string {
  if (!/^\s*[[{]/.test(preview)) return preview;
  const found = [
    ...preview.matchAll(
      /"(?:content|text|prompt|response|query|arguments)"\s*:\s*"((?:[^"\\]|\\.)*)/g,
    ),
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
