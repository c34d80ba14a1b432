/** The filters and the order of the list of traces: in the URL, in links, and in the query they form. */
import type { Schemas } from "./api";
import { type Condition, readConditions, writeConditions } from "./conditions";
import { GLOBAL_KEYS } from "./range";
import { parseSearch, type Search, stringifySearch } from "./url";

const FILTER_KEYS = ["search", "filters"];

export type Sort = Schemas["TraceSort"];
export const SORTS: readonly string[] = ["startTime", "duration", "cost", "tokens"];

interface Dates {
  startDate?: string;
  endDate?: string;
}

/** The query of the trace list. Invalid filters are sent too: the service rejects them with a message. */
export function listQuery(url: Search, dates: Dates) {
  return {
    ...dates,
    agentId: url.agent,
    environment: url.env,
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
  return readConditions(list.filters).some(
    ({ field, op = "eq", value }) =>
      (field === "status" && op === "eq" && value === "error") ||
      (["errorType", "failure"].includes(field) && op !== "ne" && value !== false),
  );
}
