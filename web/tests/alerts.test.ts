import { describe, expect, it } from "vitest";
import { agentHealth } from "@/features/agents/health";
import { binLabel } from "@/features/signals/distribution";
import {
  type Alert,
  type AlertRule,
  against,
  describeFiring,
  describeLatest,
  describeRule,
  displayOf,
  tracesOf,
} from "@/lib/alerts";
import type { Agent } from "@/lib/api";
import { tickSteps } from "@/ui/chart/ticks";
import {
  type Backtest,
  describeBlind,
  describeFired,
  subjectOf,
  toLevels,
  toPeriod,
  toSeries,
} from "@/ui/rules/backtest";

const RULE: AlertRule = {
  enabled: true,
  metric: "errorRate",
  of: "traces",
  filters: [],
  condition: "above",
  threshold: 0.05,
  windowMinutes: 60,
  forMinutes: 5,
  minSamples: 1,
  severity: "warning",
};

describe("a rule description", () => {
  it("names the threshold with its unit", () => {
    expect(describeRule(RULE)).toBe("Error rate is above 5% for 5 min, measured over 1 h");
  });
  it("names the signal and the sensitivity of an anomaly rule", () => {
    const rule = { ...RULE, metric: "signal" as const, signalName: "thumbs", forMinutes: 0 };
    expect(describeRule({ ...rule, condition: "anomaly", threshold: null })).toBe(
      "Signal thumbs is unusual (medium sensitivity), measured over 1 h",
    );
  });
});

describe("a window of days", () => {
  it("is named in days", () => {
    const rule = { ...RULE, forMinutes: 1440, windowMinutes: 2880 };
    expect(describeRule(rule)).toBe("Error rate is above 5% for 1 day, measured over 2 days");
  });
});

describe("the metric query", () => {
  it("has the label, unit and format of its measure", () => {
    const rule = { ...RULE, metric: "query" as const, measure: "p99", threshold: 2000 };
    expect(describeRule({ ...rule, of: "spans" })).toBe(
      "p99 latency of spans is above 2 s for 5 min, measured over 1 h",
    );
  });
});

describe("an agent's health", () => {
  const agent = (traces: number, errorRate: number) =>
    ({ stats24h: { traces, errorRate, p95Latency: null, cost: 0 } }) as Agent;
  const counts = { agentId: "a", agentName: "a", resolved: 9, lastTriggeredAt: "" };

  it("is bad with an active alert, whatever the numbers say", () => {
    expect(agentHealth(agent(9, 0), { ...counts, active: 2, acknowledged: 0 }).word).toBe(
      "2 alerts",
    );
  });
  it("is neutral without traces, and good with few errors", () => {
    expect(agentHealth(agent(0, 0), undefined).tone).toBe("neutral");
    expect(agentHealth(agent(9, 0.01), undefined).tone).toBe("good");
    expect(agentHealth(agent(9, 0.2), undefined).tone).toBe("warning");
  });
});

describe("a distribution", () => {
  it("labels a bin with its value or its bounds", () => {
    expect(binLabel({ start: 1, end: 1, count: 3 })).toBe("1");
    expect(binLabel({ start: 0.8999999999999999, end: 1, count: 3 })).toBe("0.9 – 1");
  });
});

const ALERT = {
  agentId: "a",
  agentName: "planner",
  metric: "p95Latency",
  measure: null,
  condition: "above",
  value: 1003,
  threshold: 1000,
  baseline: null,
  windowStart: "2026-11-01T10:10:00Z",
  windowEnd: "2026-11-01T10:15:00Z",
  triggeredAt: "2026-11-01T10:00:00Z",
  resolvedAt: null,
  rule: RULE,
} as unknown as Alert;

describe("an alert", () => {
  it("says by how much a value is over a threshold that looks the same", () => {
    expect(against(ALERT)).toBe("above 1 s by 3 ms");
    expect(against({ ...ALERT, value: 1500 })).toBe("above 1 s");
  });

  it("leads to the traces that its rule measured, what it is about first", () => {
    const filters: AlertRule["filters"] = [{ field: "tool", op: "eq", value: "search" }];
    const found = tracesOf({ ...ALERT, rule: { ...RULE, filters } as Alert["rule"] });
    expect(found).toMatchObject({ agent: "planner", sort: "duration" });
    expect([found.from, found.to]).toEqual([ALERT.windowStart, ALERT.windowEnd]);
    expect(JSON.parse(found.filters ?? "")).toEqual(filters);
    expect(JSON.parse(tracesOf({ ...ALERT, metric: "errorRate" }).filters ?? "")).toContainEqual({
      field: "status",
      op: "eq",
      value: "error",
    });
    expect(tracesOf({ ...ALERT, metric: "query", measure: "cost" }).sort).toBe("cost");
  });

  it("of failed spans leads to traces that contain one, however they ended", () => {
    const rule = { ...RULE, metric: "query", measure: "errors", of: "spans" } as Alert["rule"];
    const found = tracesOf({ ...ALERT, metric: "query", measure: "errors", rule });
    expect(JSON.parse(found.filters ?? "")).toEqual([{ field: "failure", op: "exists" }]);
  });
});

