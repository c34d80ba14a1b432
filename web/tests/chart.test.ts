import { expect, test } from "vitest";
import { topSeries } from "@/ui/chart/series";
import { findLonePoints, stackedAt, stackSeries } from "@/ui/chart/stack";

const bars = { type: "bar", stack: "all", colour: "red" } as const;

test("a stacked bar starts at the top of the bar below it", () => {
  const layers = stackSeries([
    { ...bars, name: "a", values: [1, null, 0] },
    { ...bars, name: "b", values: [10, 20, 30] },
    { name: "line", colour: "red", values: [5, 5, 5] },
  ]);
  expect(layers.map((layer) => layer.bases)).toEqual([
    [0, 0, 0],
    [1, 0, 0],
    [0, 0, 0],
  ]);
  expect(layers.map((layer) => layer.tops)).toEqual([
    [1, null, 0],
    [11, 20, 30],
    [5, 5, 5],
  ]);
});

test("a zero on top of a stack has no height", () => {
  const [, zero] = stackSeries([
    { ...bars, name: "a", values: [7] },
    { ...bars, name: "b", values: [0] },
  ]);
  expect([zero?.bases, zero?.tops]).toEqual([[7], [7]]);
});

test("a click is on the stacked series that is drawn there", () => {
  const series = [
    { ...bars, name: "a", values: [1, null] },
    { ...bars, name: "b", values: [10, 20] },
    { name: "line", colour: "red", values: [99, 99] },
  ];
  expect([0.5, 1, 10.9, 11, -1].map((value) => stackedAt(series, 0, value))).toEqual([
    "a",
    "b",
    "b",
    undefined,
    undefined,
  ]);
  expect(stackedAt(series, 1, 0)).toBe("b");
});

test("only points between two gaps are drawn as dots", () => {
  expect(findLonePoints([5, null, 0, 7, null, null, 2])).toEqual([0, 6]);
  expect(findLonePoints([null, 0, null])).toEqual([1]);
});

test("all but the largest series are combined into other", () => {
  const points: Record<string, number>[] = [{ a: 9, b: 8, c: 1, d: 2 }, { a: 1 }];
  const series = topSeries(points, 2);
  expect(series.map((one) => [one.name, one.values])).toEqual([
    ["a", [9, 1]],
    ["b", [8, 0]],
    ["other", [3, 0]],
  ]);
  expect(topSeries(points, 3)).toHaveLength(4);
});
