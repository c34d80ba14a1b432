import { expect, test } from "vitest";
import { describeMean, factsOf, formatValue, isShare } from "@/features/signals/share";
import type { Schemas } from "@/lib/api";

/** The summary of some values, with the population's deviation, as the service computes it. */
function summaryOf(values: number[]) {
  const count = values.length;
  const sum = values.reduce((all, value) => all + value, 0);
  const avg = sum / count;
  const variance = values.reduce((all, value) => all + (value - avg) ** 2, 0) / count;
  const [min, max] = [Math.min(...values), Math.max(...values)];
  const summary = { count, sum, avg, min, max, stddev: Math.sqrt(variance), p50: avg, p95: max };
  return summary as unknown as Schemas["SignalSummary"];
}

const times = (count: number, value: number) => Array<number>(count).fill(value);

test("a signal of 0 and 1 is a share, without medians and deviations", () => {
  const thumbs = summaryOf([...times(1932, 1), ...times(322, 0)]);
  expect(isShare(thumbs)).toBe(true);
  expect(describeMean(thumbs)).toBe("85.7% positive");
  expect(factsOf(thumbs)).toEqual([
    ["Signals", "2,254"],
    ["Share of positive", "85.7%"],
    ["Positive", "1,932"],
    ["Negative", "322"],
  ]);
  expect([0, 1].map((value) => formatValue(value, true))).toEqual(["negative", "positive"]);
});

test("values of only one kind are a share too", () => {
  expect(describeMean(summaryOf([1, 1]))).toBe("100% positive");
  expect(describeMean(summaryOf([0]))).toBe("0% positive");
});

test("one value between 0 and 1 makes a signal a score", () => {
  expect(isShare(summaryOf([...times(5000, 1), ...times(5000, 0), 0.5]))).toBe(false);
  expect(isShare(summaryOf([0.5]))).toBe(false);
  expect(isShare(summaryOf([0, 1, 2]))).toBe(false);
  expect(isShare(summaryOf([-1, 1]))).toBe(false);
  const score = summaryOf([0.25, 0.75]);
  expect(describeMean(score)).toBe("mean 0.5");
  expect(factsOf(score).map(([name]) => name)).toContain("Median");
});
