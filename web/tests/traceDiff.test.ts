import { expect, test } from "vitest";
import { contentText, pairSpans, stateOf, toText } from "@/features/trace/traceDiff";
import type { Span } from "@/lib/api";
import { diffWords } from "@/lib/textDiff";

const ZERO = Date.parse("2026-01-01T00:00:00Z");

function span(id: string, parent: string | null, start: number, name = id, more = {}): Span {
  const at = (ms: number) => new Date(ZERO + ms).toISOString();
  return {
    spanId: id,
    parentSpanId: parent,
    name,
    kind: "tool",
    startTime: at(start),
    endTime: at(start + 5),
    status: "ok",
    ...more,
  } as Span;
}

const states = (left: Span[], right: Span[]) =>
  pairSpans(left, right).map(
    (pair) => `${pair.depth} ${stateOf(pair)} ${(pair.right ?? pair.left)?.name}`,
  );

test("spans are matched by name and place, and others belong to one trace", () => {
  const left = [span("r", null, 0), span("a", "r", 1), span("b", "r", 2), span("c", "r", 3)];
  const right = [
    span("r2", null, 0, "r"),
    span("b2", "r2", 1, "b", { status: "error" }),
    span("d2", "r2", 2, "d"),
    span("c2", "r2", 3, "c"),
    span("e2", "c2", 4, "e"),
  ];
  expect(states(left, right)).toEqual([
    "0 same r",
    "1 left a",
    "1 changed b",
    "1 right d",
    "1 same c",
    "2 right e",
  ]);
});

test("roots match whatever their names are, and content makes a pair changed", () => {
  const left = [span("r", null, 0, "chat", { input: "hello" })];
  const right = [span("q", null, 0, "chat", { input: "hello there" })];
  expect(states(left, right)).toEqual(["0 changed chat"]);
  expect(states([span("x", null, 0)], [span("y", null, 0)])).toEqual(["0 changed y"]);
});

test("calls of different models are one changed pair", () => {
  const call = (id: string, parent: string, model: string) =>
    span(id, parent, 1, `chat ${model}`, { kind: "llm", model });
  const left = [span("r", null, 0), call("a", "r", "large"), span("t", "r", 2)];
  const right = [span("q", null, 0, "r"), call("b", "q", "small"), span("u", "q", 2, "t")];
  expect(states(left, right)).toEqual(["0 same r", "1 changed chat small", "1 same t"]);
});

test("messages are compared as text", () => {
  const parts = [{ type: "text", text: "hi" }];
  const one = span("a", null, 0, "a", {
    input: "[…]",
    messages: { input: [{ role: "user", parts }], output: null },
  });
  expect(contentText(one, "input")).toBe("user:\nhi");
  expect(contentText(one, "output")).toBe("");
  expect(contentText(null, "input")).toBe("");
});

test("many children are matched in their order", () => {
  const many = (prefix: string) => [
    span(prefix, null, 0, "r"),
    ...Array.from({ length: 500 }, (_, n) => span(`${prefix}${n}`, prefix, n + 1, `s${n}`)),
  ];
  expect(new Set(pairSpans(many("a"), many("b")).map(stateOf))).toEqual(new Set(["same"]));
});

test("content is compared as indented JSON where it is JSON", () => {
  expect(toText('{"a":1}')).toBe('{\n  "a": 1\n}');
  expect(toText({ a: 1 })).toBe(toText('{"a":1}'));
  expect(toText("12")).toBe("12");
  expect(toText(null)).toBe("");
});

const show = (before: string, after: string) =>
  diffWords(before, after)
    .map(({ kind, text }) => (kind === "same" ? text : `[${kind === "added" ? "+" : "-"}${text}]`))
    .join("");

test("words that differ are marked", () => {
  expect(show("the order is late", "the order was late")).toBe("the order [-is][+was] late");
  expect(show("one two three four", "zero one three four five")).toBe(
    "[+zero ]one [-two ]three four[+ five]",
  );
  expect(show("same", "same")).toBe("same");
  expect(show("", "new")).toBe("[+new]");
  expect(show("old", "")).toBe("[-old]");
  expect(diffWords("", "")).toEqual([]);
});

test("both texts can be read from any difference, and no shorter edit is missed", () => {
  let seed = 7;
  const next = (most: number) => {
    seed = (seed * 1103515245 + 12345) % 2 ** 31;
    return seed % most;
  };
  const text = () => Array.from({ length: next(12) }, () => "abc"[next(3)]).join("-");
  for (let round = 0; round < 500; round++) {
    const [before, after] = [text(), text()];
    const pieces = diffWords(before, after);
    const join = (kind: string) =>
      pieces.filter((one) => one.kind === "same" || one.kind === kind).map((one) => one.text);
    expect(join("removed").join("")).toBe(before);
    expect(join("added").join("")).toBe(after);
    const same = pieces.filter((one) => one.kind === "same").map((one) => one.text);
    expect(same.join("").length).toBe(longestCommon(before, after));
  }
});

test("long texts without anything in common are one replacement", () => {
  const words = (word: string) => Array.from({ length: 3000 }, (_, n) => `${word}${n}`).join(".");
  const pieces = diffWords(words("a"), words("b"));
  expect(pieces.map((piece) => piece.kind)).toEqual(["removed", "added"]);
});

/** All tokens of these texts are single characters. */
function longestCommon(a: string, b: string): number {
  let row = new Array<number>(b.length + 1).fill(0);
  for (const letter of a) {
    const next = [0];
    for (let y = 0; y < b.length; y++) {
      next.push(letter === b[y] ? (row[y] ?? 0) + 1 : Math.max(row[y + 1] ?? 0, next[y] ?? 0));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
