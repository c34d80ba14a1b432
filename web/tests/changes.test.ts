import { expect, test } from "vitest";
import {
  type Contributor,
  contributorBasis,
  headline,
  labelledTicks,
  noteOf,
  summarize,
} from "@/features/changes/measures";
import { agentsWithTwo } from "@/features/changes/useChanges";
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

const made = (fields: Partial<Contributor>): Contributor => ({
  dimension: "tool",
  value: "run_tests",
  measure: "timePerTrace",
  preferred: "lower",
  baseline: 5600,
  candidate: 12_100,
  difference: 6500,
  interval: { lower: 4000, upper: 9000 },
  relativeDifference: 1.16,
  relativeInterval: { lower: 0.7, upper: 1.8 },
  verdict: "worse",
  baselineSamples: 684,
  candidateSamples: 164,
  baselineObservations: 496,
  candidateObservations: 151,
  baselineCalls: 0.5,
  candidateCalls: 0.5,
  explains: "avgLatency",
  explained: 0.9,
  ...fields,
});

test("a contributor says whether it is a share or a mean, and of what", () => {
  const basis = (dimension: string, measure: string, of: "traces" | "spans" = "traces") =>
    contributorBasis(of, made({ dimension, measure, explains: null, explained: null }));
  expect(basis("agent", "share")).toBe("Share of all traces, in %");
  expect(basis("errorType", "errorRate")).toBe("Share of all traces, in %");
  expect(basis("agent", "errorRate")).toBe("Share of these traces, in %");
  expect(basis("tool", "toolErrorRate")).toBe("Share of the tool's calls, in %");
  expect(basis("model", "costPerTrace")).toBe("Mean over all traces, in $");
  expect(basis("agent", "costPerTrace")).toBe("Mean over these traces, in $");
  expect(basis("agent", "avgLatency")).toBe("Mean over these traces");
  expect(basis("tool", "timePerTrace")).toBe("Mean over all traces");
  expect(basis("agent", "share", "spans")).toBe("Share of all calls, in %");
  expect(basis("agent", "costPerCall", "spans")).toBe("Mean over these calls, in $");
  expect(contributorBasis("traces", made({}))).toBe("Explains 90.0% of the change in mean latency");
});

test("the headline names the cause: time per call, calls, cost or errors", () => {
  expect(headline([made({})])).toBe("run_tests takes 24.2 s instead of 11.2 s");
  expect(headline([made({ baselineCalls: 0.2, candidateCalls: 0.5 })])).toBe(
    "run_tests is called 0.50 times per trace instead of 0.20",
  );
  expect(headline([made({ baseline: 0, baselineCalls: 0 })])).toBe(
    "run_tests is new and takes 12.1 s per trace",
  );
  expect(headline([made({ candidate: 0, candidateCalls: 0 })])).toBe(
    "run_tests, which took 5.60 s per trace, is gone",
  );
  const model = { dimension: "model", value: "zz-large", measure: "costPerTrace" };
  expect(headline([made({ ...model, baseline: 0.02, candidate: 0.31 })])).toBe(
    "zz-large costs $0.31 instead of $0.0200 per trace",
  );
  const error = { dimension: "errorType", value: "rate_limit", measure: "errorRate" };
  expect(headline([made({ ...error, baseline: 0.01, candidate: 0.08 })])).toBe(
    "8.0% of traces fail with rate limit instead of 1.0%",
  );
  expect(headline([made({ explains: null })])).toBeNull();
  expect(headline([])).toBeNull();
});

test("a row without a bar says why", () => {
  const note = (fields: Partial<Contributor>) => noteOf(made({ interval: null, ...fields }));
  expect(note({ verdict: "noData", baselineObservations: 0 })).toBe("No data in the baseline");
  expect(note({ verdict: "noData", baselineObservations: 0, candidateObservations: 0 })).toBe(
    "No data on either side",
  );
  expect(note({ verdict: "tooFew", candidateObservations: 12 })).toBe("12 of 30 sessions");
  expect(note({ verdict: "tooFew" })).toBe("Too few sessions for a percentile");
  expect(note({ verdict: "unpriced" })).toBe("Usage without a price");
  expect(noteOf(made({ baseline: 0, relativeInterval: null }))).toBe(
    "The baseline is 0, so no relative change",
  );
});

test("too little data is no answer", () => {
  expect(summarize([made({ verdict: "tooFew" }), made({ verdict: "noData" })])).toBe(
    "Too few sessions for a verdict.",
  );
  expect(summarize([made({ verdict: "unclear" }), made({ verdict: "tooFew" })])).toBe(
    "No statistically significant change.",
  );
});

test("agents are offered that have two values to compare", () => {
  const rows = [
    { agent: "reviewer", model: "large", count: 90 },
    { agent: "reviewer", model: "small", count: 10 },
    { agent: "planner", model: "large", count: 40 },
    { agent: "planner", model: "small", count: 30 },
    { agent: "single", model: "large", count: 500 },
    { agent: null, model: "large", count: 5 },
    { agent: null, model: "small", count: 5 },
  ];
  expect(agentsWithTwo("model", rows)).toEqual(["planner", "reviewer"]);
});
