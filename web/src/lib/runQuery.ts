/** Runs a query for the time range of the page. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { Query } from "./analyticsQuery";
import { api, unwrap } from "./api";
import type { Condition } from "./conditions";
import { type Draft, granularityOf, toQuery } from "./queryDraft";
import { rangeQuery, useRange } from "./range";

/** `filters` are conditions of the page beside those of the query. */
export function useResult(draft: Draft, filters: Condition[] = []) {
  const range = useRange();
  const granularity = granularityOf(draft.step, range);
  const query = toQuery(draft, granularity);
  const body = {
    ...query,
    filters: [...(query.filters ?? []), ...filters],
    ...rangeQuery(range),
  };
  const answer = useQuery({
    queryKey: ["analytics", "query", body],
    queryFn: () => unwrap(api.POST("/api/analytics/query", { body })),
    // A result has the shape of its query, so an earlier one is kept only for another range.
    placeholderData: (before, earlier) => {
      const asked = earlier?.queryKey[2] as typeof body | undefined;
      return asked && shapeOf(asked) === shapeOf(body) ? keepPreviousData(before) : undefined;
    },
  });
  return { answer, granularity, query };
}

function shapeOf({ measures, groupBy, granularity }: Query): string {
  return JSON.stringify([measures, groupBy, granularity]);
}
