/** Finds words in the spans of a trace. */
import type { Span } from "@/lib/api";
import type { Node } from "./tree";

const texts = new WeakMap<Span, string>();

/** The searched text of a span in lower case; it is collected once. */
function textOf(span: Span): string {
  const known = texts.get(span);
  if (known !== undefined) return known;
  const text = [...contentsOf(span), span.attributes].map(collectText).join("\n");
  texts.set(span, text);
  return text;
}

function contentsOf({ name, statusMessage, input, output }: Span): unknown[] {
  return [name, statusMessage, input, output];
}

/** All keys and values in lower case. */
function collectText(value: unknown): string {
  const parts: string[] = [];
  const waiting: unknown[] = [value];
  for (let at = 0; at < waiting.length; at++) {
    const value = waiting[at];
    if (typeof value === "string") parts.push(value);
    else if (typeof value === "number" || typeof value === "boolean") parts.push(String(value));
    else if (Array.isArray(value)) for (const item of value) waiting.push(item);
    else if (value !== null && typeof value === "object") {
      for (const [key, item] of Object.entries(value)) waiting.push(key, item);
    }
  }
  return parts.join("\n").toLowerCase();
}

/** Whether a word of the search is in the attributes only, which have a tab of their own. */
export function isInAttributes(span: Span, search: string): boolean {
  const contents = collectText(contentsOf(span));
  const attributes = collectText(span.attributes);
  return wordsOf(search).some((word) => !contents.includes(word) && attributes.includes(word));
}

/** The words of a search; all of them must occur in a span. */
export function wordsOf(search: string): string[] {
  return search.toLowerCase().split(/\s+/).filter(Boolean);
}

/** The ids of the matching spans and of known matches, in the order of the given nodes. */
export function findMatches(
  nodes: readonly Node[],
  search: string,
  known: ReadonlySet<string> = new Set(),
): string[] {
  const words = wordsOf(search);
  if (words.length === 0) return [];
  return nodes
    .filter(
      ({ span }) => known.has(span.spanId) || words.every((word) => textOf(span).includes(word)),
    )
    .map(({ span }) => span.spanId);
}

/** The match after or before the selected span in the given order, wrapping around at the ends. */
export function stepMatch(
  nodes: readonly Node[],
  matches: readonly string[],
  selected: string | undefined,
  by: 1 | -1,
): string | undefined {
  if (matches.length === 0) return undefined;
  const positions = new Map(nodes.map(({ span }, at) => [span.spanId, at]));
  const from = positions.get(selected ?? "") ?? -1;
  const after = (id: string) => (positions.get(id) ?? 0) - from;
  if (by === 1) return matches.find((id) => after(id) > 0) ?? matches[0];
  return matches.findLast((id) => after(id) < 0) ?? matches.at(-1);
}
