/** The filters of the list: where they stand in the address, and what they ask of the service. */
import type { Schemas } from "@/lib/api";
import { type Search, stringifySearch } from "@/lib/url";

/** Filters that are chosen from the values that occur. */
export const CHOICES = [
  { key: "status", label: "Status" },
  { key: "errorType", label: "Error" },
  { key: "model", label: "Model" },
  { key: "tool", label: "Tool" },
  { key: "provider", label: "Provider" },
] as const;

/** Filters that are typed. */
export const TYPED = [
  { key: "minMs", label: "At least", unit: "ms", type: "number" },
  { key: "maxMs", label: "At most", unit: "ms", type: "number" },
  { key: "minCost", label: "Cost at least", unit: "$", type: "number" },
  { key: "session", label: "Session", unit: "", type: "text" },
  { key: "user", label: "User", unit: "", type: "text" },
] as const;

export const FILTER_KEYS = [
  "search",
  ...CHOICES.map((one) => one.key),
  ...TYPED.map((one) => one.key),
];

export type Sort = Schemas["TraceSort"];
export const SORTS: readonly string[] = ["startTime", "duration", "cost", "tokens"];

function number(text: string | undefined): number | undefined {
  const value = Number(text);
  return text && Number.isFinite(value) && value >= 0 ? value : undefined;
}

interface Dates {
  startDate?: string;
  endDate?: string;
}

/** What the list asks for. A value that the service does not know would be refused, so it is sent. */
export function listQuery(url: Search, dates: Dates) {
  return {
    ...dates,
    agentId: url.agent,
    environment: url.env,
    status: url.status as Schemas["TraceStatus"] | undefined,
    errorType: url.errorType as Schemas["ErrorType"] | undefined,
    model: url.model,
    tool: url.tool,
    provider: url.provider,
    sessionId: url.session,
    userId: url.user,
    minDuration: number(url.minMs),
    maxDuration: number(url.maxMs),
    minCost: number(url.minCost),
    search: url.search,
    sort: (SORTS.includes(url.sort ?? "") ? url.sort : "startTime") as Sort,
    order: (url.order === "asc" ? "asc" : "desc") as Schemas["Order"],
  };
}

/** The address of a file with all that the list shows, by its pages. */
export function exportPath(url: Search, dates: Dates, format: string): string {
  const { sort: _sort, order: _order, ...query } = listQuery(url, dates);
  return `/api/analytics/traces/list${stringifySearch({ ...query, format })}`;
}
