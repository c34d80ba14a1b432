import { expect, test } from "vitest";
import { buildTree, findFailure, nextError, toMs, visibleNodes } from "@/features/trace/tree";
import type { Span } from "@/lib/api";

const ZERO = Date.parse("2026-01-01T00:00:00Z");

function span(id: string, parent: string | null, start: number, end: number, status = "ok"): Span {
  const at = (ms: number) => new Date(ZERO + ms).toISOString();
  return {
    spanId: id,
    parentSpanId: parent,
    name: id,
    startTime: at(start),
    endTime: at(end),
    status,
  } as Span;
}

const names = (spans: Span[], folded = new Set<string>()) =>
  visibleNodes(buildTree(spans).roots, folded).map((node) => `${node.depth}${node.span.spanId}`);

test("children are below their parent, ordered by start", () => {
  const spans = [
    span("c", "a", 50, 60),
    span("b", "a", 10, 40),
    span("a", null, 0, 100),
    span("d", "b", 20, 30),
  ];
  expect(names(spans)).toEqual(["0a", "1b", "2d", "1c"]);
});

test("a collapsed node hides all its descendants", () => {
  const spans = [
    span("a", null, 0, 9),
    span("b", "a", 1, 8),
    span("c", "b", 2, 7),
    span("d", "a", 8, 9),
  ];
  expect(names(spans, new Set(["b"]))).toEqual(["0a", "1b", "1d"]);
});

test("a span with a missing parent, or in a cycle, is a root", () => {
  expect(names([span("a", "gone", 0, 1)])).toEqual(["0a"]);
  expect(names([span("a", "b", 0, 1), span("b", "a", 0, 1)])).toHaveLength(2);
  expect(names([span("a", "a", 0, 1)])).toEqual(["0a"]);
});

test("the critical path leads to the end of the trace", () => {
  const { critical } = buildTree([
    span("root", null, 0, 100),
    span("first", "root", 0, 40),
    span("beside", "root", 5, 30),
    span("second", "root", 40, 98),
    span("inside", "second", 60, 95),
    span("early", "second", 41, 50),
  ]);
  expect([...critical].sort()).toEqual(["early", "first", "inside", "root", "second"]);
});

test("a child that outlives its parent did not delay it", () => {
  const { critical } = buildTree([
    span("root", null, 0, 50),
    span("late", "root", 10, 80),
    span("work", "root", 0, 45),
  ]);
  expect([...critical].sort()).toEqual(["root", "work"]);
});

test("positions are on one axis, with microseconds", () => {
  expect(toMs("2026-01-01T00:00:00.000250Z") - ZERO).toBeCloseTo(0.25, 5);
  const tree = buildTree([span("a", null, 0, 200), span("b", "a", 50, 150)]);
  expect(tree.length).toBe(200);
  expect(tree.nodes.get("b")).toMatchObject({ start: 50, end: 150 });
});

test("a chain of 10,000 spans is laid out", () => {
  const spans = Array.from({ length: 10_000 }, (_, i) =>
    span(`s${i}`, i ? `s${i - 1}` : null, i / 100, 200 - i / 100),
  );
  const started = performance.now();
  expect(visibleNodes(buildTree(spans).roots, new Set())).toHaveLength(10_000);
  expect(performance.now() - started).toBeLessThan(2000);
});

test("the next error follows the selected span and wraps around", () => {
  const spans = [
    span("a", null, 0, 9, "error"),
    span("b", "a", 1, 2),
    span("c", "a", 3, 4, "error"),
  ];
  const shown = visibleNodes(buildTree(spans).roots, new Set());
  expect(nextError(shown, "a")).toBe("c");
  expect(nextError(shown, "c")).toBe("a");
  expect(nextError(shown.slice(1, 2), "b")).toBeUndefined();
});

test("a failure is the span in which it began", () => {
  const failure = (spans: Span[]) =>
    findFailure(visibleNodes(buildTree(spans).roots, new Set()))?.span.spanId;
  const root = span("root", null, 0, 9, "error");
  const step = span("step", "root", 1, 8, "error");
  expect(failure([root, span("fine", "root", 0, 1), step])).toBe("step");
  expect(failure([root, step, span("call", "step", 2, 7, "error")])).toBe("call");
  expect(failure([root, span("fine", "root", 0, 1)])).toBe("root");
  expect(failure([span("fine", null, 0, 1)])).toBeUndefined();
});
