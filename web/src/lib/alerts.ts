/** Labels, formats and colours of alerts and their metrics. */
import { measureOf } from "./analyticsQuery";
import type { Schemas } from "./api";
import { type Condition as Filter, writeConditions } from "./conditions";
import {
  formatCompact,
  formatCost,
  formatCounted,
  formatDuration,
  formatNumber,
  formatPercent,
  trimZeros,
} from "./format";
import type { Search } from "./url";

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

const UNITS = {
  share: { unit: "%", format: formatPercent },
  ms: { unit: "ms", format: formatDuration },
  USD: { unit: "$", format: formatCost },
  tokens: { unit: "tokens", format: formatCompact },
  count: { unit: "", format: formatCompact },
  score: { unit: "", format: formatNumber },
};

function display(measure: string): MetricDisplay {
  const { label, unit } = measureOf(measure);
  return { label, ...UNITS[unit] };
}

export const METRICS: Record<AlertMetric, MetricDisplay> = {
  errorRate: display("errorRate"),
  p95Latency: display("p95"),
  avgLatency: display("avgLatency"),
  cost: display("cost"),
  totalTokens: display("totalTokens"),
  unpricedTokens: display("unpricedTokens"),
  requestCount: { label: "Requests", unit: "requests", format: formatCompact },
  signal: { label: "Signal", unit: "", format: formatNumber },
  newFailureGroup: { label: "New failures", unit: "failures", format: formatCompact },
  query: { label: "Query", unit: "", format: formatNumber },
};

interface Measured {
  metric: AlertMetric;
  measure?: string | null;
  of?: string;
}

/** The label, unit and format of what a rule or an alert measures. */
export function displayOf({ metric, measure, of }: Measured): MetricDisplay {
  if (metric !== "query" || !measure) return METRICS[metric];
  const shown = display(measure);
  return of ? { ...shown, label: `${shown.label} of ${of}` } : shown;
}

/** An error rate is typed in percent. */
export function isRate({ metric, measure }: Measured): boolean {
  return metric === "errorRate" || measure === "errorRate";
}

export const SEVERITIES = ["info", "warning", "critical"] as const;

export function severityTone(severity: Severity): "info" | "warning" | "bad" {
  return severity === "critical" ? "bad" : severity;
}

export function statusTone(status: AlertStatus): "bad" | "warning" | "good" {
  return status === "active" ? "bad" : status === "acknowledged" ? "warning" : "good";
}

/** 12.5% above 5%, or: 5.8 s, usually 2.1 s. Values that look the same get their difference. */
export function against(alert: Alert): string {
  const { format } = displayOf(alert);
  if (alert.condition === "anomaly") {
    return alert.baseline === null ? "unusual" : `usually ${format(alert.baseline)}`;
  }
  const limit = `${alert.condition} ${trimZeros(format(alert.threshold))}`;
  const over = Math.abs(alert.value - (alert.threshold ?? 0));
  if (over === 0 || format(alert.value) !== format(alert.threshold)) return limit;
  return `${limit} by ${format(over)}`;
}

/** The noun of what a rule counts as its samples. */
export function samplesOf({ metric, of }: Measured): string {
  if (metric === "signal") return "signal";
  return metric === "query" && of === "spans" ? "span" : "trace";
}

/** The latest value of an alert, and what it is: "12.5%", "Error rate above 5%". */
export function describeLatest(alert: Alert): { value: string; note: string } {
  if (alert.metric === "newFailureGroup" && alert.threshold === 0) {
    return { value: formatCounted(alert.value, "new failure"), note: "" };
  }
  const { label, format } = displayOf(alert);
  return { value: format(alert.value), note: `${label} ${against(alert)}` };
}

/** "firing for 7h 36m"; of a resolved one, how long it did. */
export function describeFiring({ triggeredAt, resolvedAt }: Alert, now = Date.now()): string {
  const lasted = new Date(resolvedAt ?? now).getTime() - new Date(triggeredAt).getTime();
  return `${resolvedAt ? "fired" : "firing"} for ${formatDuration(Math.max(0, lasted))}`;
}

/** The filters and order of the list of traces that an alert measured. */
export function tracesOf(alert: Alert): Search {
  const { metric, measure, rule } = alert;
  const isOfErrors = metric === "errorRate" || measure === "errors" || measure === "errorRate";
  const isOfSpans = metric === "query" && rule.of === "spans";
  // The root of a trace with failed spans may have succeeded.
  const failure: Filter = isOfSpans
    ? { field: "failure", op: "exists" }
    : { field: "status", op: "eq", value: "error" };
  return {
    agent: alert.agentId ? alert.agentName : undefined,
    from: alert.windowStart,
    to: alert.windowEnd,
    filters: writeConditions([...rule.filters, ...(isOfErrors ? [failure] : [])]),
    sort: SORTS[measure ?? metric],
  };
}

/** The order of the list of traces that puts first what a metric or a measure is about. */
const SORTS: Record<string, string | undefined> = {
  p95Latency: "duration",
  avgLatency: "duration",
  p50: "duration",
  p95: "duration",
  p99: "duration",
  cost: "cost",
  totalTokens: "tokens",
  inputTokens: "tokens",
  outputTokens: "tokens",
  cachedTokens: "tokens",
};

/** A rule in one sentence. */
export function describeRule(rule: AlertRule | Schemas["AlertRule-Output"]): string {
  const { label, format } = displayOf(rule);
  if (rule.metric === "newFailureGroup" && rule.threshold === 0) {
    return `A failure is new or came back within ${formatMinutes(rule.windowMinutes)}`;
  }
  const what = rule.metric === "signal" ? `Signal ${rule.signalName ?? "?"}` : label;
  const how =
    rule.condition === "anomaly"
      ? `is unusual (${rule.sensitivity ?? "medium"} sensitivity)`
      : `is ${rule.condition} ${trimZeros(format(rule.threshold))}`;
  const lasts = rule.forMinutes ? ` for ${formatMinutes(rule.forMinutes)}` : "";
  const count = rule.filters?.length ?? 0;
  const where = count === 0 ? "" : `, ${count === 1 ? "1 filter" : `${count} filters`}`;
  return `${what} ${how}${lasts}, measured over ${formatMinutes(rule.windowMinutes)}${where}`;
}

/** 5 min, 2 h, 7 days */
export function formatMinutes(minutes: number): string {
  if (minutes % 1440 === 0) return formatCounted(minutes / 1440, "day");
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${minutes} min`;
}
