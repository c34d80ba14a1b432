/** What a query can measure and group by, and how its values are shown. */
import type { Schemas } from "./api";
import { DIMENSION_NAMES } from "./conditions";
import { ATTRIBUTE, fieldInfo } from "./filterFields";
import {
  formatCompact,
  formatCost,
  formatCount,
  formatDuration,
  formatNumber,
  formatPercent,
} from "./format";

export type Query = Schemas["AnalyticsQuery"];
export type Entity = Schemas["Entity"];
export type Chart = Schemas["Chart"];
export type Result = Schemas["QueryResult"];
export type Row = Result["rows"][number];

/** Measures with the same unit share an axis. */
type Unit = "count" | "share" | "USD" | "tokens" | "duration" | "score";

/** What an increase of a number means. */
export type Meaning = "neutral" | "high is good" | "low is good";

interface Measure {
  label: string;
  unit: Unit;
  /** The values of groups can be added up, so their bars are stacked. */
  isAdditive?: boolean;
  /** Traces do not have it. */
  isOfSpans?: boolean;
  /** How exact it is, unless it is exact. */
  note?: string;
  /** What an increase means; without it, nothing. */
  meaning?: Meaning;
}

export const PERCENTILE_NOTE = "Percentiles of traces are within 0.5% of the exact value.";

const MEASURES: Record<string, Measure> = {
  count: { label: "Count", unit: "count", isAdditive: true },
  errors: { label: "Errors", unit: "count", isAdditive: true, meaning: "low is good" },
  errorRate: { label: "Error rate", unit: "share", meaning: "low is good" },
  cost: { label: "Cost", unit: "USD", isAdditive: true, meaning: "low is good" },
  totalTokens: { label: "Tokens", unit: "tokens", isAdditive: true },
  inputTokens: { label: "Input tokens", unit: "tokens", isAdditive: true },
  outputTokens: { label: "Output tokens", unit: "tokens", isAdditive: true },
  cachedTokens: { label: "Cached tokens", unit: "tokens", isAdditive: true },
  cacheWriteTokens: { label: "Cache writes", unit: "tokens", isAdditive: true },
  reasoningTokens: { label: "Reasoning tokens", unit: "tokens", isAdditive: true },
  avgLatency: latency("Mean latency"),
  p50: { ...latency("p50 latency"), note: PERCENTILE_NOTE },
  p95: { ...latency("p95 latency"), note: PERCENTILE_NOTE },
  p99: { ...latency("p99 latency"), note: PERCENTILE_NOTE },
  avgTimeToFirstToken: { ...latency("Mean time to first token"), isOfSpans: true },
  p50TimeToFirstToken: { ...latency("p50 time to first token"), isOfSpans: true },
  p95TimeToFirstToken: { ...latency("p95 time to first token"), isOfSpans: true },
  users: { label: "Users", unit: "count" },
  sessions: { label: "Sessions", unit: "count" },
  agents: { label: "Active agents", unit: "count" },
};

function latency(label: string): Measure {
  return { label, unit: "duration", meaning: "low is good" };
}

export const MEASURE_NAMES = Object.keys(MEASURES);

const SIGNAL = "signal:";

export function signalMeasure(name: string): string {
  return SIGNAL + name;
}

export function measureOf(name: string): Measure {
  const known = MEASURES[name];
  if (known) return known;
  return { label: `Mean ${name.replace(SIGNAL, "")}`, unit: "score" };
}

export function isMeasure(name: string): boolean {
  return name in MEASURES || (name.startsWith(SIGNAL) && name.length > SIGNAL.length);
}

/** A trace is in the group of each value that one of its spans has. */
const SHARED = ["model", "provider", "tool", "kind", "service", "serviceVersion"];

/** The dimension by which one trace may be in several groups, if there is one. */
export function sharedDimension({ of, groupBy = [] }: Pick<Query, "of" | "groupBy">) {
  if (of !== "traces") return undefined;
  return groupBy.find((name) => SHARED.includes(name) || name.startsWith(ATTRIBUTE));
}

/** Whether the sum of these measures, over all groups, means something: then bars are stacked. */
export function addsUp(query: Pick<Query, "of" | "groupBy">, measures: readonly string[]): boolean {
  const isOne = measures.length === 1 && measureOf(measures[0] ?? "").isAdditive === true;
  const isTokens = measures.every((one) => one === "inputTokens" || one === "outputTokens");
  return (isOne || isTokens) && sharedDimension(query) === undefined;
}

/** The measures by their unit: those of one share an axis. */
export function byUnit(measures: readonly string[]): [Unit, string[]][] {
  const units = new Map<Unit, string[]>();
  for (const name of measures) {
    const { unit } = measureOf(name);
    units.set(unit, [...(units.get(unit) ?? []), name]);
  }
  return [...units];
}

/** The measures that traces or spans have. */
export function measuresOf(of: Entity, measures: readonly string[]): string[] {
  return measures.filter((name) => of === "spans" || !measureOf(name).isOfSpans);
}

const AXIS_FORMATS: Record<Unit, (value: number) => string> = {
  count: formatCompact,
  share: formatPercent,
  USD: formatCost,
  tokens: formatCompact,
  duration: formatDuration,
  score: formatNumber,
};

export function axisFormat(unit: Unit) {
  return AXIS_FORMATS[unit];
}

/** How a value is shown in a table or a number panel: counts are exact. */
export function measureFormat(name: string): (value: number) => string {
  const { unit } = measureOf(name);
  return unit === "count" || unit === "tokens" ? formatCount : AXIS_FORMATS[unit];
}

export function formatMeasure(name: string, value: unknown): string {
  return typeof value === "number" ? measureFormat(name)(value) : "–";
}

export function measureValue(row: Row, name: string): number | null {
  const value = row[name];
  return typeof value === "number" ? value : null;
}

export function isDimension(name: string): boolean {
  return DIMENSION_NAMES.includes(name) || name.startsWith(ATTRIBUTE);
}

/** The label of a column of a result; cost and tokens are both measures and filter fields. */
export function columnLabel(name: string): string {
  return isMeasure(name) ? measureOf(name).label : fieldInfo(name).label;
}

/** The text of a group's value; rows without one have none. */
export function groupValue(value: unknown): string {
  return value === null || value === undefined || value === "" ? "(none)" : String(value);
}

export function groupName(row: Row, groupBy: readonly string[]): string {
  return groupBy.map((name) => groupValue(row[name])).join(" · ");
}
