/** The queries of the overview, all with the same filter. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { api, type Granularity, unwrap } from "@/lib/api";
import { afterPaint } from "@/lib/idle";
import { granularityOf, STEPS } from "@/lib/queryDraft";
import { autoGranularity, useFilterQuery, useRange } from "@/lib/range";
import { useUrlState } from "@/lib/url";

export type Step = "auto" | Granularity;

/** The interval of the charts, and those that the range allows. */
export function useStep() {
  const [step, setStep] = useUrlState<Step>("step", "auto");
  const range = useRange();
  const granularity = granularityOf(step, range) ?? autoGranularity(range);
  const steps = STEPS.filter(({ value }) => granularityOf(value, range) === value);
  return { step, setStep, granularity, steps };
}

type Filter = ReturnType<typeof useFilterQuery>;
type SeriesFilter = Filter & { granularity: Granularity };

function useAnalytics<Query, Answer>(
  name: string,
  query: Query,
  load: (query: Query) => Promise<Answer>,
) {
  return useQuery({
    queryKey: ["analytics", name, query],
    // Cached data is painted first: sending eight requests takes as long as drawing the page.
    queryFn: () => afterPaint().then(() => load(query)),
    placeholderData: keepPreviousData,
  });
}

const requests = {
  metrics: (query: Filter) =>
    unwrap(
      api.GET("/api/analytics/metrics", { params: { query: { ...query, compare: "previous" } } }),
    ),
  requests: (query: SeriesFilter) =>
    unwrap(api.GET("/api/analytics/traces/requests-over-time", { params: { query } })),
  percentiles: (query: SeriesFilter) =>
    unwrap(api.GET("/api/analytics/traces/latency-percentiles", { params: { query } })),
  distribution: (query: Filter) =>
    unwrap(api.GET("/api/analytics/traces/latency-distribution", { params: { query } })),
  tokens: (query: SeriesFilter) =>
    unwrap(api.GET("/api/analytics/traces/token-usage", { params: { query } })),
  costs: (query: SeriesFilter) => unwrap(api.GET("/api/analytics/costs", { params: { query } })),
  errors: (query: Filter) =>
    unwrap(api.GET("/api/analytics/traces/errors-by-type", { params: { query } })),
  errorRate: (query: SeriesFilter) =>
    unwrap(api.GET("/api/analytics/traces/error-rate", { params: { query } })),
  tools: (query: Filter) =>
    unwrap(api.GET("/api/analytics/traces/tool-usage", { params: { query } })),
};

export function useMetrics() {
  return useAnalytics("metrics", useFilterQuery(), requests.metrics);
}

/** For the last panel of the page. */
export function useTools() {
  return useAnalytics("tools", useFilterQuery(), requests.tools);
}

export function useOverview() {
  const filter = useFilterQuery();
  const { granularity } = useStep();
  const series = { ...filter, granularity };
  return {
    granularity,
    metrics: useMetrics(),
    requests: useAnalytics("requests", series, requests.requests),
    percentiles: useAnalytics("percentiles", series, requests.percentiles),
    distribution: useAnalytics("distribution", filter, requests.distribution),
    tokens: useAnalytics("tokens", series, requests.tokens),
    costs: useAnalytics("costs", series, requests.costs),
    errors: useAnalytics("errors", filter, requests.errors),
    errorRate: useAnalytics("errorRate", series, requests.errorRate),
  };
}

export type Overview = ReturnType<typeof useOverview>;
