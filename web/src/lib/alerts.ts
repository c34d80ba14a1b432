/** Labels, formats and colours of alerts and their metrics. */
import type { Schemas } from "./api";
import { formatCompact, formatCost, formatDuration, formatNumber, formatPercent } from "./format";

export type Alert = Schemas["Alert"];
export type AlertRule = Schemas["AlertRule-Input"];
export type AlertMetric = AlertRule["metric"];
export type AlertStatus = Alert["status"];
export type Severity = Alert["severity"];
export type Condition = AlertRule["condition"];

interface MetricDisplay {
  label: string;
  /** The unit in which a threshold is typed. */
  unit: string;
  format: (value: number | null | undefined) => string;
}

export const METRICS: Record<AlertMetric, MetricDisplay> = {
  errorRate: { label: "Error rate", unit: "%", format: formatPercent },
  p95Latency: { label: "p95 latency", unit: "ms", format: formatDuration },
  avgLatency: { label: "Mean latency", unit: "ms", format: formatDuration },
  cost: { label: "Cost", unit: "$", format: formatCost },
  totalTokens: { label: "Tokens", unit: "tokens", format: formatCompact },
  unpricedTokens: { label: "Tokens without a price", unit: "tokens", format: formatCompact },
  requestCount: { label: "Requests", unit: "requests", format: formatCompact },
  signal: { label: "Signal", unit: "", format: formatNumber },
};

export const SEVERITIES = ["info", "warning", "critical"] as const;

export function severityTone(severity: Severity): "info" | "warning" | "bad" {
  return severity === "critical" ? "bad" : severity;
}

export function statusTone(status: AlertStatus): "bad" | "warning" | "good" {
  return status === "active" ? "bad" : status === "acknowledged" ? "warning" : "good";
}

/** 12.5% above 5%, or: 5.8 s, usually 2.1 s. */
export function against(alert: Alert): string {
  const { format } = METRICS[alert.metric];
  if (alert.condition === "anomaly") {
    return alert.baseline === null ? "unusual" : `usually ${format(alert.baseline)}`;
  }
  return `${alert.condition} ${format(alert.threshold)}`;
}

/** A rule in one sentence. */
export function describeRule(rule: AlertRule | Schemas["AlertRule-Output"]): string {
  const { label, format } = METRICS[rule.metric];
  const what = rule.metric === "signal" ? `Signal ${rule.signalName ?? "?"}` : label;
  const how =
    rule.condition === "anomaly"
      ? `is unusual (${rule.sensitivity ?? "medium"} sensitivity)`
      : `is ${rule.condition} ${format(rule.threshold)}`;
  const lasts = rule.forMinutes ? ` for ${formatMinutes(rule.forMinutes)}` : "";
  return `${what} ${how}${lasts}, over ${formatMinutes(rule.windowMinutes)}`;
}

export function formatMinutes(minutes: number): string {
  if (minutes % 1440 === 0) return `${minutes / 1440} d`;
  return minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m`;
}
