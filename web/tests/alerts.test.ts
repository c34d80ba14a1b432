import { describe, expect, it } from "vitest";
import { agentHealth } from "@/features/agents/health";
import { binLabel } from "@/features/signals/distribution";
import { type AlertRule, describeRule } from "@/lib/alerts";
import type { Agent } from "@/lib/api";

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
