import { expect, test } from "vitest";
import { type Contributor, contributorBasis, labelledTicks } from "@/features/changes/measures";
import { makeScale, ticksOf } from "@/ui/IntervalBar";

test("labels of ticks keep their distance, and zero always has one", () => {
  for (const [lower, upper] of [
    [-0.95, 0.1],
    [-0.5, 0.5],
    [-0.2, 9],
    [0.3, 0.31],
  ] as const) {
    const scale = makeScale([{ lower, upper }]);
    const shown = labelledTicks(scale, ticksOf(scale, 4));
    expect(shown).toContain(0);
    const distances = shown.slice(1).map((tick, index) => tick - (shown[index] ?? 0));
    expect(Math.min(...distances, 9) / (scale.high - scale.low)).toBeGreaterThan(0.37);
  }
});

test("a contributor says whether it is a share or a mean, and of what", () => {
  const basis = (dimension: string, measure: string) =>
    contributorBasis({ dimension, measure } as Contributor);
  expect(basis("agent", "share")).toBe("Share of all traces, in %");
  expect(basis("errorType", "errorRate")).toBe("Share of all traces, in %");
  expect(basis("agent", "errorRate")).toBe("Share of these traces, in %");
  expect(basis("tool", "toolErrorRate")).toBe("Share of the tool's calls, in %");
  expect(basis("model", "costPerTrace")).toBe("Mean over all traces, in $");
  expect(basis("agent", "costPerTrace")).toBe("Mean over these traces, in $");
  expect(basis("agent", "avgLatency")).toBe("Mean over these traces");
});
