/** The fields that traces, spans, logs, signals and metrics are filtered by. */
import { createContext } from "react";

export const ATTRIBUTE = "attribute:";
export const FAILURE = "failure";

export interface FieldInfo {
  id: string;
  label: string;
  type: "choice" | "text" | "number";
  unit?: string;
}

/** What traces and spans are filtered by, apart from attributes. */
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
  { id: "service", label: "Service", type: "choice" },
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

const TRACE_ID: FieldInfo = { id: "traceId", label: "Trace id", type: "text" };
const SPAN_ID: FieldInfo = { id: "spanId", label: "Span id", type: "text" };

/** What filters are about: the fields of some rows, and where their attributes and values come from. */
export interface FilteredRows {
  fields: readonly FieldInfo[];
  attributesOf: string;
  /** The attributes; without them, those of spans are suggested. */
  attributes?: readonly string[];
  /** The values of fields; without them, those of traces and spans are suggested. */
  values?: Readonly<Record<string, readonly string[]>>;
}

export const TRACES: FilteredRows = { fields: FIELDS, attributesOf: "spans" };

export const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;

export const LOGS: FilteredRows = {
  fields: [
    { id: "level", label: "Level", type: "choice" },
    { id: "message", label: "Message", type: "text" },
    { id: "agent", label: "Agent", type: "choice" },
    { id: "service", label: "Service", type: "choice" },
    { id: "serviceVersion", label: "Service version", type: "choice" },
    TRACE_ID,
    SPAN_ID,
  ],
  attributesOf: "logs",
  attributes: [],
  values: { level: LEVELS },
};

export const SIGNALS: FilteredRows = {
  fields: [
    { id: "value", label: "Value", type: "number" },
    { id: "comment", label: "Comment", type: "text" },
    { id: "agent", label: "Agent", type: "choice" },
    { id: "userId", label: "User", type: "choice" },
    { id: "sessionId", label: "Session", type: "choice" },
    { id: "experiment", label: "Experiment", type: "choice" },
    { id: "variant", label: "Variant", type: "choice" },
    TRACE_ID,
    SPAN_ID,
  ],
  attributesOf: "metadata",
  attributes: [],
  values: {},
};

/** The rows that the filters of a page are about. */
export const FilteredRowsContext = createContext(TRACES);

const ALL_FIELDS = [...FIELDS, ...LOGS.fields, ...SIGNALS.fields];

export function fieldInfo(id: string): FieldInfo {
  const known = ALL_FIELDS.find((field) => field.id === id);
  const label = id.startsWith(ATTRIBUTE) ? id.slice(ATTRIBUTE.length) || "Attribute" : id;
  return known ?? { id, label, type: "choice" };
}
