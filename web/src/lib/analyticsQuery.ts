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
import measureTable from "./measures.json";

export type Query = Schemas["AnalyticsQuery"];
export type Entity = Schemas["Entity"];
export type Chart = Schemas["Chart"];
export type Result = Schemas["QueryResult"];
export type Row = Result["rows"][number];

/** Measures with the same unit share an axis. */
type Unit = "count" | "share" | "USD" | "tokens" | "ms" | "score";

/** What an increase of a number means. */
export type Meaning = "neutral" | "high is good" | "low is good";

interface Measure {
  label: string;
  unit: Unit;
  /** What an increase means. */
  meaning: Meaning;
  /** The values of groups can be added up, so their bars are stacked. */
  isAdditive: boolean;
  isOfSpans: boolean;
  isOfTraces: boolean;
  /** How exact it is, unless it is exact. */
  note?: string;
}

export const PERCENTILE_NOTE = "Percentiles of traces are within 0.5% of the exact value.";

const MEASURES: Record<string, Measure> = Object.fromEntries(
  Object.entries(measureTable as Record<string, Measure>).map(([name, measure]) => [
    name,
    /^p\d+$/.test(name) ? { ...measure, note: PERCENTILE_NOTE } : measure,
  ]),
);

export const MEASURE_NAMES = Object.keys(MEASURES);

const SIGNAL = "signal:";

export function signalMeasure(name: string): string {
  return SIGNAL + name;
}

export function measureOf(name: string): Measure {
  const known = MEASURES[name];
  if (known) return known;
  return {
    label: `Mean ${name.replace(SIGNAL, "")}`,
    unit: "score",
    meaning: "neutral",
    isAdditive: false,
    isOfSpans: true,
    isOfTraces: true,
  };
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
export function measuresOf(of: Entity, names: readonly string[]): string[] {
  return names.filter((name) => measureOf(name)[of === "spans" ? "isOfSpans" : "isOfTraces"]);
}

const AXIS_FORMATS: Record<Unit, (value: number) => string> = {
  count: formatCompact,
  share: formatPercent,
  USD: formatCost,
  tokens: formatCompact,
  ms: formatDuration,
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
