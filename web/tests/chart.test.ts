import { describe, expect, test } from "vitest";
import { formatBytes, formatCompact, formatDuration, formatPercent } from "@/lib/format";
import { placeLabel } from "@/ui/chart/placeLabel";
import { topSeries } from "@/ui/chart/series";
import { findLonePoints, seriesAt, stackSeries } from "@/ui/chart/stack";
import { tickLabels, tickSteps } from "@/ui/chart/ticks";

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
  expect([0.5, 1, 10.9, 11, -1].map((value) => seriesAt(series, 0, value))).toEqual([
    "a",
    "b",
    "b",
    undefined,
    undefined,
  ]);
  expect(seriesAt(series, 1, 0)).toBe("b");
});

test("without a stack, the nearest line is at a value", () => {
  const series = [
    { name: "low", colour: "red", values: [1, null] },
    { name: "high", colour: "red", values: [9, 9] },
  ];
  expect([2, 6, 99].map((value) => seriesAt(series, 0, value))).toEqual(["low", "high", "high"]);
  expect(seriesAt(series, 1, 0)).toBe("high");
  expect(seriesAt([], 0, 1)).toBeUndefined();
  const beside = ["a", "b"].map(
    (name) => ({ name, colour: "red", type: "bar", values: [5] }) as const,
  );
  expect(
    [0, 1].map((slot) =>
      seriesAt(
        beside.map((one) => ({ ...one, values: [5] })),
        0,
        9,
        slot,
      ),
    ),
  ).toEqual(["a", "b"]);
});

test("only points between two gaps are drawn as dots", () => {
  expect(findLonePoints([5, null, 0, 7, null, null, 2])).toEqual([0, 6]);
  expect(findLonePoints([null, 0, null])).toEqual([1]);
});

test("all but the largest series are combined into other", () => {
  const points: Record<string, number>[] = [{ a: 9, b: 8, c: 1, d: 2 }, { a: 1 }];
  const series = topSeries("agent", points, 2);
  expect(series.map((one) => [one.name, one.values])).toEqual([
    ["a", [9, 1]],
    ["b", [8, 0]],
    ["other", [3, 0]],
  ]);
  expect(topSeries("agent", points, 3)).toHaveLength(4);
});

describe("an axis", () => {
  /** The labels of an axis with room for a few ticks, as uPlot chooses them. */
  function labels(format: (value: number) => string, most: number): string[] {
    const step = tickSteps(format).find((one) => most / one <= 6) ?? 1;
    const ticks = Array.from({ length: Math.floor(most / step) + 1 }, (_, index) => index * step);
    return tickLabels(format, ticks, step);
  }

  test.each([
    [formatDuration, 0.04, "0, 0.01 ms, 0.02 ms, 0.03 ms, 0.04 ms"],
    [formatDuration, 900, "0, 200 ms, 400 ms, 600 ms, 800 ms"],
    [formatDuration, 2_500, "0, 0.5 s, 1 s, 1.5 s, 2 s, 2.5 s"],
    [formatDuration, 80_000, "0, 20 s, 40 s, 60 s, 80 s"],
    [formatDuration, 1_740_000, "0, 5 min, 10 min, 15 min, 20 min, 25 min"],
    [formatDuration, 5 * 3_600_000, "0, 1 h, 2 h, 3 h, 4 h, 5 h"],
    [formatDuration, 4 * 86_400_000, "0, 1 d, 2 d, 3 d, 4 d"],
    [formatBytes, 2 ** 30, "0, 200 MB, 400 MB, 600 MB, 800 MB, 1,000 MB"],
    [formatBytes, 1500, "0, 500 B, 1,000 B, 1,500 B"],
    [formatPercent, 0.4, "0%, 10%, 20%, 30%, 40%"],
    [formatCompact, 3, "0, 1, 2, 3"],
  ])("has round ticks in one unit (%#)", (format, most, expected) => {
    expect(labels(format, most).join(", ")).toBe(expected);
  });

  test("has ascending steps", () => {
    for (const format of [formatDuration, formatBytes, formatPercent, formatCompact]) {
      const steps = tickSteps(format);
      expect(steps).toEqual(steps.toSorted((a, b) => a - b));
    }
  });
});

describe("the label of a threshold", () => {
  const area = { left: 0, top: 0, right: 100, bottom: 100 };
  const size = { width: 20, height: 10 };
  const flat = (y: number) => [
    { x: 0, y },
    { x: 100, y },
  ];

  test("is above its line at the right", () => {
    expect(placeLabel([], 50, size, area)).toEqual({ left: 80, top: 40, right: 100, bottom: 50 });
  });
  test("is below its line if a series is above, or at the top of the plot", () => {
    expect(placeLabel([flat(45)], 50, size, area).top).toBe(50);
    expect(placeLabel([], 5, size, area).top).toBe(5);
  });
  test("moves left to a place that no series crosses", () => {
    const steep = [
      { x: 60, y: 90 },
      { x: 70, y: 10 },
    ];
    const box = placeLabel([steep, [{ x: 95, y: 45 }, null], [{ x: 90, y: 55 }]], 50, size, area);
    expect(box).toEqual({ left: 40, top: 40, right: 60, bottom: 50 });
  });
  test("stays inside the plot if series are everywhere", () => {
    const lines = [flat(45), flat(55)];
    expect(placeLabel(lines, 50, size, area)).toEqual({
      left: 80,
      top: 40,
      right: 100,
      bottom: 50,
    });
  });
});
