/** What a query can measure, group by and filter by, and how its values are shown. */
import type { Schemas } from "./api";
import { formatCompact, formatCost, formatCount, formatDuration, formatPercent } from "./format";

export type Query = Schemas["AnalyticsQuery"];
export type Entity = Schemas["Entity"];
export type Chart = Schemas["Chart"];
export type Operator = Schemas["Operator"];
export type Condition = NonNullable<Query["filters"]>[number];
export type Result = Schemas["QueryResult"];
export type Row = Result["rows"][number];

/** Measures with the same unit share an axis. */
type Unit = "count" | "share" | "USD" | "tokens" | "duration" | "score";

interface Measure {
  label: string;
  unit: Unit;
  /** The values of groups can be added up, so their bars are stacked. */
  isAdditive?: boolean;
}

const MEASURES: Record<string, Measure> = {
  count: { label: "Count", unit: "count", isAdditive: true },
  errors: { label: "Errors", unit: "count", isAdditive: true },
  errorRate: { label: "Error rate", unit: "share" },
  cost: { label: "Cost", unit: "USD", isAdditive: true },
  inputTokens: { label: "Input tokens", unit: "tokens", isAdditive: true },
  outputTokens: { label: "Output tokens", unit: "tokens", isAdditive: true },
  cachedTokens: { label: "Cached tokens", unit: "tokens", isAdditive: true },
  avgLatency: { label: "Average latency", unit: "duration" },
  p50: { label: "p50 latency", unit: "duration" },
  p95: { label: "p95 latency", unit: "duration" },
  p99: { label: "p99 latency", unit: "duration" },
  users: { label: "Users", unit: "count" },
  sessions: { label: "Sessions", unit: "count" },
};
export const MEASURE_NAMES = Object.keys(MEASURES);

const SIGNAL = "signal:";
export const ATTRIBUTE = "attribute:";

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

const AXIS_FORMATS: Record<Unit, (value: number) => string> = {
  count: formatCompact,
  share: formatPercent,
  USD: formatCost,
  tokens: formatCompact,
  duration: formatDuration,
  score: formatCompact,
};

export function axisFormat(unit: Unit) {
  return AXIS_FORMATS[unit];
}

/** A value in a table or a number panel: counts are exact. */
export function formatMeasure(name: string, value: unknown): string {
  const number = typeof value === "number" ? value : null;
  const { unit } = measureOf(name);
  if (number === null) return "–";
  return unit === "count" || unit === "tokens" ? formatCount(number) : AXIS_FORMATS[unit](number);
}

const DIMENSIONS: Record<string, string> = {
  agent: "Agent",
  model: "Model",
  provider: "Provider",
  tool: "Tool",
  kind: "Span kind",
  status: "Status",
  errorType: "Error type",
  environment: "Environment",
  userId: "User",
  sessionId: "Session",
  serviceVersion: "Service version",
  experiment: "Experiment",
  variant: "Variant",
};
const OTHER_FIELDS: Record<string, string> = {
  name: "Name",
  traceId: "Trace id",
  durationMs: "Duration (ms)",
  cost: "Cost (USD)",
  inputTokens: "Input tokens",
  outputTokens: "Output tokens",
  totalTokens: "Total tokens",
};
export const DIMENSION_NAMES = Object.keys(DIMENSIONS);
export const FIELD_NAMES = [...DIMENSION_NAMES, ...Object.keys(OTHER_FIELDS)];
const NUMBERS = new Set(["durationMs", "cost", "inputTokens", "outputTokens", "totalTokens"]);

export function isDimension(name: string): boolean {
  return name in DIMENSIONS || name.startsWith(ATTRIBUTE);
}

export function isCondition(value: unknown): value is Condition {
  const { field, op } = (value ?? {}) as Partial<Condition>;
  if (typeof field !== "string" || typeof op !== "string" || !(op in OPERATORS)) return false;
  return field === "" || isDimension(field) || field in OTHER_FIELDS;
}

/** The label of a dimension or a filter field. */
export function fieldLabel(name: string): string {
  if (name.startsWith(ATTRIBUTE)) return name.slice(ATTRIBUTE.length) || "Attribute";
  return DIMENSIONS[name] ?? OTHER_FIELDS[name] ?? name;
}

/** The label of a column of a result; cost and tokens are both measures and filter fields. */
export function columnLabel(name: string): string {
  return isMeasure(name) ? measureOf(name).label : fieldLabel(name);
}

export const OPERATORS: Record<Operator, string> = {
  eq: "is",
  ne: "is not",
  in: "is one of",
  contains: "contains",
  gt: ">",
  gte: "≥",
  lt: "<",
  lte: "≤",
  exists: "has a value",
};
const NUMBER_OPERATORS: Operator[] = ["gt", "gte", "lt", "lte", "eq", "ne"];
const TEXT_OPERATORS: Operator[] = ["eq", "ne", "in", "contains", "exists"];

export function operatorsOf(field: string): Operator[] {
  if (NUMBERS.has(field)) return NUMBER_OPERATORS;
  if (field.startsWith(ATTRIBUTE)) return [...TEXT_OPERATORS, "gt", "gte", "lt", "lte"];
  return TEXT_OPERATORS;
}

/** Compared as numbers: the value of such a condition must be one. */
export function isNumeric({ field, op }: Pick<Condition, "field" | "op">): boolean {
  return NUMBERS.has(field) || ["gt", "gte", "lt", "lte"].includes(op);
}

/** The text of a group's value; rows without one have none. */
export function groupValue(value: unknown): string {
  return value === null || value === undefined || value === "" ? "(none)" : String(value);
}

export function groupName(row: Row, groupBy: readonly string[]): string {
  return groupBy.map((name) => groupValue(row[name])).join(" · ");
}
