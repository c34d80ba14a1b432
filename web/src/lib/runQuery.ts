/** Runs a query for the time range of the page. */
import { keepPreviousData, type UseQueryResult, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Query, Result, Row } from "./analyticsQuery";
import { api, unwrap } from "./api";
import type { Condition } from "./conditions";
import { type Draft, granularityOfDraft, toQuery } from "./queryDraft";
import { autoGranularity, rangeBefore, rangeQuery, useRange } from "./range";

/** `trend` has the steps of a number, whose row is over the whole period. */
export type PanelResult = Result & { trend?: Row[] };

const COUNT = "count";
const NO_FILTERS: Condition[] = [];

/** `filters` are conditions of the page beside those of the query. */
export function useResult(draft: Draft, filters = NO_FILTERS) {
  const range = useRange();
  const granularity = granularityOfDraft(draft, range);
  const query = useMemo(() => {
    const own = toQuery(draft, granularity);
    return { ...own, filters: [...(own.filters ?? []), ...filters] };
  }, [draft, granularity, filters]);
  const hasTrend = draft.chart === "number" && draft.groupBy.length === 0;
  const asked = hasTrend
    ? { ...query, measures: withCount(query.measures), granularity: autoGranularity(range) }
    : query;
  const body = { ...asked, ...rangeQuery(range) };
  const answer = useQuery({
    queryKey: ["analytics", "query", body],
    queryFn: () => unwrap(api.POST("/api/analytics/query", { body })),
    // An earlier result is kept only for another range: under other words it would be wrong.
    placeholderData: (before, earlier) => {
      const last = earlier?.queryKey[2] as typeof body | undefined;
      return last && subjectOf(last) === subjectOf(body) ? keepPreviousData(before) : undefined;
    },
  });
  const { data } = answer;
  const shown = useMemo(() => (data && hasTrend ? separateTrend(data) : data), [data, hasTrend]);
  return { answer: { ...answer, data: shown } as UseQueryResult<PanelResult>, granularity, query };
}

function separateTrend(result: Result): PanelResult {
  return { ...result, rows: result.totals, trend: result.rows };
}

/** How many rows there are decides whether a period can be compared with. */
function withCount(measures: string[]): string[] {
  return [...new Set([...measures, COUNT])].slice(0, Math.max(measures.length, MOST_MEASURES));
}

const MOST_MEASURES = 20;
/** A period with less than this share of the traffic says nothing about the change. */
const LEAST_SHARE = 1 / 50;

/** The values of a number in the period before, unless it had too little traffic to compare with. */
export function usePrevious(query: Query, { rows, trend }: PanelResult): Row | undefined {
  const range = useRange();
  const now = rows[0]?.[COUNT];
  const measures = withCount(query.measures);
  const body = { ...query, measures, ...rangeQuery(rangeBefore(range)) };
  const { data } = useQuery({
    queryKey: ["analytics", "query", body],
    queryFn: () => unwrap(api.POST("/api/analytics/query", { body })),
    enabled: trend !== undefined,
  });
  const before = data?.rows[0];
  const then = Number(before?.[COUNT]);
  return then > 0 && then >= Number(now) * LEAST_SHARE ? before : undefined;
}

/** What is measured: everything but the dates, the order and the number of groups. */
function subjectOf({ of, measures, groupBy, filters, granularity }: Query): string {
  return JSON.stringify([of, measures, groupBy, filters, granularity]);
}
