/** The conditions of filters, in the form that the API takes, and in the URL. */
import { useMemo } from "react";
import type { Schemas } from "./api";
import { ATTRIBUTE, FAILURE, FIELDS, type FilteredRows, fieldInfo } from "./filterFields";
import { useSetUrl, useUrl } from "./url";

export type Condition = Schemas["FilterCondition"];
type Operator = NonNullable<Condition["op"]>;

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
const EXISTENCE: Comparison[] = ["exists", "missing"];

export function comparisonsOf(field: string): Comparison[] {
  const { type } = fieldInfo(field);
  if (type === "number") return ["gte", "gt", "lte", "lt", "between", "eq", "ne", ...EXISTENCE];
  // A failure is an id, of which nobody knows a part.
  if (field === FAILURE) return ["eq", "ne", ...EXISTENCE];
  if (type === "text") return ["contains", "eq", "ne", ...EXISTENCE];
  const all: Comparison[] = ["eq", "ne", "contains", ...EXISTENCE];
  return field.startsWith(ATTRIBUTE) ? [...all, ...NUMERIC] : all;
}

/** Whether the values of a field are suggested. */
export function hasSuggestions(field: string, rows: FilteredRows): boolean {
  if (rows.values) return field in rows.values;
  return field === FAILURE || fieldInfo(field).type === "choice";
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

/** The comparison and the values of a form that would add these conditions. */
export function fromConditions(conditions: readonly Condition[]): {
  comparison: Comparison;
  values: string[];
} {
  const values = conditions.flatMap(({ value }) => value ?? []).map(String);
  const op = conditions[0]?.op ?? "eq";
  if (isBetween(conditions)) return { comparison: "between", values };
  if (op === "exists") {
    return { comparison: values[0] === "false" ? "missing" : "exists", values: [] };
  }
  return { comparison: op === "in" ? "eq" : op, values };
}

function isBetween([low, high]: readonly Condition[]): boolean {
  return low?.op === "gte" && high?.op === "lte" && low.field === high.field;
}

/** The two bounds of a range together, any other condition by itself. */
export function groupConditions(conditions: readonly Condition[]): Condition[][] {
  const groups: Condition[][] = [];
  for (const condition of conditions) {
    const last = groups.at(-1);
    if (last?.length === 1 && isBetween([...last, condition])) last.push(condition);
    else groups.push([condition]);
  }
  return groups;
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

/** Conditions in words: "Model is gpt-4o or gpt-4o-mini", "Cost between $0.5 and $2". */
export function describeConditions(conditions: readonly Condition[]): string {
  const [condition] = conditions;
  if (!condition) return "";
  const { field, op = "eq", value } = condition;
  const { label, unit } = fieldInfo(field);
  if (op === "exists") return `${label} ${value === false ? "does not exist" : "exists"}`;
  const isMoney = unit === "$";
  const show = (one: unknown) => (isMoney ? `$${one}` : String(one));
  const values = conditions.flatMap((one) => one.value ?? []).map(show);
  const shown = values.join(isBetween(conditions) ? " and " : " or ");
  const sign = isBetween(conditions) ? "between" : SIGNS[op];
  return [label, sign, shown, isMoney ? "" : unit].filter(Boolean).join(" ");
}

/** What traces are grouped and compared by, apart from attributes. */
export const DIMENSION_NAMES = FIELDS.filter(({ type }) => type === "choice").map(({ id }) => id);

/** Whether the traces of two values can be compared; an attribute needs a key. */
function isComparable(field: string): boolean {
  const isAttribute = field.startsWith(ATTRIBUTE) && field !== ATTRIBUTE;
  return isAttribute || DIMENSION_NAMES.includes(field);
}

/** The URL parameters of the page Changes for a filter by two values; null for any other. */
export function comparisonSearch(
  condition: Condition,
  others: readonly Condition[],
): Record<string, string | undefined> | null {
  const { field, op, value } = condition;
  if (op !== "in" || !Array.isArray(value) || value.length !== 2) return null;
  if (!isComparable(field)) return null;
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
