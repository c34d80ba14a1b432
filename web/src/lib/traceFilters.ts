/** The filters of the lists of traces and sessions: URL parameters and the query they form. */
import type { Schemas } from "./api";
import { type Condition, readConditions, writeConditions } from "./conditions";
import { GLOBAL_KEYS } from "./range";
import { parseSearch, type Search, stringifySearch } from "./url";

interface Parameter {
  key: string;
  label: string;
  unit: string;
  field: string;
  op: "eq" | "gte" | "lte";
}

const equal = (key: string, label: string, field = key): Parameter => ({
  key,
  label,
  unit: "",
  field,
  op: "eq",
});

/** Filters with a URL parameter of their own, which links use; all others are in `filters`. */
export const PARAMETERS: readonly Parameter[] = [
  equal("status", "Status"),
  equal("errorType", "Error"),
  equal("model", "Model"),
  equal("tool", "Tool"),
  equal("provider", "Provider"),
  { key: "minMs", label: "Min. duration", unit: "ms", field: "durationMs", op: "gte" },
  { key: "maxMs", label: "Max. duration", unit: "ms", field: "durationMs", op: "lte" },
  { key: "minCost", label: "Min. cost", unit: "$", field: "cost", op: "gte" },
  equal("session", "Session", "sessionId"),
  equal("user", "User", "userId"),
];

/** The filters of a URL that have a parameter of their own, each as text and as a condition. */
export function parametersOf(url: Search) {
  return PARAMETERS.flatMap(({ key, label, unit, field, op }) => {
    const given = url[key];
    if (!given) return [];
    const value = op === "eq" ? given : number(given);
    const condition: Condition | null = value === undefined ? null : { field, op, value };
    return [{ key, text: `${label}: ${given.replace("_", " ")} ${unit}`.trim(), condition }];
  });
}

export const FILTER_KEYS = ["search", "filters", ...PARAMETERS.map((one) => one.key)];

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

/** The query of the trace list. Unknown values are sent too: the service rejects them with a message. */
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
    filters: url.filters,
    sort: (SORTS.includes(url.sort ?? "") ? url.sort : "startTime") as Sort,
    order: (url.order === "asc" ? "asc" : "desc") as Schemas["Order"],
  };
}

/** The URL of an export of the filtered list. */
export function exportPath(url: Search, dates: Dates, format: string): string {
  const { sort: _sort, order: _order, ...query } = listQuery(url, dates);
  return `/api/analytics/traces/list${stringifySearch({ ...query, format })}`;
}

const pick = (url: Search, keys: readonly string[]): Search =>
  Object.fromEntries(keys.map((key) => [key, url[key]]));

/** The filters and order of a list as one parameter, for the links to its rows. */
export function writeList(url: Search): string | undefined {
  return stringifySearch(pick(url, [...FILTER_KEYS, "sort", "order"])).slice(1) || undefined;
}

/** The query string of links from a list to its rows. */
export function traceSearch(url: Search): string {
  return stringifySearch({ ...pick(url, GLOBAL_KEYS), list: writeList(url) });
}

/** The list from which a trace or a session was opened: its own parameters, and those that all pages share. */
export function readList(url: Search): Search {
  return { ...parseSearch(url.list ?? ""), ...pick(url, GLOBAL_KEYS) };
}

/** The list from which a trace was opened, with one more filter. */
export function narrowedList(url: Search, condition: Condition): Search {
  const list = readList(url);
  const conditions = readConditions(list.filters);
  const isKnown = conditions.some((one) => writeConditions([one]) === writeConditions([condition]));
  return { ...list, filters: writeConditions(isKnown ? conditions : [...conditions, condition]) };
}

/** Whether a list has failed traces only. */
export function isOfFailures(list: Search): boolean {
  const isOfFailure = readConditions(list.filters).some(
    ({ field, op = "eq", value }) =>
      (field === "status" && op === "eq" && value === "error") ||
      (["errorType", "failure"].includes(field) && op !== "ne" && value !== false),
  );
  return list.status === "error" || Boolean(list.errorType) || isOfFailure;
}
