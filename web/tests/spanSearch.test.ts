import { expect, test } from "vitest";
import { findMatches, isInAttributes, stepMatch } from "@/features/trace/search";
import { buildTree, visibleNodes } from "@/features/trace/tree";
import type { Span } from "@/lib/api";

const AT = "2026-01-01T00:00:00Z";

function span(spanId: string, fields: Partial<Span>): Span {
  const empty = { input: null, output: null, attributes: {}, statusMessage: null };
  const times = { startTime: AT, endTime: AT, parentSpanId: null };
  return { spanId, name: spanId, ...empty, ...times, ...fields } as Span;
}

const nodes = visibleNodes(
  buildTree([
    span("a", { name: "Plan the trip" }),
    span("b", { input: [{ role: "user", content: 'Say "hello"\nto Zürich' }] }),
    span("c", { output: { deep: [{ city: "ZÜRICH", count: 42 }] } }),
    span("d", { attributes: { "app.tenant": "acme" }, statusMessage: "it burst" }),
  ]).roots,
  new Set(),
);

test.each([
  ["trip", ["a"]],
  ["zürich", ["b", "c"]],
  ['"hello"', ["b"]],
  ["to  hello", ["b"]],
  ["zürich say", ["b"]],
  ["42", ["c"]],
  ["tenant ACME", ["d"]],
  ["burst", ["d"]],
  ["nothing", []],
  ["  ", []],
])("%s is found in names, contents and attributes", (text, expected) => {
  expect(findMatches(nodes, text)).toEqual(expected);
});

test.each([
  ["acme", true],
  ["burst acme", true],
  ["burst", false],
  ["", false],
])("%s is in the attributes only: %s", (text, expected) => {
  const attributes = { "app.tenant": "acme", message: "it burst" };
  expect(isInAttributes(span("d", { attributes, statusMessage: "it burst" }), text)).toBe(expected);
});

test("matches that only the service knows are among the others, in order", () => {
  expect(findMatches(nodes, "zürich", new Set(["d", "a"]))).toEqual(["a", "b", "c", "d"]);
  expect(findMatches(nodes, " ", new Set(["d"]))).toEqual([]);
});

test("stepping goes through the matches in order and wraps around", () => {
  const matches = findMatches(nodes, "zürich");
  expect(stepMatch(nodes, matches, "a", 1)).toBe("b");
  expect(stepMatch(nodes, matches, "b", 1)).toBe("c");
  expect(stepMatch(nodes, matches, "c", 1)).toBe("b");
  expect(stepMatch(nodes, matches, "d", -1)).toBe("c");
  expect(stepMatch(nodes, matches, "b", -1)).toBe("c");
  expect(stepMatch(nodes, matches, undefined, 1)).toBe("b");
  expect(stepMatch(nodes, [], "b", 1)).toBeUndefined();
});

test("one of ten thousand spans is found", () => {
  const many = Array.from({ length: 10_000 }, (_, at) =>
    span(String(at), { input: `step ${at} ${"words ".repeat(100)}` }),
  );
  const all = visibleNodes(buildTree(many).roots, new Set());
  expect(findMatches(all, "step 9999")).toEqual(["9999"]);
});
