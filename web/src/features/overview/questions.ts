/** What the overview asks: nine questions, all with the same filter. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { api, type Granularity, unwrap } from "@/lib/api";
import { afterPaint } from "@/lib/idle";
import { autoGranularity, useFilterQuery, useRange } from "@/lib/range";
import { useUrlState } from "@/lib/url";

export type Step = "auto" | Granularity;

export function useStep(): { step: Step; setStep: (step: Step) => void; granularity: Granularity } {
  const [step, setStep] = useUrlState<Step>("step", "auto");
  const range = useRange();
  return { step, setStep, granularity: step === "auto" ? autoGranularity(range) : step };
}

type Filter = ReturnType<typeof useFilterQuery>;
type SeriesFilter = Filter & { granularity: Granularity };

function useAsked<Query, Answer>(
  name: string,
  query: Query,
  ask: (query: Query) => Promise<Answer>,
) {
  return useQuery({
    queryKey: ["analytics", name, query],
    // What is known is painted first: nine requests take as long to send as the page to draw.
    queryFn: () => afterPaint().then(() => ask(query)),
    placeholderData: keepPreviousData,
  });
}

const ask = {
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
  return useAsked("metrics", useFilterQuery(), ask.metrics);
}

export function useOverview() {
  const filter = useFilterQuery();
  const { granularity } = useStep();
  const series = { ...filter, granularity };
  return {
    granularity,
    metrics: useMetrics(),
    requests: useAsked("requests", series, ask.requests),
    percentiles: useAsked("percentiles", series, ask.percentiles),
    distribution: useAsked("distribution", filter, ask.distribution),
    tokens: useAsked("tokens", series, ask.tokens),
    costs: useAsked("costs", series, ask.costs),
    errors: useAsked("errors", filter, ask.errors),
    errorRate: useAsked("errorRate", series, ask.errorRate),
    tools: useAsked("tools", filter, ask.tools),
  };
}

export type Overview = ReturnType<typeof useOverview>;
