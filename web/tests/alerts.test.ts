import { describe, expect, it } from "vitest";
import { judge } from "@/features/agents/health";
import { toBins } from "@/features/signals/distribution";
import { type AlertRule, describeRule } from "@/lib/alerts";
import type { Agent } from "@/lib/api";

const RULE: AlertRule = {
  metric: "errorRate",
  condition: "above",
  threshold: 0.05,
  windowMinutes: 60,
  forMinutes: 5,
  minSamples: 1,
  severity: "warning",
};

describe("a rule description", () => {
  it("names the threshold with its unit", () => {
    expect(describeRule(RULE)).toBe("Error rate is above 5.0% for 5m, over 1h");
  });
  it("names the signal and the sensitivity of an anomaly rule", () => {
    const rule = { ...RULE, metric: "signal" as const, signalName: "thumbs", forMinutes: 0 };
    expect(describeRule({ ...rule, condition: "anomaly", threshold: null })).toBe(
      "Signal thumbs is unusual (medium sensitivity), over 1h",
    );
  });
});

describe("an agent's health", () => {
  const agent = (traces: number, errorRate: number) =>
    ({ stats24h: { traces, errorRate, p95Latency: null, cost: 0 } }) as Agent;
  const counts = { agentId: "a", agentName: "a", resolved: 9, lastTriggeredAt: "" };

  it("is bad with an active alert, whatever the numbers say", () => {
    expect(judge(agent(9, 0), { ...counts, active: 2, acknowledged: 0 }).word).toBe("2 alerts");
  });
  it("is neutral without traces, and good with few errors", () => {
    expect(judge(agent(0, 0), undefined).tone).toBe("neutral");
    expect(judge(agent(9, 0.01), undefined).tone).toBe("good");
    expect(judge(agent(9, 0.2), undefined).tone).toBe("warning");
  });
});

describe("a distribution", () => {
  it("has one bar per value when there are few", () => {
    expect(toBins([1, 0, 1, 1])).toEqual([
      { label: "0", count: 1 },
      { label: "1", count: 3 },
    ]);
  });
  it("has ten even bins when there are many, and loses no value", () => {
    const bins = toBins(Array.from({ length: 101 }, (_, index) => index / 100));
    expect(bins).toHaveLength(10);
    expect(bins.reduce((sum, bin) => sum + bin.count, 0)).toBe(101);
    expect(bins[9]).toEqual({ label: "0.9 – 1", count: 11 });
  });
  it("is empty without values", () => {
    expect(toBins([])).toEqual([]);
  });
});
