/** The conditions of filters, in the form that the API takes, and in the URL. */
import { useMemo } from "react";
import type { Schemas } from "./api";
import { useSetUrl, useUrl } from "./url";

export type Condition = Schemas["FilterCondition"];
type Operator = NonNullable<Condition["op"]>;

export const ATTRIBUTE = "attribute:";

interface FieldInfo {
  id: string;
  label: string;
  type: "choice" | "text" | "number";
  unit?: string;
}

/** What can be filtered, apart from attributes. */
export const FIELDS: readonly FieldInfo[] = [
  { id: "status", label: "Status", type: "choice" },
  { id: "errorType", label: "Error", type: "choice" },
  { id: "agent", label: "Agent", type: "choice" },
  { id: "model", label: "Model", type: "choice" },
  { id: "provider", label: "Provider", type: "choice" },
  { id: "tool", label: "Tool", type: "choice" },
  { id: "kind", label: "Span kind", type: "choice" },
  { id: "userId", label: "User", type: "choice" },
  { id: "sessionId", label: "Session", type: "choice" },
  { id: "environment", label: "Environment", type: "choice" },
  { id: "serviceVersion", label: "Service version", type: "choice" },
  { id: "experiment", label: "Experiment", type: "choice" },
  { id: "variant", label: "Variant", type: "choice" },
  { id: "name", label: "Name", type: "text" },
  { id: "traceId", label: "Trace id", type: "text" },
  { id: "failure", label: "Failure", type: "text" },
  { id: "durationMs", label: "Duration", type: "number", unit: "ms" },
  { id: "cost", label: "Cost", type: "number", unit: "$" },
  { id: "inputTokens", label: "Input tokens", type: "number" },
  { id: "outputTokens", label: "Output tokens", type: "number" },
  { id: "totalTokens", label: "Tokens", type: "number" },
];

export function fieldInfo(id: string): FieldInfo {
  const known = FIELDS.find((field) => field.id === id);
  const label = id.startsWith(ATTRIBUTE) ? id.slice(ATTRIBUTE.length) || "Attribute" : id;
  return known ?? { id, label, type: "choice" };
}

/** The operators of the form; `between` becomes two conditions. */
export type Comparison = Exclude<Operator, "in" | "exists"> | "between" | "exists" | "missing";

export const COMPARISONS: Record<Comparison, string> = {
  eq: "is",
  ne: "is not",
  contains: "contains",
  gt: "greater than",
  gte: "at least",
  lt: "less than",
  lte: "at most",
  between: "between",
  exists: "exists",
  missing: "does not exist",
};

const NUMERIC: Comparison[] = ["gt", "gte", "lt", "lte", "between"];

export function comparisonsOf(field: string): Comparison[] {
  const { type } = fieldInfo(field);
  if (type === "number") return ["gte", "gt", "lte", "lt", "between", "eq", "ne"];
  if (type === "text") return ["contains", "eq", "ne"];
  const all: Comparison[] = ["eq", "ne", "contains", "exists", "missing"];
  return field.startsWith(ATTRIBUTE) ? [...all, ...NUMERIC] : all;
}

export function takesNumber(field: string, comparison: Comparison): boolean {
  return fieldInfo(field).type === "number" || NUMERIC.includes(comparison);
}

/** The conditions of a filled form. Several values match any of them, or with `ne` none of them. */
export function toConditions(
  field: string,
  comparison: Comparison,
  values: readonly string[],
): Condition[] {
  if (comparison === "exists") return [{ field, op: "exists" }];
  if (comparison === "missing") return [{ field, op: "exists", value: false }];
  const typed = takesNumber(field, comparison) ? values.map(Number) : values;
  if (comparison === "between") {
    const [low, high] = typed;
    return [
      { field, op: "gte", value: low },
      { field, op: "lte", value: high },
    ] as Condition[];
  }
  if (comparison === "eq" && typed.length > 1) {
    return [{ field, op: "in", value: [...typed] as string[] }];
  }
  return typed.map((value) => ({ field, op: comparison, value }));
}

/** The comparison and the values of a form that would add this condition. */
export function fromCondition({ op = "eq", value }: Condition): {
  comparison: Comparison;
  values: string[];
} {
  if (op === "exists") return { comparison: value === false ? "missing" : "exists", values: [] };
  const values = Array.isArray(value) ? value.map(String) : [String(value ?? "")];
  return { comparison: op === "in" ? "eq" : op, values };
}

const SIGNS: Record<Operator, string> = {
  eq: "is",
  ne: "is not",
  in: "is",
  gt: ">",
  gte: "≥",
  lt: "<",
  lte: "≤",
  contains: "contains",
  exists: "exists",
};

/** A condition in words: "Model is gpt-4o or gpt-4o-mini". */
export function describeCondition({ field, op = "eq", value }: Condition): string {
  const { label, unit } = fieldInfo(field);
  if (op === "exists") return `${label} ${value === false ? "does not exist" : "exists"}`;
  const shown = Array.isArray(value) ? value.join(" or ") : String(value);
  const measured = unit === "$" ? `$${shown}` : [shown, unit].filter(Boolean).join(" ");
  return `${label} ${SIGNS[op]} ${measured}`;
}

/** The URL parameters of the page Changes for a filter by two values; null for any other. */
export function comparisonSearch(
  condition: Condition,
  others: readonly Condition[],
): Record<string, string | undefined> | null {
  const { field, op, value } = condition;
  if (op !== "in" || !Array.isArray(value) || value.length !== 2) return null;
  if (fieldInfo(field).type !== "choice") return null;
  const [baseline, candidate] = value.map(String).sort(NATURAL.compare);
  return { by: field, baseline, candidate, filters: writeConditions(others) };
}

/** Version 9 comes before version 10. */
export const NATURAL = new Intl.Collator("en", { numeric: true });

/** Invalid text gives no conditions here; the list shows what the service says about it. */
export function readConditions(text: string | undefined): Condition[] {
  try {
    const read: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(read) ? read.filter((one) => typeof one?.field === "string") : [];
  } catch {
    return [];
  }
}

export function writeConditions(conditions: readonly Condition[]): string | undefined {
  return conditions.length > 0 ? JSON.stringify(conditions) : undefined;
}

/** The conditions in the URL, and a function that replaces them. */
export function useConditions(): [Condition[], (next: readonly Condition[]) => void] {
  const { filters } = useUrl();
  const setUrl = useSetUrl();
  const conditions = useMemo(() => readConditions(filters), [filters]);
  return [conditions, (next) => setUrl({ filters: writeConditions(next) }, { push: true })];
}
