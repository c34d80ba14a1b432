/** Runs a query for the time range of the page. */
import {
  keepPreviousData,
  queryOptions,
  type UseQueryResult,
  useQuery,
} from "@tanstack/react-query";
import { useMemo } from "react";
import type { Query, Result, Row } from "./analyticsQuery";
import { api, unwrap } from "./api";
import type { Condition } from "./conditions";
import { afterPaint } from "./idle";
import { type Draft, granularityOfDraft, toQuery } from "./queryDraft";
import { autoGranularity, earlierRange, rangeQuery, useRange } from "./range";

/** Of a number, whose row is over the whole period, `trend` has the steps and `before` the last one. */
export type PanelResult = Result & { trend?: Row[]; before?: Row | undefined };

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
    ...answerOf(body),
    // An earlier result is kept only for another range: under other words it would be wrong.
    placeholderData: (before, earlier) => {
      const last = earlier?.queryKey[2] as typeof body | undefined;
      return last && subjectOf(last) === subjectOf(body) ? keepPreviousData(before) : undefined;
    },
  });
  const { data } = answer;
  const before = usePrevious(query, hasTrend);
  const shown = useMemo(
    () => (data && hasTrend ? separateTrend(data, before) : data),
    [data, hasTrend, before],
  );
  return { answer: { ...answer, data: shown } as UseQueryResult<PanelResult>, granularity, query };
}

function answerOf(body: Query) {
  return queryOptions({
    queryKey: ["analytics", "query", body],
    // Cached data is painted first: sending ten requests takes as long as drawing the page.
    queryFn: () => afterPaint().then(() => unwrap(api.POST("/api/analytics/query", { body }))),
  });
}

function separateTrend(result: Result, before: Row | undefined): PanelResult {
  const [now] = result.totals;
  const isComparable = Number(before?.[COUNT]) >= Math.max(1, Number(now?.[COUNT]) * LEAST_SHARE);
  return {
    ...result,
    rows: result.totals,
    trend: result.rows,
    before: isComparable ? before : undefined,
  };
}

/** How many rows there are decides whether a period can be compared with. */
function withCount(measures: string[]): string[] {
  return [...new Set([...measures, COUNT])].slice(0, Math.max(measures.length, MOST_MEASURES));
}

const MOST_MEASURES = 20;
/** A period with less than this share of the traffic says nothing about the change. */
const LEAST_SHARE = 1 / 50;

/** The values of a number in the period before. */
function usePrevious(query: Query, isAsked: boolean): Row | undefined {
  const range = useRange();
  const body = {
    ...query,
    measures: withCount(query.measures),
    ...rangeQuery(earlierRange(range)),
  };
  return useQuery({ ...answerOf(body), enabled: isAsked }).data?.rows[0];
}

/** What is measured: everything but the dates, the order and the number of groups. */
function subjectOf({ of, measures, groupBy, filters, granularity }: Query): string {
  return JSON.stringify([of, measures, groupBy, filters, granularity]);
}