describe("the latest value of an alert", () => {
  it("is a number of new failures, or a value beside its threshold", () => {
    const failures = { ...ALERT, metric: "newFailureGroup", threshold: 0 } as const;
    expect(describeLatest({ ...failures, value: 1 })).toEqual({ value: "1 new failure", note: "" });
    expect(describeLatest({ ...failures, value: 2 }).value).toBe("2 new failures");
    const value = describeLatest({ ...ALERT, value: 1500 });
    expect(value).toEqual({ value: "1.50 s", note: "p95 latency above 1 s" });
  });

  it("comes with how long the alert fires", () => {
    const now = Date.parse("2026-11-01T17:36:00Z");
    expect(describeFiring(ALERT, now)).toBe("firing for 7h 36m");
    const resolved = { ...ALERT, resolvedAt: "2026-11-01T10:20:00Z" };
    expect(describeFiring(resolved, now)).toBe("fired for 20m");
  });
});

describe("a backtest", () => {
  const blind = (skipped: number, changes: Partial<AlertRule>) =>
    describeBlind({ skipped, windows: 6720 } as Backtest, { ...RULE, ...changes });

  it("says how often a rule would have fired, and how often a day", () => {
    expect(describeFired(0)).toBe("would not have fired");
    expect(describeFired(1)).toBe("would have fired once");
    expect(describeFired(14)).toBe("would have fired 14 times");
    expect(describeFired(121)).toBe("would have fired 121 times, 9 a day");
  });

  it("says for how long a rule was blind, and what was missing", () => {
    expect(blind(0, {})).toBeNull();
    expect(blind(3934, { minSamples: 10, windowMinutes: 15 })).toBe(
      "Blind 58.5% of the time: fewer than 10 traces in 15 min",
    );
    expect(blind(672, { metric: "signal" })).toBe("Blind 10% of the time: no signals in 1 h");
    // Few samples are too noisy for unusual percentiles, whatever the rule asks for.
    const anomaly = { metric: "p95Latency", condition: "anomaly" } as const;
    expect(blind(672, anomaly)).toContain("fewer than 20 traces");
  });

  it("is of one subject whatever the threshold and the window are", () => {
    const own = subjectOf(RULE);
    expect(subjectOf({ ...RULE, threshold: 1, windowMinutes: 5, forMinutes: 0 })).toBe(own);
    const others: Partial<AlertRule>[] = [
      { metric: "p95Latency" },
      { of: "spans" },
      { condition: "below" },
      { signalName: "thumbs_up" },
      { filters: [{ field: "tool", op: "eq", value: "search" }] },
    ];
    for (const other of others) expect(subjectOf({ ...RULE, ...other })).not.toBe(own);
  });
});

describe("the chart of a rule", () => {
  const point = { at: "2026-11-01T10:00:00Z", value: 5, baseline: 3, lower: null, upper: 8 };
  const backtest = { points: [point], firings: [] } as unknown as Backtest;
  const rule = { ...RULE, metric: "avgLatency", condition: "anomaly", threshold: null } as const;

  it("draws the baseline of an anomaly rule with its bounds", () => {
    expect(toSeries(backtest, rule).map((one) => [one.name, one.values])).toEqual([
      ["Mean latency", [5]],
      ["baseline", [3]],
      ["upper bound", [8]],
    ]);
    expect(toLevels(backtest, { ...rule, baseline: 3 })).toEqual([]);
  });
  it("draws the baseline of the alert when the history is gone", () => {
    const empty = { ...backtest, points: [{ ...point, baseline: null }] };
    expect(toLevels(empty, { ...rule, baseline: 3 })).toMatchObject([
      { value: 3, label: "usually 3 ms" },
    ]);
  });
  it("draws the threshold", () => {
    expect(toLevels(backtest, RULE)).toMatchObject([{ value: 0.05, label: "5%" }]);
  });
  it("marks a short period as long as a point", () => {
    const { to } = toPeriod("2026-11-01T10:00:00Z", "2026-11-01T10:05:00Z", "red");
    expect(to).toBe(Date.parse("2026-11-01T11:00:00Z"));
  });
  it("has ticks between 0 and 1 for a signal", () => {
    const { format } = displayOf({ metric: "query", measure: "signal:quality", of: "traces" });
    expect(tickSteps(format)).toContain(0.2);
  });
});
