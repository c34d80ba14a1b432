/** Measures by group, from `POST /analytics/query`. */
import { queryOptions, useQuery } from "@tanstack/react-query";
import { api, type Schemas, unwrap } from "./api";
import type { Condition } from "./conditions";
import { rangeQuery, useRange } from "./range";
import type { Search } from "./url";

export type GroupQuery = Omit<Schemas["AnalyticsQuery"], "of" | "groupBy" | "filters" | "limit"> &
  Partial<Pick<Schemas["AnalyticsQuery"], "of" | "groupBy" | "filters" | "limit">>;

/** A row: dimensions are text or null, measures are numbers or null. */
export type Group = Record<string, unknown>;

export function numberOf(row: Group | undefined, measure: string): number | null {
  const value = row?.[measure];
  return typeof value === "number" ? value : null;
}

/** Agent and environment of the top bar as conditions. */
export function pageConditions({ agent, env }: Search): Condition[] {
  return [
    ...(agent ? [{ field: "agent", op: "eq", value: agent } as const] : []),
    ...(env ? [{ field: "environment", op: "eq", value: env } as const] : []),
  ];
}

export function groupsOf(query: GroupQuery) {
  const body: Schemas["AnalyticsQuery"] = {
    of: "traces",
    groupBy: [],
    filters: [],
    limit: 100,
    ...query,
  };
  return queryOptions({
    queryKey: ["groups", body],
    queryFn: () => unwrap(api.POST("/api/analytics/query", { body })),
  });
}

/** Asks for the range of the page. */
export function useGroups(query: GroupQuery) {
  const range = rangeQuery(useRange());
  return useQuery({
    ...groupsOf({ ...query, ...range }),
    // Rows of another grouping lack the names that this one is drawn by.
    placeholderData: (before, earlier) => {
      const last = earlier?.queryKey[1] as GroupQuery | undefined;
      return last && columnsOf(last) === columnsOf(query) ? before : undefined;
    },
  });
}

function columnsOf({ of = "traces", groupBy = [], measures }: GroupQuery): string {
  return JSON.stringify([of, groupBy, measures]);
}
